"""The authority's callbacks misbehave: they raise, call back, close the store, or keep what they were given.

A coordinator error passes unchanged; any other exception is DURABILITY_FAILED with side effects unknown;
inside a sweep both only skip the row. What is no `Exception` (an interrupt) goes through as it is. In all
cases the mutex is free afterwards and the files are as they were.
"""

import copy
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import impl
from impl.tests.answers import OTHERS
from impl.tests.authority import answers, meanwhile, raises
from impl.tests.derive_store import uuid
from impl.tests.workbench import (
    CODES,
    Bench,
    Caller,
    arbitrating,
    at_once,
    lock_is_free,
    refusal,
    reserving,
    untouched,
    workbench,
)

DURABILITY = "DURABILITY_FAILED"


@pytest.fixture
def bench() -> Iterator[Bench]:
    with arbitrating() as made:
        yield made


@pytest.fixture
def call(bench: Bench) -> Caller:
    """On a store with row 1 reserved and admitted, and row 2 committed and finished."""
    made = Caller(bench.open(), bench)
    bench.authority.admit(made.reserve(1)["reservation"], sequence=7, version=3)
    bench.authority.finish(made.admitted(2, version=3)["reservation"])
    return made


Step = tuple[str, int, Callable[[Caller], Any]]


def prepared(_row: Any) -> Callable[[], str]:
    return lambda: "launched"


COMMITTING: Callable[[Caller], Any] = lambda call: call.commit(1, sequence=7)  # noqa: E731 -- one line of a table
STEPS: list[Step] = [
    ("read_lease", 1, COMMITTING),
    ("authorize", 1, COMMITTING),
    ("read_admission", 1, COMMITTING),
    ("authorize", 2, COMMITTING),
    ("read_lease", 2, COMMITTING),
    ("read_release", 1, lambda call: call("normalRelease", id=uuid(2))),
    ("authorize", 2, lambda call: call("dispatch", id=uuid(2), prepare=prepared)),
    ("read_lease", 2, lambda call: call("snapshot")),
    ("authorize", 1, lambda call: call("readCommand", id=uuid(1, 9))),
]


def test_a_coordinator_error_of_a_callback_passes_unchanged(bench: Bench, call: Caller) -> None:
    with untouched(bench.directory):
        for callback, nth, operation in STEPS:
            for code in sorted(CODES):
                for effects in ("none", "unknown"):
                    error = impl.CoordinatorError(code, f"said {callback}", side_effects=effects)  # type: ignore[arg-type]  # two literals
                    bench.authority.interfere(callback, nth, raises(error))
                    caught = refusal(lambda o=operation: o(call), code, side_effects=effects)
                    assert caught is error
                    assert caught.message == f"said {callback}"
        lock_is_free(bench)


def test_any_other_exception_of_a_callback_leaves_its_effects_unknown(bench: Bench, call: Caller) -> None:
    with untouched(bench.directory):
        for callback, nth, operation in STEPS:
            for error in OTHERS:
                bench.authority.interfere(callback, nth, raises(error))
                refusal(lambda o=operation: o(call), DURABILITY, side_effects="unknown")
        lock_is_free(bench)


class Unusual(BaseException):
    """No `Exception`: like an interrupt."""


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit, Unusual])
def test_an_interrupt_goes_through_and_frees_the_mutex(
    bench: Bench, call: Caller, kind: type[BaseException]
) -> None:
    with untouched(bench.directory):
        for callback, nth, operation in STEPS:
            bench.authority.interfere(callback, nth, raises(kind()))
            with pytest.raises(kind):
                operation(call)
            lock_is_free(bench)
    assert COMMITTING(call)["reservation"]["state"] == "committed"


def test_calling_the_store_from_its_own_callback_is_refused_at_once(bench: Bench, call: Caller) -> None:
    def reenter(_truth: Any) -> Any:
        return call.store.call("snapshot", {}, "alice")

    with untouched(bench.directory), at_once():
        for callback, nth, operation in STEPS:
            bench.authority.interfere(callback, nth, reenter)
            refusal(lambda o=operation: o(call), DURABILITY)


