"""Arguments are checked before anything else happens, in the order of the signature."""

import pytest

from model import initial_world, step
from model.actions import Call, Close
from model.arguments import Unfit, checked
from model.outcomes import Declined, Refused
from model.tests.worlds import ATTEMPT, cid, commit, force, ok, opened, refused, reserve, rid
from model.texts import is_text
from model.values import JSON

BAD_IDS: list[JSON] = [
    None, True, 7, 1.5, "", "x", rid(1).upper(), "{" + rid(1) + "}", rid(1) + "\n", " " + rid(1), rid(1)[:-1],
    rid(1).replace("-", ""), "\ud800" * 36, [rid(1)], {"id": rid(1)}, "g" + rid(1)[1:],
]  # fmt: skip
BAD_COUNTS: list[JSON] = [None, True, False, 0, -1, 1.0, "1", 2**53, [1], {}]
BAD_TTLS: list[JSON] = [*BAD_COUNTS[1:], 86_400_001]

RESERVE = dict(reserve().arguments)
COMMIT = dict(commit().arguments)
FORCE = dict(force().arguments)


@pytest.mark.parametrize("bad", BAD_IDS, ids=repr)
@pytest.mark.parametrize(
    ("operation", "good", "name"),
    [
        ("reserve", RESERVE, "projectId"),
        ("reserve", RESERVE, "projectControlDomainId"),
        ("reserve", RESERVE, "runId"),
        ("commit", COMMIT, "id"),
        ("renew", {}, "id"),
        ("markOrphanSuspect", {}, "id"),
        ("normalRelease", {}, "id"),
        ("forceRelease", FORCE, "id"),
        ("forceRelease", FORCE, "commandId"),
        ("setMaxActiveRuns", {"maxActiveRuns": 1}, "commandId"),
        ("readReservation", {}, "id"),
        ("readCommand", {}, "id"),
        ("dispatch", {}, "id"),
    ],
)
def test_an_id_is_a_canonical_lower_case_uuid(
    operation: str, good: dict[str, JSON], name: str, bad: JSON
) -> None:
    assert checked(operation, {**good, name: bad}) == Unfit("COMMAND_FAILED")


@pytest.mark.parametrize("bad", BAD_IDS[1:], ids=repr)
def test_optional_ids_are_checked_where_they_are_given(bad: JSON) -> None:
    assert checked("reserve", {**RESERVE, "reservationId": bad}) == Unfit("COMMAND_FAILED")
    assert checked("commit", {**COMMIT, "attemptId": bad}) == Unfit("COMMAND_FAILED")


@pytest.mark.parametrize("bad", BAD_COUNTS, ids=repr)
def test_a_count_is_a_positive_integer_in_range(bad: JSON) -> None:
    assert checked("commit", {**COMMIT, "projectAdmitCommitSeq": bad}) == Unfit("COMMAND_FAILED")
    assert checked("setMaxActiveRuns", {"commandId": cid(1), "maxActiveRuns": bad}) == Unfit("COMMAND_FAILED")


@pytest.mark.parametrize("bad", BAD_TTLS, ids=repr)
def test_a_ttl_is_from_a_millisecond_to_a_day(bad: JSON) -> None:
    assert checked("reserve", {**RESERVE, "ttlMs": bad}) == Unfit("COMMAND_FAILED")
    assert checked("renew", {"id": rid(1), "ttlMs": bad}) == Unfit("COMMAND_FAILED")


def test_the_bounds_themselves_are_allowed() -> None:
    assert not isinstance(checked("reserve", {**RESERVE, "ttlMs": 1}), Unfit)
    assert not isinstance(checked("reserve", {**RESERVE, "ttlMs": 86_400_000}), Unfit)
    assert not isinstance(checked("commit", {**COMMIT, "projectAdmitCommitSeq": 2**53 - 1}), Unfit)


def test_reserve_without_a_ttl_is_refused() -> None:
    assert checked("reserve", {**RESERVE, "ttlMs": None}) == Unfit("COMMAND_FAILED")


@pytest.mark.parametrize("bad", ["", "x" * 4097, "a\udfffb", 1, True, [], {}], ids=lambda bad: repr(bad)[:12])
def test_a_handle_is_a_short_sound_text(bad: JSON) -> None:
    assert checked("commit", {**COMMIT, "providerJobHandle": bad}) == Unfit("COMMAND_FAILED")


