"""Values whose very class claims to be another: equal to `str`, to `int`, to `bool`.

A kind is asked for by identity, never by comparing classes: a class may have a metaclass that says yes to
everything. Each value here is right in all but its class, and is refused all the same, by operations, by
opening, and wherever the authority answers it.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import impl
from impl.coordinator import wall_clock_ms
from impl.tests.authority import Arbitrating, answers
from impl.tests.derive_store import uuid
from impl.tests.nonsense import OPERATIONS, VALID, Attack, Claiming, Number, Text, claiming
from impl.tests.workbench import Bench, Caller, arbitrating, refusal, untouched

BINDING, REVOKED, RECONCILE = "ADMISSION_BINDING_CONFLICT", "AUTHORITY_REVOKED", "RECONCILE_REQUIRED"


class Time(float, metaclass=Claiming):
    __slots__ = ()


@pytest.fixture
def bench() -> Iterator[Bench]:
    with arbitrating() as made:
        yield made


@pytest.fixture
def call(bench: Bench) -> Caller:
    return Caller(bench.open(), bench)


def test_such_values_are_what_they_are_meant_to_be() -> None:
    for value in ("x", 7, True):
        assert claiming(value) == value
        assert type(claiming(value)) == type(value)  # noqa: E721 -- that this is so is the point
        assert type(claiming(value)) is not type(value)


def test_an_argument_of_such_a_class_is_refused(bench: Bench, call: Caller) -> None:
    call.reserve(1)
    attack = Attack(bench, call.store)
    for operation, wanted in OPERATIONS.items():
        for name, (kind, valid) in wanted.items():
            policy = kind == "policy" or name == "reason"
            code = "POLICY_DENIED" if policy else "COMMAND_FAILED"
            attack.vary(operation, name, claiming(valid), code)
            attack(operation, {**VALID[operation], Text(f"{name} "): valid}, "COMMAND_FAILED")
            attack(operation, {Text(key): value for key, value in VALID[operation].items()}, "COMMAND_FAILED")
        attack(Text(operation), VALID[operation], "COMMAND_FAILED")
    attack.finish()
    assert attack.count > 40


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("initial_max_active_runs", Number(4), "COMMAND_FAILED"),
        ("lock_timeout_s", Number(30), "COMMAND_FAILED"),
        ("lock_timeout_s", Time(30), "COMMAND_FAILED"),
        ("epoch", Number(2), REVOKED),
        ("holder_id", Text("host-1"), REVOKED),
    ],
)
def test_nothing_is_opened_with_such_a_value(bench: Bench, name: str, value: Any, code: str) -> None:
    refusal(lambda: bench.open(**{name: value}), code)
    refusal(lambda: bench.open(Text(bench.directory)), "COMMAND_FAILED")
    assert not bench.directory.exists()


def each_claiming(good: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A good answer with one of its values of such a class."""
    for name, value in good.items():
        yield {**good, name: claiming(value)}


def test_an_answer_that_holds_such_a_value_proves_nothing(bench: Bench, call: Caller) -> None:
    release = bench.authority.finish(call.admitted(2)["reservation"], "paused", stage="parked")
    release["requiresReadmission"] = True
    reserved = call.reserve(1, ttlMs=10)["reservation"]
    admission = bench.authority.admit(reserved)
    needed = [name for name in release if name != "requiresReadmission"]
    cases: list[tuple[str, dict[str, Any], str, Callable[[], object]]] = [
        ("read_lease", bench.authority.lease, REVOKED, lambda: call("snapshot")),
        ("authorize", bench.authority.people["alice"], REVOKED, lambda: call("snapshot")),
        ("read_admission", admission, BINDING, lambda: call.commit(1)),
        ("read_release", {name: release[name] for name in needed}, RECONCILE, lambda: release_of_2(call)),
    ]
    with untouched(bench.directory):
        for callback, good, code, use in cases:
            for answer in each_claiming(good):
                bench.authority.interfere(callback, 1, answers(answer))
                refusal(use, code)
        bench.authority.interfere("read_release", 1, answers({**release, "requiresReadmission": Number(1)}))
        refusal(lambda: release_of_2(call), RECONCILE)
    assert release_of_2(call)["reservation"]["state"] == "released"


def release_of_2(call: Caller) -> Any:
    return call("normalRelease", id=uuid(2))


def test_a_sweep_neither_commits_nor_expires_on_such_an_answer(bench: Bench, call: Caller) -> None:
    assert isinstance(bench.authority, Arbitrating)
    reserved = call.reserve(1, ttlMs=10)["reservation"]
    proofs = [bench.authority.admit(reserved), bench.authority.abandon(reserved)]
    bench.authority.admissions.clear()
    bench.clock.advance(10)
    with untouched(bench.directory):
        for answer in (answer for proof in proofs for answer in each_claiming(proof)):
            bench.authority.interfere("read_admission", 1, answers(None))
            bench.authority.interfere("abandon_admission_if_absent", 1, answers(answer))
            assert call("snapshot")["capacity"]["reserved"] == 1, answer


def test_a_clock_that_shows_such_a_time_is_refused(bench: Bench, call: Caller) -> None:
    bench.clock.now = Number(bench.clock.now)
    with untouched(bench.directory):
        refusal(lambda: call("snapshot"), REVOKED)


def test_without_a_clock_of_ones_own_the_wall_clock_counts_in_whole_milliseconds(bench: Bench) -> None:
    bench.authority.lease["expiresAt"] = 2**53 - 1
    before = wall_clock_ms()
    store = impl.open_coordinator(
        bench.directory, initial_max_active_runs=1, epoch=2, holder_id="host-1", authority=bench.authority
    )
    bench.opened.append(store)
    written = bench.read_state()["lastWallTime"]
    assert before <= written <= wall_clock_ms()
    assert type(before) is type(written) is int
    assert 1_700_000_000_000 < written < 10_000_000_000_000


def test_an_argument_that_cannot_even_be_shown_is_refused_by_its_code(bench: Bench, call: Caller) -> None:
    class Hidden(str, metaclass=Claiming):
        __slots__ = ()

        def __repr__(self) -> str:
            raise RuntimeError("not to be shown")

    with untouched(bench.directory):
        error = refusal(lambda: call("readReservation", id=Hidden("x")), "COMMAND_FAILED")
    assert "a value of type Hidden" in error.message
