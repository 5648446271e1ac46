"""The behaviours that the original's authors thought worth a test, each told in one process.

What needs several processes (races, killed holders) is tested with real ones elsewhere; what is about
damaged files, nonsense and the format stands in the `test_bad_*` modules.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import impl
from impl.tests.authority import answers, meanwhile, raises
from impl.tests.derive_store import uuid
from impl.tests.workbench import Bench, Caller, arbitrating, force, refusal, reserving, untouched, workbench

REVOKED, BINDING, CAPACITY = "AUTHORITY_REVOKED", "ADMISSION_BINDING_CONFLICT", "CAPACITY_EXCEEDED"
DURABILITY, RECONCILE, POLICY = "DURABILITY_FAILED", "RECONCILE_REQUIRED", "POLICY_DENIED"


@pytest.fixture
def bench() -> Iterator[Bench]:
    with workbench() as made:
        yield made


@pytest.fixture
def call(bench: Bench) -> Caller:
    return Caller(bench.open(initial_max_active_runs=2), bench)


def state_of(call: Caller, number: int, context: str = "alice") -> str:
    return str(call("readReservation", context, id=uuid(number))["reservation"]["state"])


# --- reserving -----------------------------------------------------------------------------------------


def test_reserving_is_metered_over_all_projects_one_slot_each(bench: Bench, call: Caller) -> None:
    call.reserve(1)
    assert call.reserve(2, "bob")["reservation"]["slots"] == 1
    for context in ("alice", "bob"):
        with untouched(bench.directory):
            refusal(lambda c=context: call.reserve(3, c), CAPACITY)
        assert bench.authority.called == ["read_lease", "authorize"]
    capacity = call("snapshot")["capacity"]
    assert capacity == {"maxActiveRuns": 2, "active": 2, "reserved": 2, "committed": 0, "orphanSuspect": 0}


def test_every_operation_is_authorized_twice_and_under_its_own_name(bench: Bench, call: Caller) -> None:
    call.admitted(1)
    bench.authority.finish(bench.authority.admissions[uuid(1)])
    prepare: Callable[[Any], Any] = lambda _row: lambda: 1  # noqa: E731 -- as short as its use
    runs: list[tuple[str, str, dict[str, Any]]] = [
        ("reserve", "alice", reserving(2)),
        ("renew", "alice", {"id": uuid(1)}),
        ("commit", "alice", {"id": uuid(1), "projectAdmitCommitSeq": 1}),
        ("dispatch", "alice", {"id": uuid(1), "prepare": prepare}),
        ("markOrphanSuspect", "alice", {"id": uuid(1)}),
        ("normalRelease", "alice", {"id": uuid(1)}),
        ("forceRelease", "root", {"id": uuid(2), **force(2)}),
        ("setMaxActiveRuns", "root", {"commandId": uuid(3, 9), "maxActiveRuns": 3}),
        ("readReservation", "alice", {"id": uuid(1)}),
        ("readCommand", "root", {"id": uuid(3, 9)}),
        ("snapshot", "alice", {}),
    ]
    for operation, context, arguments in runs:
        call(operation, context, **arguments)
        asked = [given[:2] for name, given in bench.authority.log if name == "authorize"]
        assert asked == [(context, operation)] * 2
        with untouched(bench.directory):
            refusal(lambda o=operation, a=arguments: call(o, "eve", **a), REVOKED)


def test_another_owner_or_principal_reaches_no_row(bench: Bench, call: Caller) -> None:
    call.admitted(1)
    call.reserve(2)
    half = {"principal": "p-alice", "ownerId": "o-bob", "operator": True}
    bench.authority.people["half"] = half
    bench.authority.people["other half"] = {**half, "principal": "p-bob", "ownerId": "o-alice"}
    with untouched(bench.directory):
        for context in ("bob", "root", "half", "other half"):
            refusal(lambda c=context: call.reserve(2, c), REVOKED)
            refusal(lambda c=context: call.commit(1, c), REVOKED)
            for operation in ("renew", "markOrphanSuspect", "normalRelease", "readReservation"):
                refusal(lambda o=operation, c=context: call(o, c, id=uuid(1)), REVOKED)
            refusal(
                lambda c=context: call("dispatch", c, id=uuid(1), prepare=lambda _row: lambda: 1), REVOKED
            )


def test_reserving_again_answers_the_row_unchanged_and_never_rebinds_it(bench: Bench, call: Caller) -> None:
    row = call.reserve(1)
    bench.clock.advance(5)
    with untouched(bench.directory):
        assert call.reserve(1, ttlMs=5) == row
        refusal(lambda: call.reserve(1, runId=uuid(7, 3)), BINDING)
        refusal(lambda: call.reserve(1, projectId=uuid(7, 1)), BINDING)


def test_results_and_inputs_are_copies(call: Caller) -> None:
    given = reserving(1)
    answer = call.store.call("reserve", given, "alice")
    given.update(runId=uuid(9, 3))
    with pytest.raises(AttributeError):
        answer.principal = "p-mallory"
    shown = call("readReservation", id=uuid(1))
    shown["reservation"]["state"] = "released"
    assert state_of(call, 1) == "reserved"
    assert call("readReservation", id=uuid(1))["reservation"]["runId"] == uuid(1, 3)


# --- admission ----------------------------------------------------------------------------------------


def test_only_a_reservation_before_admission_expires(bench: Bench) -> None:
    bench.authority = type(bench.authority)(bench.clock)
    call = Caller(bench.open(), bench)
    call.admitted(1)
    call.admitted(2)
    call("markOrphanSuspect", id=uuid(2))
    row = call.reserve(3)
    bench.authority.admissions.pop(uuid(1))
    bench.clock.advance(10**8)
    bench.authority.abandon(row["reservation"])
    assert [state_of(call, number) for number in (1, 2, 3)] == ["committed", "orphan-suspect", "expired"]


def test_an_admission_must_be_proven(bench: Bench, call: Caller) -> None:
    row = call.reserve(1)
    with untouched(bench.directory):
        refusal(lambda: call.commit(1), BINDING)
    bench.authority.admit(row["reservation"], sequence=4)
    with untouched(bench.directory):
        refusal(lambda: call.commit(1, sequence=3), BINDING)
    committed = call.commit(1, sequence=4)
    assert committed["reservation"]["state"] == "committed"
    assert "reservedExpiresAt" not in committed["reservation"]


def test_a_proof_that_crosses_the_ttl_does_not_commit(bench: Bench, call: Caller) -> None:
    row = call.reserve(1, ttlMs=100)
    bench.authority.admit(row["reservation"])
    with untouched(bench.directory):
        bench.authority.interfere("read_admission", 1, meanwhile(lambda: bench.clock.advance(100)))
        refusal(lambda: call.commit(1), BINDING)
    assert state_of(call, 1) == "committed"  # the next sweep has the proof, and never frees the slot


def test_a_binding_is_committed_once(bench: Bench, call: Caller) -> None:
    call.admitted(1)
    same = {
        key: uuid(1, group) for group, key in enumerate(("projectId", "projectControlDomainId", "runId"), 1)
    }
    row = call.reserve(2, **same)
    bench.authority.admit(row["reservation"], sequence=2)
    with untouched(bench.directory):
        refusal(lambda: call.commit(2, sequence=2), BINDING)


def test_a_second_commit_may_add_what_was_lacking_but_change_nothing(bench: Bench, call: Caller) -> None:
    call.admitted(1)
    with untouched(bench.directory):
        refusal(lambda: call.commit(1, sequence=2), BINDING)
    bench.clock.advance(3)
    bound = call.commit(1, attemptId=uuid(1, 4))
    assert bound["reservation"]["attemptId"] == uuid(1, 4)
    assert bound["updatedAt"] == bench.clock.now
    assert "read_admission" not in bench.authority.called
    with untouched(bench.directory):
        assert call.commit(1, attemptId=uuid(1, 4)) == bound
        refusal(lambda: call.commit(1, attemptId=uuid(2, 4)), BINDING)
        refusal(lambda: call.commit(1, providerJobHandle="job"), BINDING)
        refusal(lambda: call.commit(1), BINDING)
    assert (
        call.commit(1, attemptId=uuid(1, 4), providerJobHandle="job")["reservation"]["providerJobHandle"]
        == "job"
    )


def test_a_run_admitted_before_its_host_died_is_never_freed_by_time(bench: Bench, call: Caller) -> None:
    row = call.reserve(1, ttlMs=10)
    bench.authority.admit(row["reservation"], sequence=5, version=2)
    call.store.close()
    bench.clock.advance(10**6)
    after = Caller(bench.open(), bench)
    swept = after("readReservation", id=uuid(1))
    assert swept["reservation"]["state"] == "committed"
    assert (swept["reservation"]["projectAdmitCommitSeq"], swept["admitRunVersion"]) == (5, 2)
    assert after.commit(1, sequence=5, attemptId=uuid(1, 4))["reservation"]["attemptId"] == uuid(1, 4)


UNAVAILABLE = {
    "no answer": answers(None),
    "a failure": raises(OSError(5, "ledger unreachable")),
    "a refusal": raises(impl.CoordinatorError("RECONCILE_REQUIRED", "ledger busy")),
    "an observation": lambda truth: truth(),
}


@pytest.mark.parametrize("told", UNAVAILABLE)
def test_without_evidence_of_admission_the_slot_stays(bench: Bench, call: Caller, told: str) -> None:
    call.reserve(1, ttlMs=10)
    bench.clock.advance(10**6)
    bench.authority.interfere("read_admission", 1, UNAVAILABLE[told])
    assert call("snapshot")["capacity"]["reserved"] == 1


@pytest.mark.parametrize("kind", ["admit", "abandon"])
def test_evidence_about_another_reservation_or_binding_leaves_the_slot(
    bench: Bench, call: Caller, kind: str
) -> None:
    row = call.reserve(1, ttlMs=10)["reservation"]
    bench.clock.advance(10)
    for key in ("reservationId", "projectId", "projectControlDomainId", "runId"):
        answer = getattr(bench.authority, kind)({**row, key: uuid(77)})
        bench.authority.interfere("read_admission", 1, answers(answer))
        assert call("snapshot")["capacity"]["reserved"] == 1


def test_a_proven_but_expired_reservation_of_a_committed_run_stays_and_blocks_nobody(
    bench: Bench, call: Caller
) -> None:
    call.admitted(1)
    same = {
        key: uuid(1, group) for group, key in enumerate(("projectId", "projectControlDomainId", "runId"), 1)
    }
    row = call.reserve(2, ttlMs=10, **same)
    bench.authority.admit(row["reservation"], sequence=2)
    bench.clock.advance(10)
    assert call("snapshot")["capacity"] == {
        "maxActiveRuns": 2, "active": 2, "reserved": 1, "committed": 1, "orphanSuspect": 0,
    }  # fmt: skip
    assert call("forceRelease", "root", id=uuid(2), **force(2))["reservation"]["state"] == "released"


def test_an_abandonment_can_not_be_undone_and_late_calls_stay_refused_after_a_restart() -> None:
    with arbitrating() as bench:
        call = Caller(bench.open(), bench)
        call.reserve(1, ttlMs=10)
        bench.clock.advance(10)
        assert state_of(call, 1) == "expired"
        bench.authority.admissions.clear()
        bench.authority.admit(call("readReservation", id=uuid(1))["reservation"])
        for _ in range(2):
            with untouched(bench.directory):
                refusal(lambda c=call: c.commit(1), BINDING)
                refusal(lambda c=call: c("dispatch", id=uuid(1), prepare=lambda _row: lambda: 1), BINDING)
                refusal(lambda c=call: c.reserve(1), BINDING)
                refusal(lambda c=call: c("renew", id=uuid(1), ttlMs=5), BINDING)
                refusal(lambda c=call: c("forceRelease", "root", id=uuid(1), **force(1)), BINDING)
            call.store.close()
            call = Caller(bench.open(), bench)


def test_a_reservation_whose_time_has_passed_can_not_be_renewed(bench: Bench, call: Caller) -> None:
    call.reserve(1, ttlMs=10)
    bench.clock.advance(9)
    assert call("renew", id=uuid(1), ttlMs=10)["reservation"]["reservedExpiresAt"] == bench.clock.now + 10
    bench.clock.advance(10)
    with untouched(bench.directory):
        refusal(lambda: call("renew", id=uuid(1), ttlMs=10), BINDING)
        refusal(lambda: call("renew", id=uuid(1)), "COMMAND_FAILED")


def test_an_admitted_row_renews_without_a_ttl_and_never_gets_one(bench: Bench, call: Caller) -> None:
    call.admitted(1)
    bench.clock.advance(1)
    assert call("renew", id=uuid(1))["reservation"]["renewedAt"] == bench.clock.now
    with untouched(bench.directory):
        refusal(lambda: call("renew", id=uuid(1), ttlMs=10), BINDING)
