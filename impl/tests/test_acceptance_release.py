"""Accepted behaviours of giving slots back, of operators' commands, and of losing authority meanwhile."""

from collections.abc import Iterator
from typing import Any

import pytest

from impl.tests.derive_store import uuid
from impl.tests.workbench import Bench, Caller, force, refusal, untouched, workbench

REVOKED, BINDING, CAPACITY = "AUTHORITY_REVOKED", "ADMISSION_BINDING_CONFLICT", "CAPACITY_EXCEEDED"
DURABILITY, RECONCILE, POLICY = "DURABILITY_FAILED", "RECONCILE_REQUIRED", "POLICY_DENIED"


@pytest.fixture
def bench() -> Iterator[Bench]:
    with workbench() as made:
        yield made


@pytest.fixture
def call(bench: Bench) -> Caller:
    """With row 1 committed, and nothing yet known of its end."""
    made = Caller(bench.open(initial_max_active_runs=2), bench)
    made.admitted(1, version=3)
    return made


# --- releasing -----------------------------------------------------------------------------------------

UNPROVEN: dict[str, dict[str, Any]] = {
    "a live child": {"providerNoLiveProcessTree": False},
    "an ambiguous job": {"noAmbiguousJobs": False},
    "a mere reconcile timeout": {"reconcileTimeoutOnly": True},
    "a stale sequence": {"projectAdmitCommitSeq": 2},
    "a stale version": {"runVersion": 2},
    "another project": {"projectId": uuid(7, 1)},
    "another run": {"runId": uuid(7, 3)},
    "another reservation": {"reservationId": uuid(7)},
    "an unknown status": {"status": "vanished"},
    "a running run": {"status": "running", "stage": "running"},
    "parked without readmission": {"status": "paused", "stage": "parked", "requiresReadmission": False},
    "paused but not parked": {"status": "paused", "stage": "running", "requiresReadmission": True},
    "no proof id": {"proofId": " "},
}


@pytest.mark.parametrize("told", UNPROVEN)
@pytest.mark.parametrize("suspect", [False, True])
def test_a_normal_release_without_full_proof_is_refused(
    bench: Bench, call: Caller, told: str, suspect: bool
) -> None:
    if suspect:
        call("markOrphanSuspect", id=uuid(1))
    bench.authority.finish(bench.authority.admissions[uuid(1)], **UNPROVEN[told])
    with untouched(bench.directory):
        refusal(lambda: call("normalRelease", id=uuid(1)), RECONCILE)


@pytest.mark.parametrize("status", ["completed", "failed", "blocked", "cancelled"])
def test_a_terminal_run_gives_its_slot_back(bench: Bench, call: Caller, status: str) -> None:
    bench.authority.finish(bench.authority.admissions[uuid(1)], status)
    row = call("normalRelease", id=uuid(1))
    assert (row["reservation"]["state"], row["releaseKind"]) == ("released", "normal")
    assert row["releaseProofId"] == "proof-1"
    assert row["concurrencyGuarantee"] == "enforced"
    assert call("snapshot")["capacity"]["active"] == 0


def test_a_parked_run_releases_and_comes_back_under_a_new_reservation(bench: Bench, call: Caller) -> None:
    parked = {"stage": "parked", "requiresReadmission": True, "runVersion": 4}
    bench.authority.finish(bench.authority.admissions[uuid(1)], "paused", **parked)
    row = call("normalRelease", id=uuid(1))
    call.store.close()
    after = Caller(bench.open(), bench)
    bench.clock.advance(7)
    with untouched(bench.directory):
        for _ in range(8):
            assert after("normalRelease", id=uuid(1)) == row
        refusal(lambda: after.commit(1), BINDING)
        refusal(lambda: after.reserve(1), BINDING)
    same = {
        key: uuid(1, group) for group, key in enumerate(("projectId", "projectControlDomainId", "runId"), 1)
    }
    again = after.reserve(2, **same)
    bench.authority.admit(again["reservation"], sequence=2, version=5)
    assert after.commit(2, sequence=2)["admitRunVersion"] == 5