def test_a_callback_that_swallows_the_refused_call_goes_on(bench: Bench, call: Caller) -> None:
    caught: list[impl.CoordinatorError] = []

    def reenter() -> None:
        for operation, arguments in (
            ("snapshot", {}),
            ("reserve", reserving(9)),
            ("dispatch", {"id": uuid(2)}),
        ):
            prepare = prepared if operation == "dispatch" else None
            wanted = refusal(
                lambda o=operation, a=arguments, p=prepare: call.store.call(o, a, "root", prepare=p),
                DURABILITY,
            )
            caught.append(wanted)

    for callback, nth, _ in STEPS[:5]:
        bench.authority.interfere(callback, nth, meanwhile(reenter))
    assert COMMITTING(call)["reservation"]["state"] == "committed"
    assert len(caught) == 15


def test_preparation_and_activation_may_not_call_the_store_either(bench: Bench, call: Caller) -> None:
    def entering(*_: Any) -> Any:
        return call.store.call("snapshot", {}, "alice")

    with untouched(bench.directory):
        refusal(lambda: call("dispatch", id=uuid(2), prepare=entering), DURABILITY)
        refusal(lambda: call("dispatch", id=uuid(2), prepare=lambda _row: entering), DURABILITY)
    lock_is_free(bench)


def test_another_open_store_on_the_directory_waits_its_turn_even_from_a_callback(
    bench: Bench, call: Caller
) -> None:
    other = bench.open(lock_timeout_s=0.02)
    bench.authority.interfere(
        "authorize", 1, meanwhile(lambda: refusal(lambda: other.call("snapshot", {}, "alice"), DURABILITY))
    )
    assert call("snapshot")["commitSeq"] == 4


def test_a_callback_that_waits_for_another_threads_call_waits_for_the_timeout_at_most(bench: Bench) -> None:
    """It is not seen as a call from inside, since another thread makes it; but nothing hangs for ever."""
    call = Caller(bench.open(lock_timeout_s=0.05), bench)
    outcomes: list[impl.CoordinatorError] = []

    def other() -> None:
        outcomes.append(refusal(lambda: call.store.call("snapshot", {}, "alice"), DURABILITY))

    def wait() -> None:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join(10)

    bench.authority.interfere("authorize", 1, meanwhile(wait))
    with at_once():
        assert call("snapshot")["commitSeq"] == 1
    assert len(outcomes) == 1


def test_another_thread_waits_its_turn_and_then_goes_on(bench: Bench, call: Caller) -> None:
    answered: list[Any] = []
    started = threading.Event()

    def other() -> None:
        started.set()
        answered.append(call.store.call("snapshot", {}, "alice"))

    thread = threading.Thread(target=other)

    def begin() -> None:
        thread.start()
        assert started.wait(5)

    bench.authority.interfere("authorize", 1, meanwhile(begin))
    call.reserve(3)
    thread.join(10)
    assert len(answered) == 1


def test_closing_the_store_while_a_callback_is_awaited_aborts_before_publication() -> None:
    """At all of them but the last read of the lease, which comes after the last look at `closed`."""
    for callback, nth, operation in STEPS:
        if (callback, nth) == ("read_lease", 2):
            continue
        with workbench() as fresh:
            made = Caller(fresh.open(), fresh)
            fresh.authority.admit(made.reserve(1)["reservation"], sequence=7, version=3)
            fresh.authority.finish(made.admitted(2, version=3)["reservation"])
            with untouched(fresh.directory):
                fresh.authority.interfere(callback, nth, meanwhile(made.store.close))
                refusal(lambda o=operation, m=made: o(m), DURABILITY)
            lock_is_free(fresh)