def test_a_string_may_have_4096_code_points_whatever_they_take_in_bytes() -> None:
    assert is_text("😀" * 4096)
    assert not is_text("😀" * 4097)


def test_null_is_an_optional_argument_that_is_absent() -> None:
    assert checked("commit", {**COMMIT, "attemptId": None, "providerJobHandle": None}) == (
        rid(1), 1, None, None,
    )  # fmt: skip
    assert checked("renew", {"id": rid(1), "ttlMs": None}) == (rid(1), None)
    assert checked("reserve", {**RESERVE, "reservationId": None}) != Unfit("COMMAND_FAILED")


def test_values_come_in_the_order_of_the_signature() -> None:
    given: dict[str, JSON] = {
        **dict(reversed(COMMIT.items())),
        "providerJobHandle": "j",
        "attemptId": ATTEMPT,
    }
    assert checked("commit", given) == (rid(1), 1, ATTEMPT, "j")


@pytest.mark.parametrize(
    ("operation", "good"),
    [("reserve", RESERVE), ("commit", COMMIT), ("forceRelease", FORCE), ("snapshot", {})],
)
def test_an_unknown_argument_is_refused_before_all_else(operation: str, good: dict[str, JSON]) -> None:
    assert checked(operation, {**good, "runid": 1}) == Unfit("COMMAND_FAILED")
    if operation == "forceRelease":
        assert checked(operation, {**good, "reason": " ", "more": 1}) == Unfit("COMMAND_FAILED")


@pytest.mark.parametrize("name", ["initialize", "close", "Reserve", "", "withDispatch"])
def test_an_unknown_operation_is_refused(name: str) -> None:
    refused(opened(), Call("h", "alice", name), "COMMAND_FAILED")


@pytest.mark.parametrize("acknowledgement", [None, False, 1, "true", [True]], ids=repr)
def test_a_risk_is_acknowledged_exactly_or_not_at_all(acknowledgement: JSON) -> None:
    assert checked("forceRelease", {**FORCE, "riskAcknowledgement": acknowledgement}) == Unfit(
        "POLICY_DENIED"
    )


@pytest.mark.parametrize(
    "reason", [None, 1, True, "", " \t\n", " " * 5000, ["lost"]], ids=lambda r: repr(r)[:9]
)
def test_a_blank_reason_is_denied(reason: JSON) -> None:
    assert checked("forceRelease", {**FORCE, "reason": reason}) == Unfit("POLICY_DENIED")


@pytest.mark.parametrize("reason", ["x" * 4097, "\ud800"], ids=["long", "surrogate"])
def test_the_length_rule_comes_after_the_policy(reason: str) -> None:
    assert checked("forceRelease", {**FORCE, "reason": reason}) == Unfit("COMMAND_FAILED")
    denied = checked("forceRelease", {**FORCE, "reason": reason, "riskAcknowledgement": False})
    assert denied == Unfit("POLICY_DENIED")


@pytest.mark.parametrize("name", ["id", "commandId"])
def test_ids_come_before_the_policy(name: str) -> None:
    bad: dict[str, JSON] = {**FORCE, name: "x", "riskAcknowledgement": False, "reason": " "}
    assert checked("forceRelease", bad) == Unfit("COMMAND_FAILED")


def test_arguments_are_checked_before_the_store_is_asked_whether_it_is_open() -> None:
    world = ok(opened(), Close("h"))
    refused(world, Call("h", "alice", "readReservation", {"id": "x"}), "COMMAND_FAILED")
    refused(world, Call("h", "alice", "readReservation", {"id": rid(1)}), "DURABILITY_FAILED")


def test_an_id_that_the_store_would_make_up_is_not_for_the_model() -> None:
    arguments = {name: each for name, each in RESERVE.items() if name != "reservationId"}
    _, outcome = step(opened(), Call("h", "alice", "reserve", arguments))
    assert isinstance(outcome, Declined)
    _, outcome = step(opened(), Call("h", "alice", "reserve", {**arguments, "ttlMs": 0}))
    assert outcome == Refused("COMMAND_FAILED")


def test_nobody_can_call_a_host_that_never_was() -> None:
    _, outcome = step(initial_world(), Call("h", "alice", "snapshot"))
    assert isinstance(outcome, Declined)
