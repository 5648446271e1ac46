"""The order of a transaction's steps.

Guarantees: callbacks come in the specified order and see what they should; of two faults the earlier step
decides the code.

Doesn't: strike at the steps. `test_bad_disk` and the crash tests do.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import impl
from impl import disk
from impl.tests.authority import Arbitrating, meanwhile
from impl.tests.derive_store import uuid
from impl.tests.independent import LOCK
from impl.tests.workbench import (
    EPOCH,
    Bench,
    Caller,
    arbitrating,
    force,
    photograph,
    refusal,
    reserving,
    untouched,
    workbench,
)


@pytest.fixture
def bench() -> Iterator[Bench]:
    with workbench() as made:
        yield made


@pytest.fixture
def call(bench: Bench) -> Caller:
    return Caller(bench.open(), bench)


def test_who_gets_in_by_another_lock_file_while_a_draft_is_written_loses_nothing(
    bench: Bench, call: Caller
) -> None:
    other = Caller(bench.open(), bench)

    def replace(point: disk.CrashPoint) -> None:
        if point is disk.CrashPoint.STATE_FSYNC_AFTER:
            disk.install(former)
            (bench.directory / LOCK).unlink()
            thread = threading.Thread(target=lambda: got.append(other.reserve(2)))
            thread.start()
            thread.join()

    got: list[object] = []
    former = disk.install(replace)
    try:
        refusal(lambda: call.store.call("reserve", reserving(1), "alice"), "DURABILITY_FAILED")
    finally:
        disk.install(former)
    assert call("snapshot")["reservations"] == got


def test_the_callbacks_of_a_transaction_come_in_the_specified_order() -> None:
    with arbitrating() as bench:
        call = Caller(bench.open(), bench)
        assert isinstance(bench.authority, Arbitrating)
        call.reserve(1, ttlMs=10)
        bench.authority.admit(call.reserve(2, ttlMs=10)["reservation"])
        bench.authority.admit(call.reserve(3)["reservation"])
        bench.clock.advance(10)
        call.commit(3)
        assert bench.authority.called == [
            "read_lease", "authorize",
            "read_admission", "read_lease", "abandon_admission_if_absent", "read_lease",
            "read_admission", "read_lease",
            "read_admission",
            "authorize", "read_lease",
        ]  # fmt: skip


def test_the_authority_sees_a_proposal_first_and_then_the_row(bench: Bench, call: Caller) -> None:
    call.reserve(1)
    seen = [given[2] for name, given in bench.authority.log if name == "authorize"]
    proposed = {
        "reservationId": uuid(1),
        "state": "reserved",
        "slots": 1,
        "projectId": uuid(1, 1),
        "projectControlDomainId": uuid(1, 2),
        "runId": uuid(1, 3),
        "coordinatorEpoch": EPOCH,
    }
    assert seen == [proposed, {**proposed, "reservedExpiresAt": bench.clock.now + 60_000}]


def test_commit_asks_with_the_three_values_and_still_reserved(bench: Bench, call: Caller) -> None:
    bench.authority.admit(call.reserve(1)["reservation"])
    call.commit(1, attemptId=uuid(1, 4), providerJobHandle="job")
    asked = next(given[0] for name, given in bench.authority.log if name == "read_admission")
    assert asked["state"] == "reserved"
    assert asked["projectAdmitCommitSeq"] == 1
    assert asked["attemptId"] == uuid(1, 4)
    assert asked["providerJobHandle"] == "job"


def test_arguments_are_judged_before_a_closed_store(call: Caller) -> None:
    call.store.close()
    refusal(lambda: call("renew", id="A"), "COMMAND_FAILED")
    refusal(lambda: call("forceRelease", id=uuid(1), **force(1, riskAcknowledgement=1)), "POLICY_DENIED")
    refusal(lambda: call("snapshot"), "DURABILITY_FAILED")


def test_the_clock_is_judged_before_the_lease_and_both_before_the_caller(bench: Bench, call: Caller) -> None:
    bench.clock.now -= 1
    error = refusal(lambda: call("snapshot", "nobody"), "AUTHORITY_REVOKED")
    assert "clock" in error.message
    assert bench.authority.called == []
    bench.clock.now += 1
    bench.authority.lease["expiresAt"] = bench.clock.now
    error = refusal(lambda: call("snapshot", "nobody"), "AUTHORITY_REVOKED")
    assert "lease" in error.message
    assert bench.authority.called == ["read_lease"]


def test_a_newer_stored_epoch_is_judged_before_the_caller(bench: Bench, call: Caller) -> None:
    bench.authority.lease["fencingEpoch"] = EPOCH + 1
    bench.open(epoch=EPOCH + 1)
    bench.authority.lease["fencingEpoch"] = EPOCH
    error = refusal(lambda: call("snapshot", "nobody"), "AUTHORITY_REVOKED")
    assert f"epoch {EPOCH + 1}" in error.message
    assert bench.authority.called == ["read_lease"]


def test_the_lease_is_looked_at_once_more_just_before_the_rename(bench: Bench, call: Caller) -> None:
    bench.authority.lease["expiresAt"] = bench.clock.now + 10

    def pass_by(point: disk.CrashPoint) -> None:
        if point is disk.CrashPoint.STATE_FSYNC_AFTER:
            bench.clock.advance(10)

    with untouched_but_for_times(bench):
        former = disk.install(pass_by)
        try:
            refusal(lambda: call.reserve(1), "AUTHORITY_REVOKED")
        finally:
            disk.install(former)


@contextmanager
def untouched_but_for_times(bench: Bench) -> Iterator[None]:
    before = {name: seen[-1] for name, seen in photograph(bench.directory).items()}
    yield
    assert {name: seen[-1] for name, seen in photograph(bench.directory).items()} == before


def test_what_changed_its_mind_between_the_two_authorizations_is_refused(bench: Bench, call: Caller) -> None:
    def promote() -> None:
        bench.authority.people["alice"]["operator"] = True

    bench.authority.interfere("authorize", 2, meanwhile(promote))
    with untouched(bench.directory):
        refusal(lambda: call.reserve(1), "AUTHORITY_REVOKED")


def test_a_new_epoch_is_stored_by_whatever_is_called_first(bench: Bench, call: Caller) -> None:
    call.reserve(1)
    bench.authority.lease["fencingEpoch"] = EPOCH + 1
    bench.open(epoch=EPOCH + 1)
    latest = bench.read_state()["audit"][-1]
    assert (latest["action"], latest["principal"], latest["epoch"]) == (
        "initialize",
        "coordinator-bootstrap",
        EPOCH + 1,
    )


def test_reads_sweep_and_the_audit_says_so(bench: Bench) -> None:
    with arbitrating() as bench:
        call = Caller(bench.open(), bench)
        call.reserve(1, ttlMs=10)
        bench.clock.advance(10)
        assert call("readReservation", id=uuid(1))["reservation"]["state"] == "expired"
        assert bench.read_state()["audit"][-1]["action"] == "readReservation"


def test_an_answer_is_immutable_and_the_typed_methods_answer_the_same(bench: Bench) -> None:
    store = bench.open()
    asked = reserving(1)
    row = store.reserve(
        "alice",
        reservation_id=asked["reservationId"],
        project_id=asked["projectId"],
        project_control_domain_id=asked["projectControlDomainId"],
        run_id=asked["runId"],
        ttl_ms=asked["ttlMs"],
    )
    assert store.call("readReservation", {"id": uuid(1)}, "alice") == row
    with pytest.raises(AttributeError):
        row.principal = "p-bob"  # type: ignore[misc]  # that this can't be done is what is tested
    assert isinstance(store, impl.Coordinator)
