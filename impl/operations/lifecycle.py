"""reserve, commit, renew, markOrphanSuspect: a reservation's way up to its end.

Guarantees: a slot is taken only below the maximum; a row is committed only on a proof that names it, before
its time has passed, and never twice for one run; a committed row gets no time to live.

Doesn't: free a slot. That is `release`'s, `commands`' and `sweep`'s.
"""

from collections.abc import Mapping
from typing import Any

from attrs import evolve

from impl.authority import admission_of
from impl.errors import CAPACITY_EXCEEDED, COMMAND_FAILED, refuse
from impl.operations.guards import caller, conflict, existing, owned
from impl.values import HOLDING, Reservation, Row
from impl.work import Work


def proposal(arguments: Mapping[str, Any], epoch: int) -> Reservation:
    """What a new reservation would be, without a time to live."""
    return Reservation(
        reservation_id=arguments["reservationId"],
        state="reserved",
        project_id=arguments["projectId"],
        project_control_domain_id=arguments["projectControlDomainId"],
        run_id=arguments["runId"],
        coordinator_epoch=epoch,
        slots=1,
    )


def reserve(work: Work, arguments: Mapping[str, Any]) -> Row:
    """Take a slot, or answer the reservation that stands already."""
    proposed = proposal(arguments, work.epoch)
    row = work.rows.get(proposed.reservation_id)
    if row is not None:
        owned(work, row)
        if row.reservation.binding != proposed.binding:
            conflict(row, "the id is bound to another project, domain or run")
        if row.reservation.state != "reserved":
            conflict(row, "the id is used up; reserve under a new one")
        return row
    held = work.held()
    if held >= work.max_active_runs:
        refuse(
            CAPACITY_EXCEEDED,
            f"{held} of {work.max_active_runs} slots are held. Release one, wait for one, or have an "
            "operator raise the maximum",
        )
    who = caller(work)
    reserved = evolve(proposed, reserved_expires_at=work.now + arguments["ttlMs"])
    return work.put(Row(reserved, who.owner_id, who.principal, work.now, "enforced"))


def commit(work: Work, arguments: Mapping[str, Any]) -> Row:
    """Turn a reserved row into a committed one, on proof of admission."""
    row = owned(work, existing(work, arguments["id"]))
    if row.reservation.state == "committed":
        return _bind_lacking(work, row, arguments)
    if row.reservation.state != "reserved":
        conflict(row, "only a reserved one can be committed")
    if work.binding_is_taken(row):
        conflict(row, "another admitted reservation holds a slot for this very run")
    asked = _with_values(row.reservation, arguments)
    answer = work.read_admission(asked)
    expires_at = row.reservation.reserved_expires_at
    assert expires_at is not None
    if expires_at <= work.look():
        conflict(row, f"its time to live ended at {expires_at}, before the admission was proven")
    proof = admission_of(answer)
    if proof is None or not proof.names(row.reservation):
        conflict(row, "the project doesn't prove the admission of this reservation and binding")
    if proof.project_admit_commit_seq != arguments["projectAdmitCommitSeq"]:
        conflict(row, f"the project admitted it at sequence {proof.project_admit_commit_seq}")
    committed = evolve(asked, state="committed", coordinator_epoch=work.epoch, reserved_expires_at=None)
    return work.put(row, committed, admit_run_version=proof.run_version, updated_at=work.now)


def _with_values(reservation: Reservation, arguments: Mapping[str, Any]) -> Reservation:
    """The row's reservation with exactly the three named values of the request (C3)."""
    return evolve(
        reservation,
        project_admit_commit_seq=arguments["projectAdmitCommitSeq"],
        attempt_id=arguments.get("attemptId", reservation.attempt_id),
        provider_job_handle=arguments.get("providerJobHandle", reservation.provider_job_handle),
    )


def _bind_lacking(work: Work, row: Row, arguments: Mapping[str, Any]) -> Row:
    """A retry: the same values change nothing; ones that the row lacks are bound, once (C10)."""
    reservation = row.reservation
    if reservation.project_admit_commit_seq != arguments["projectAdmitCommitSeq"]:
        conflict(row, "the retry names another projectAdmitCommitSeq")
    if reservation.attempt_id is not None and reservation.attempt_id != arguments.get("attemptId"):
        conflict(row, "the retry names another attemptId, or leaves it out")
    if reservation.provider_job_handle is not None and (
        reservation.provider_job_handle != arguments.get("providerJobHandle")
    ):
        conflict(row, "the retry names another providerJobHandle, or leaves it out")
    bound = _with_values(reservation, arguments)
    if bound == reservation:
        return row
    return work.put(row, evolve(bound, coordinator_epoch=work.epoch), updated_at=work.now)


def renew(work: Work, arguments: Mapping[str, Any]) -> Row:
    """A new time to live before admission; a sign of life after it."""
    row = owned(work, existing(work, arguments["id"]))
    reservation = row.reservation
    ttl_ms = arguments.get("ttlMs")
    if reservation.state not in HOLDING:
        conflict(row, "its slot is gone; reserve under a new id")
    expires_at = reservation.reserved_expires_at
    if reservation.state == "reserved":
        if ttl_ms is None:
            refuse(COMMAND_FAILED, "a reserved row is renewed with ttlMs; it was left out")
        assert expires_at is not None
        if expires_at <= work.look():
            conflict(row, f"its time to live ended at {expires_at}: it may be abandoned already")
        expires_at = work.now + ttl_ms
    elif ttl_ms is not None:
        conflict(row, "an admitted run never gets a time to live; leave ttlMs out")
    renewed = evolve(
        reservation, reserved_expires_at=expires_at, renewed_at=work.now, coordinator_epoch=work.epoch
    )
    return work.put(row, renewed, updated_at=work.now)


def mark_orphan_suspect(work: Work, arguments: Mapping[str, Any]) -> Row:
    """Reconciling has given up; the slot stays taken."""
    row = owned(work, existing(work, arguments["id"]))
    if row.reservation.state == "orphan-suspect":
        return row
    if row.reservation.state != "committed":
        conflict(row, "only a committed one can become orphan-suspect")
    suspect = evolve(row.reservation, state="orphan-suspect", coordinator_epoch=work.epoch)
    return work.put(row, suspect, updated_at=work.now)