def test_what_a_callback_was_given_is_its_own(bench: Bench, call: Caller) -> None:
    """It may change its copies at any time; neither the row nor the answer changes with them."""
    kept: list[Any] = []

    def spoil(name: str) -> None:
        original = getattr(bench.authority, name)

        def spoiled(*given: Any) -> Any:
            answer = original(*given)
            reservation = given[-1]
            if isinstance(reservation, dict):
                kept.append(reservation)
                reservation.update(state="released", reservationId="x", runId="x", slots=9, extra=1)
                reservation.pop("coordinatorEpoch")
            return answer

        setattr(bench.authority, name, spoiled)

    for name in ("authorize", "read_admission", "read_release"):
        spoil(name)
    row = COMMITTING(call)
    assert row["reservation"]["runId"] == uuid(1, 3)
    assert call("readReservation", id=uuid(1)) == row
    assert call("normalRelease", id=uuid(2))["reservation"]["slots"] == 1
    assert len(kept) >= 6
    assert impl.audit_directory(bench.directory).faults == ()


def test_an_answer_that_is_changed_later_changes_nothing(bench: Bench, call: Caller) -> None:
    identity, lease = copy.deepcopy(bench.authority.people["alice"]), copy.deepcopy(bench.authority.lease)
    proof = copy.deepcopy(bench.authority.admissions[uuid(1)])

    def spoil() -> None:
        identity.update(principal="p-mallory", ownerId="o-mallory", operator=True)
        lease.update(holderId="host-9", fencingEpoch=9, expiresAt=0)
        proof.update(runVersion=99, projectAdmitCommitSeq=99)

    bench.authority.interfere("read_lease", 1, answers(lease))
    bench.authority.interfere("authorize", 1, answers(identity))
    bench.authority.interfere("read_admission", 1, answers(proof))
    bench.authority.interfere("authorize", 2, meanwhile(spoil))
    row = COMMITTING(call)
    assert (row["principal"], row["admitRunVersion"]) == ("p-alice", 3)
    assert bench.read_state()["audit"][-1]["principal"] == "p-alice"


def test_the_arguments_may_be_changed_while_the_call_runs(bench: Bench, call: Caller) -> None:
    given = reserving(3)
    bench.authority.interfere("authorize", 1, meanwhile(lambda: given.update(runId=uuid(66, 3), ttlMs=1)))
    with bench.authority.transaction():
        call.store.call("reserve", given, "alice")
    assert call("readReservation", id=uuid(3))["reservation"]["runId"] == uuid(3, 3)


def test_each_callback_sees_the_row_as_the_specification_says(bench: Bench, call: Caller) -> None:
    COMMITTING(call)
    seen = bench.authority.log
    assert [name for name, _ in seen] == [
        "read_lease",
        "authorize",
        "read_admission",
        "authorize",
        "read_lease",
    ]
    first, asked, second = seen[1][1], seen[2][1][0], seen[3][1]
    assert first[:2] == ("alice", "commit")
    assert first[2]["state"] == "reserved"
    assert (asked["state"], asked["projectAdmitCommitSeq"]) == ("reserved", 7)
    assert second[2]["state"] == "committed"
    call.reserve(8)
    proposal = bench.authority.log[1][1][2]
    assert proposal == {
        "reservationId": uuid(8), "projectId": uuid(8, 1), "projectControlDomainId": uuid(8, 2),
        "runId": uuid(8, 3),
        "state": "reserved", "slots": 1, "coordinatorEpoch": 2,
    }  # fmt: skip
    assert bench.authority.log[2][1][2]["reservedExpiresAt"] == bench.clock.now + 60_000
    for operation, arguments in (
        ("snapshot", {}),
        ("readCommand", {"id": uuid(2)}),
        ("readReservation", {"id": uuid(99)}),
    ):
        call(operation, **arguments)
        assert [given[2] for name, given in bench.authority.log if name == "authorize"] == [None, None]
