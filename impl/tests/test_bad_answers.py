"""The authority's answers are nonsense, or no answer comes at all.

Each callback is made to answer each of a table of wrong values, at each of its calls in a transaction: the
code is the specification's for that callback, the files stay byte-identical, and the next call works.
Exceptions, copies and calls from inside callbacks are in `test_bad_callbacks.py`.
"""

from collections import UserDict
from collections.abc import Callable, Iterator
from types import MappingProxyType
from typing import Any

import pytest

from impl.tests.answers import NO_COUNT, NO_FLAG, named, variations, without
from impl.tests.authority import answers
from impl.tests.derive_store import uuid
from impl.tests.nonsense import NO_TEXT
from impl.tests.workbench import Bench, Caller, refusal, untouched, workbench

REVOKED, BINDING, RECONCILE = "AUTHORITY_REVOKED", "ADMISSION_BINDING_CONFLICT", "RECONCILE_REQUIRED"


@pytest.fixture
def bench() -> Iterator[Bench]:
    with workbench() as made:
        yield made


@pytest.fixture
def call(bench: Bench) -> Caller:
    """On a store with row 1 reserved, and row 2 committed and finished."""
    made = Caller(bench.open(), bench)
    bench.authority.admit(made.reserve(1)["reservation"], sequence=7, version=3)
    bench.authority.finish(made.admitted(2, version=3)["reservation"])
    return made


def insist(
    bench: Bench, callback: str, nths: list[int], wrongs: Iterator[Any], call: Callable[[], Any], *codes: str
) -> int:
    """Each wrong answer at each of these calls is refused with a code, and changes nothing."""
    count = 0
    with untouched(bench.directory):
        for wrong in wrongs:
            for nth in nths:
                bench.authority.interfere(callback, nth, answers(wrong))
                try:
                    refusal(call, *codes)
                except Exception as error:
                    raise AssertionError(f"{callback} {nth}: {wrong!r:.200}: {error!r}") from error
                count += 1
    return count


def test_a_lease_of_any_other_shape_or_content_is_refused(bench: Bench, call: Caller) -> None:
    good = dict(bench.authority.lease)
    now = bench.clock.now
    wrong: dict[str, list[Any]] = {
        "holderId": [*NO_TEXT, "host-2", "HOST-1", "host-1 ", " "],
        "fencingEpoch": [*NO_COUNT, 0, 1, 3, 2.0, "2"],
        "endpoint": NO_TEXT,
        "expiresAt": [*NO_COUNT, 0, now, now - 1, float(now + 10**6)],
    }
    extra: list[Any] = [{**without(good, "endpoint"), "Endpoint": "x"}, *(without(good, key) for key in good)]
    extra += [{**good, key: 1} for key in ("extra", "", "holder_id", "ExpiresAt", 1, None)]
    count = insist(
        bench,
        "read_lease",
        [1, 2],
        iter([*variations(good, wrong), *extra]),
        lambda: call.reserve(3),
        REVOKED,
    )
    assert count > 200
    with untouched(bench.directory):
        for wrong_lease in [*variations(good, wrong), *extra]:
            bench.authority.constantly["read_lease"] = answers(wrong_lease)
            refusal(lambda: call.reserve(3), REVOKED)
    bench.authority.constantly.clear()
    assert call.reserve(3)["reservation"]["state"] == "reserved"


def test_a_lease_is_good_up_to_its_last_millisecond(bench: Bench, call: Caller) -> None:
    bench.authority.lease["expiresAt"] = bench.clock.now + 1
    call.reserve(3)
    bench.clock.advance(1)
    with untouched(bench.directory):
        refusal(lambda: call("snapshot"), REVOKED)


def test_an_identity_of_any_other_shape_is_refused(bench: Bench, call: Caller) -> None:
    good = bench.authority.people["alice"]
    wrong = {
        "principal": [*NO_TEXT, " ", "\t\n", "\u00a0"],
        "ownerId": [*NO_TEXT, " ", "\t\n", "\u00a0"],
        "operator": NO_FLAG,
    }
    count = insist(bench, "authorize", [1, 2], variations(good, wrong), lambda: call.reserve(3), REVOKED)
    assert count > 130
    with untouched(bench.directory):
        for wrong_identity in variations(good, wrong):
            bench.authority.constantly["authorize"] = answers(wrong_identity)  # so no two answers differ
            refusal(lambda: call.reserve(3), REVOKED)


def test_an_identity_that_differs_the_second_time_is_refused(bench: Bench, call: Caller) -> None:
    good = bench.authority.people["alice"]
    others = [
        {**good, key: value}
        for key, value in (("principal", "p-bob"), ("ownerId", "o-bob"), ("operator", True))
    ]
    others += [
        bench.authority.people["root"],
        {**good, "principal": "p-alice "},
        {**good, "principal": "P-ALICE"},
    ]
    for each in (
        lambda: call.reserve(3),
        lambda: call("snapshot"),
        lambda: call("readReservation", id=uuid(1)),
    ):
        insist(bench, "authorize", [2], iter(others), each, REVOKED)


