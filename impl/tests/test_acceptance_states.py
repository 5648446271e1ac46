"""What each operation does to a row in each of its states: the whole table, guard by guard.

`OK` changes the row, `SAME` answers it unchanged and writes nothing, a code refuses. Each cell is tried a
moment later than the row was made, so that a needless `updatedAt` shows. A refusal by a row's state comes
before any callback but the first two is asked.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from impl.tests.derive_store import uuid
from impl.tests.workbench import Bench, Caller, force, refusal, reserving, untouched, workbench

BINDING, COMMAND, REVOKED, CAPACITY = (
    "ADMISSION_BINDING_CONFLICT", "COMMAND_FAILED", "AUTHORITY_REVOKED", "CAPACITY_EXCEEDED",
)  # fmt: skip
OK, SAME, NOTHING = "ok", "same", "nothing"

Make = Callable[[Bench, Caller], Any]


def reserved(_bench: Bench, call: Caller) -> Any:
    return call.reserve(1)


def committed(_bench: Bench, call: Caller) -> Any:
    return call.admitted(1)


def suspect(_bench: Bench, call: Caller) -> Any:
    call.admitted(1)
    return call("markOrphanSuspect", id=uuid(1))


def released(bench: Bench, call: Caller) -> Any:
    bench.authority.finish(call.admitted(1)["reservation"])
    return call("normalRelease", id=uuid(1))


def forced(_bench: Bench, call: Caller) -> Any:
    call.admitted(1)
    return call("forceRelease", "root", id=uuid(1), **force(1))


def expired(bench: Bench, call: Caller) -> Any:
    bench.authority.abandon(call.reserve(1, ttlMs=1)["reservation"])
    bench.clock.advance(1)
    return call("readReservation", id=uuid(1))


STATES: dict[str, Make] = {
    "none": lambda _bench, _call: None,
    "reserved": reserved,
    "committed": committed,
    "suspect": suspect,
    "released": released,
    "forced": forced,
    "expired": expired,
}

Run = Callable[[Caller, str], Any]
OPERATIONS: dict[str, Run] = {
    "reserve": lambda call, who: call("reserve", who, **reserving(1)),
    "commit": lambda call, who: call.commit(1, who),
    "renew": lambda call, who: call("renew", who, id=uuid(1)),
    "renew with a TTL": lambda call, who: call("renew", who, id=uuid(1), ttlMs=70_000),
    "markOrphanSuspect": lambda call, who: call("markOrphanSuspect", who, id=uuid(1)),
    "normalRelease": lambda call, who: call("normalRelease", who, id=uuid(1)),
    "readReservation": lambda call, who: call("readReservation", who, id=uuid(1)),
    "dispatch": lambda call, who: call("dispatch", who, id=uuid(1), prepare=lambda _row: lambda: "launched"),
    "forceRelease": lambda call, who: call(
        "forceRelease", "root" if who == "alice" else who, id=uuid(1), **force(2)
    ),
}
# fmt: off
TABLE: dict[str, tuple[str, ...]] = {
    #                    none     reserved  committed suspect  released forced   expired
    "reserve":           (OK,      SAME,     BINDING, BINDING, BINDING, BINDING, BINDING),
    "commit":            (BINDING, OK,       SAME,    BINDING, BINDING, BINDING, BINDING),
    "renew":             (BINDING, COMMAND,  OK,      OK,      BINDING, BINDING, BINDING),
    "renew with a TTL":  (BINDING, OK,       BINDING, BINDING, BINDING, BINDING, BINDING),
    "markOrphanSuspect": (BINDING, BINDING,  OK,      SAME,    BINDING, BINDING, BINDING),
    "normalRelease":     (BINDING, BINDING,  OK,      OK,      SAME,    BINDING, BINDING),
    "readReservation":   (NOTHING, SAME,     SAME,    SAME,    SAME,    SAME,    SAME),
    "dispatch":          (BINDING, BINDING,  "launched", BINDING, BINDING, BINDING, BINDING),
    "forceRelease":      (BINDING, OK,       OK,      OK,      BINDING, BINDING, BINDING),
}
# fmt: on
BECOMES = {
    "reserve": "reserved",
    "commit": "committed",
    "markOrphanSuspect": "orphan-suspect",
    "normalRelease": "released",
    "forceRelease": "released",
}  # fmt: skip


@pytest.fixture
def bench() -> Iterator[Bench]:
    with workbench() as made:
        yield made


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_operation_does_in_each_state_what_the_table_says(
    bench: Bench, operation: str, state: str
) -> None:
    call = Caller(bench.open(), bench)
    row = STATES[state](bench, call)
    if state == "reserved":
        bench.authority.admit(row["reservation"])
    if state in ("committed", "suspect"):
        bench.authority.finish(row["reservation"])
    bench.clock.advance(5)
    outcome = TABLE[operation][list(STATES).index(state)]
    run = OPERATIONS[operation]
    if outcome == OK:
        former = "" if row is None else row["reservation"]["state"]
        changed = run(call, "alice")
        assert changed["updatedAt"] == bench.clock.now
        assert changed["reservation"]["state"] == BECOMES.get(operation, former)
        assert call("readReservation", id=uuid(1)) == changed
        assert bench.read_state()["audit"][-1]["action"] == operation.split()[0]
        return
    with untouched(bench.directory):
        if outcome in (SAME, NOTHING, "launched"):
            assert run(call, "alice") == {SAME: row, NOTHING: None}.get(outcome, outcome)
        else:
            refusal(lambda: run(call, "alice"), outcome)
            assert bench.authority.called == ["read_lease", "authorize"]


@pytest.mark.parametrize("state", [state for state in STATES if state != "none"])
def test_another_owner_is_refused_before_anything_else_is_said_of_the_row(bench: Bench, state: str) -> None:
    call = Caller(bench.open(), bench)
    STATES[state](bench, call)
    with untouched(bench.directory):
        for operation, run in OPERATIONS.items():
            code = "POLICY_DENIED" if operation == "forceRelease" else REVOKED
            refusal(lambda r=run: r(call, "bob"), code)
            assert bench.authority.called == ["read_lease", "authorize"]
        refusal(lambda: call("reserve", "bob", **reserving(1, runId=uuid(7, 3))), REVOKED)


def test_a_full_store_refuses_new_reservations_only(bench: Bench) -> None:
    call = Caller(bench.open(initial_max_active_runs=1), bench)
    row = call.reserve(1)
    bench.clock.advance(5)
    with untouched(bench.directory):
        assert call.reserve(1) == row
        refusal(lambda: call.reserve(2), CAPACITY)
        assert bench.authority.called == ["read_lease", "authorize"]
        refusal(lambda: call("reserve", "bob", **reserving(1)), REVOKED)


def test_a_committed_row_binds_each_lacking_value_once_and_no_other(bench: Bench) -> None:
    call = Caller(bench.open(), bench)
    call.admitted(1)
    values = {"attemptId": uuid(1, 4), "providerJobHandle": "job"}
    given: dict[str, Any] = {}
    for name, value in values.items():
        bench.clock.advance(1)
        given[name] = value
        assert call.commit(1, **given)["reservation"][name] == value
    bench.clock.advance(1)
    wrongs: list[dict[str, Any]] = [
        {}, {"attemptId": uuid(1, 4)}, {"providerJobHandle": "job"}, {**given, "attemptId": uuid(2, 4)},
        {**given, "providerJobHandle": "Job"}, {**given, "sequence": 2},
    ]  # fmt: skip
    with untouched(bench.directory):
        assert call.commit(1, **given)["reservation"]["attemptId"] == uuid(1, 4)
        for wrong in wrongs:
            refusal(lambda w=wrong: call.commit(1, **w), BINDING)
            assert "read_admission" not in bench.authority.called


def test_a_binding_that_another_row_holds_is_refused_before_the_project_is_asked(bench: Bench) -> None:
    call = Caller(bench.open(), bench)
    same = {"projectId": uuid(1, 1), "projectControlDomainId": uuid(1, 2), "runId": uuid(1, 3)}
    bench.authority.admit(call.reserve(2, **same)["reservation"])
    call.admitted(1)
    with untouched(bench.directory):
        refusal(lambda: call.commit(2), BINDING)
        assert bench.authority.called == ["read_lease", "authorize"]
    call("markOrphanSuspect", id=uuid(1))
    with untouched(bench.directory):
        refusal(lambda: call.commit(2), BINDING)
        assert bench.authority.called == ["read_lease", "authorize"]
    call("forceRelease", "root", id=uuid(1), **force(1))
    assert call.commit(2)["reservation"]["state"] == "committed"