def test_a_force_release_needs_an_operator_the_acknowledgement_and_a_reason(
    bench: Bench, call: Caller
) -> None:
    with untouched(bench.directory):
        refusal(lambda: call("forceRelease", "alice", id=uuid(1), **force(1)), POLICY)
        refusal(
            lambda: call("forceRelease", "root", id=uuid(1), **force(1, riskAcknowledgement=False)), POLICY
        )
        refusal(lambda: call("forceRelease", "root", id=uuid(1), **force(1, reason=" ")), POLICY)
        refusal(lambda: call("forceRelease", "root", id=uuid(9), **force(1)), BINDING)
        assert call("readCommand", "root", id=uuid(1, 9)) is None
    row = call("forceRelease", "root", id=uuid(1), **force(1))
    assert (row["releaseKind"], row["concurrencyGuarantee"]) == ("force", "operator-overridden")
    assert call("snapshot")["concurrencyGuarantee"] == "operator-overridden"


def test_a_command_takes_effect_once_and_answers_the_same_after_a_restart(bench: Bench, call: Caller) -> None:
    row = call("forceRelease", "root", id=uuid(1), **force(1))
    bench.clock.advance(5)
    for _ in range(2):
        with untouched(bench.directory):
            assert call("forceRelease", "root", id=uuid(1), **force(1)) == row
            refusal(
                lambda c=call: c("forceRelease", "boss", id=uuid(1), **force(1)), "CROSS_PRINCIPAL_COMMAND"
            )
            refusal(lambda c=call: c("forceRelease", "alice", id=uuid(1), **force(1)), POLICY)
            refusal(lambda c=call: c("readCommand", "boss", id=uuid(1, 9)), "CROSS_PRINCIPAL_COMMAND")
            changed = force(1, reason="another")
            refusal(
                lambda c=call, f=changed: c("forceRelease", "root", id=uuid(1), **f), "IDEMPOTENCY_CONFLICT"
            )
            refusal(
                lambda c=call: c("setMaxActiveRuns", "root", commandId=uuid(1, 9), maxActiveRuns=5),
                "IDEMPOTENCY_CONFLICT",
            )
        call.store.close()
        call = Caller(bench.open(), bench)
    record = call("readCommand", "root", id=uuid(1, 9))["record"]
    assert record["firstCommitSeq"] == record["lastCommitSeq"] == 4
    assert (record["callerPrincipal"], record["status"]) == ("p-root", "completed")


def test_a_row_that_was_released_or_expired_is_not_force_released(bench: Bench, call: Caller) -> None:
    bench.authority.finish(bench.authority.admissions[uuid(1)])
    row = call("normalRelease", id=uuid(1))
    call("forceRelease", "root", id=call.reserve(2)["reservation"]["reservationId"], **force(2))
    with untouched(bench.directory):
        refusal(lambda: call("forceRelease", "root", id=uuid(1), **force(3)), BINDING)
        refusal(lambda: call("forceRelease", "root", id=uuid(2), **force(4)), BINDING)
        assert call("readReservation", id=uuid(1)) == row


def test_the_maximum_never_overbooks_and_never_answers_anothers_replay(bench: Bench, call: Caller) -> None:
    call.reserve(2)
    with untouched(bench.directory):
        refusal(lambda: call("setMaxActiveRuns", "root", commandId=uuid(1, 9), maxActiveRuns=1), CAPACITY)
        assert bench.authority.called == ["read_lease", "authorize"]
        refusal(lambda: call("setMaxActiveRuns", "alice", commandId=uuid(1, 9), maxActiveRuns=3), POLICY)
    assert call("setMaxActiveRuns", "root", commandId=uuid(1, 9), maxActiveRuns=3) == 3
    assert call("setMaxActiveRuns", "root", commandId=uuid(2, 9), maxActiveRuns=2) == 2
    with untouched(bench.directory):
        assert call("setMaxActiveRuns", "root", commandId=uuid(1, 9), maxActiveRuns=3) == 3
        refusal(lambda: call.reserve(3), CAPACITY)
        refusal(
            lambda: call("setMaxActiveRuns", "root", commandId=uuid(1, 9), maxActiveRuns=4),
            "IDEMPOTENCY_CONFLICT",
        )
        refusal(
            lambda: call("setMaxActiveRuns", "boss", commandId=uuid(1, 9), maxActiveRuns=3),
            "CROSS_PRINCIPAL_COMMAND",
        )


# --- losing authority meanwhile --------------------------------------------------------------------------