def test_extra_keys_in_an_identity_are_allowed(bench: Bench, call: Caller) -> None:
    rich = {**bench.authority.people["alice"], "extra": object(), "operators": [1], "status": "x"}
    bench.authority.interfere("authorize", 1, answers(rich))
    assert call.reserve(3)["principal"] == "p-alice"


@pytest.mark.parametrize("kind", [MappingProxyType, UserDict])
def test_any_mapping_is_an_answer(bench: Bench, call: Caller, kind: Callable[[Any], Any]) -> None:
    for callback, nth, answer in (
        ("read_lease", 1, bench.authority.lease),
        ("authorize", 1, bench.authority.people["alice"]),
        ("read_admission", 1, bench.authority.admissions[uuid(1)]),
    ):
        bench.authority.interfere(callback, nth, answers(kind(answer)))
    assert call.commit(1, sequence=7)["reservation"]["state"] == "committed"
    bench.authority.interfere("read_release", 1, answers(kind(bench.authority.releases[uuid(2)])))
    assert call("normalRelease", id=uuid(2))["reservation"]["state"] == "released"


def test_a_commit_needs_a_proof_of_exactly_this_admission(bench: Bench, call: Caller) -> None:
    good = bench.authority.admissions[uuid(1)]
    wrong = {
        **named(),
        "projectAdmitCommitSeq": [*NO_COUNT, 0, 6, 8],
        "runVersion": NO_COUNT,
    }
    statuses = [{**good, "status": value} for value in ("not-admitted", "admitted", "completed", None, "", 0)]
    absence = {**without(good, "projectAdmitCommitSeq"), "status": "not-admitted"}
    abandoned = {**absence, "status": "abandoned", "abandonmentCommitSeq": 7}
    more = [*statuses, absence, abandoned, {**abandoned, "projectAdmitCommitSeq": 7}]
    count = insist(
        bench, "read_admission", [1], iter([*variations(good, wrong), *more]),
        lambda: call.commit(1, sequence=7), BINDING,
    )  # fmt: skip
    assert count > 130
    bench.authority.interfere("read_admission", 1, answers({**good, "extra": [1], "runVersion": 0}))
    assert call.commit(1, sequence=7)["admitRunVersion"] == 0


def test_the_proof_for_a_commit_must_name_the_sequence_of_the_request(bench: Bench, call: Caller) -> None:
    with untouched(bench.directory):
        for sequence in (1, 6, 8, 2**53 - 1):
            refusal(lambda s=sequence: call.commit(1, sequence=s), BINDING)


def test_a_normal_release_needs_a_proof_of_quiescence(bench: Bench, call: Caller) -> None:
    good = bench.authority.releases[uuid(2)]
    flags = {
        "providerNoLiveProcessTree": [*NO_FLAG, False],
        "noAmbiguousJobs": [*NO_FLAG, False],
        "reconcileTimeoutOnly": [*NO_FLAG, True],
    }
    wrong = {
        **named(),
        "projectAdmitCommitSeq": [*NO_COUNT, 0, 2],
        "runVersion": [*NO_COUNT, 0, 2],
        "proofId": [*NO_TEXT, " ", "\n"],
        "status": [
            *NO_TEXT,
            "running",
            "Completed",
            "completed ",
            "succeeded",
            "paused",
            "parked",
            "terminal",
        ],
        **flags,
    }
    stages = [{**good, "stage": value} for value in NO_TEXT if value is not None]
    count = insist(
        bench, "read_release", [1], iter([*variations(good, wrong), *stages]),
        lambda: call("normalRelease", id=uuid(2)), RECONCILE,
    )  # fmt: skip
    assert count > 200
    bench.authority.releases[uuid(2)] = {**good, "runVersion": 4, "extra": None}
    assert call("normalRelease", id=uuid(2))["releaseProofId"] == "proof-1"


def test_a_parked_release_needs_its_stage_and_readmission(bench: Bench, call: Caller) -> None:
    good = {
        **bench.authority.releases[uuid(2)],
        "status": "paused",
        "stage": "parked",
        "requiresReadmission": True,
    }
    wrong = {
        "status": [*NO_TEXT, "running", "parked", "Paused", "terminal"],
        "stage": [*NO_TEXT, "Parked", "terminal", "running"],
        "requiresReadmission": [*NO_FLAG, False],
    }
    insist(
        bench,
        "read_release",
        [1],
        variations(good, wrong),
        lambda: call("normalRelease", id=uuid(2)),
        RECONCILE,
    )
    bench.authority.releases[uuid(2)] = good
    assert call("normalRelease", id=uuid(2))["reservation"]["state"] == "released"
