"""What each operation does once its transaction has come to step 8: its guards, from top to bottom.

Each function takes the transaction and the checked arguments, changes the transaction's rows, commands or
maximum, and gives what the operation answers; it raises `RefusalError` where a guard refuses.
"""

from collections.abc import Callable
from typing import Any, Final

from attrs import evolve

from model.answers import Admission
from model.callbacks import RefusalError
from model.transaction import Transaction, Value
from model.values import ADMITTED, Command, ForceRelease, Row, SetMaximum


def _own_row(transaction: Transaction, reservation_id: str) -> Row:
    row = transaction.find(reservation_id)
    if row is None:
        raise RefusalError("ADMISSION_BINDING_CONFLICT")
    _check_owner(transaction, row)
    return row


def _check_owner(transaction: Transaction, row: Row) -> None:
    who = transaction.identity
    assert who is not None
    if row.owner_id != who.owner_id or row.principal != who.principal:
        raise RefusalError("AUTHORITY_REVOKED")


def reserve(
    transaction: Transaction, reservation_id: str, project: str, domain: str, run: str, ttl_ms: int
) -> Row:
    row = transaction.find(reservation_id)
    if row is not None:
        _check_owner(transaction, row)
        if row.binding != (project, domain, run) or row.state != "reserved":
            raise RefusalError("ADMISSION_BINDING_CONFLICT")
        return row
    if transaction.held() >= transaction.maximum:
        raise RefusalError("CAPACITY_EXCEEDED")
    who = transaction.identity
    assert who is not None
    new = Row(
        reservation_id,
        "reserved",
        project,
        domain,
        run,
        transaction.host.epoch,
        who.owner_id,
        who.principal,
        transaction.now,
        reserved_expires_at=transaction.now + ttl_ms,
    )
    transaction.rows = (*transaction.rows, new)
    return new


def commit(
    transaction: Transaction, reservation_id: str, seq: int, attempt: str | None, job: str | None
) -> Row:
    row = _own_row(transaction, reservation_id)
    if row.state == "committed":
        return _commit_again(transaction, row, seq, attempt, job)
    if row.state != "reserved":
        raise RefusalError("ADMISSION_BINDING_CONFLICT")
    if transaction.binding_is_taken(row):
        raise RefusalError("ADMISSION_BINDING_CONFLICT")
    proof = transaction.read_admission(row)
    if row.reserved_expires_at is not None and row.reserved_expires_at <= transaction.look():
        raise RefusalError("ADMISSION_BINDING_CONFLICT")
    if not isinstance(proof, Admission) or not proof.names(row) or proof.commit_seq != seq:
        raise RefusalError("ADMISSION_BINDING_CONFLICT")
    committed = evolve(
        row,
        state="committed",
        project_admit_commit_seq=seq,
        attempt_id=attempt,
        provider_job_handle=job,
        admit_run_version=proof.run_version,
        coordinator_epoch=transaction.host.epoch,
        reserved_expires_at=None,
        updated_at=transaction.now,
    )
    return transaction.put(row, committed)


def _commit_again(transaction: Transaction, row: Row, seq: int, attempt: str | None, job: str | None) -> Row:
    """A value that the row lacks is bound, once; one that differs is a conflict (C10)."""
    if row.project_admit_commit_seq != seq:
        raise RefusalError("ADMISSION_BINDING_CONFLICT")
    if row.attempt_id not in (None, attempt) or row.provider_job_handle not in (None, job):
        raise RefusalError("ADMISSION_BINDING_CONFLICT")
    if row.attempt_id == attempt and row.provider_job_handle == job:
        return row
    bound = evolve(
        row,
        attempt_id=attempt,
        provider_job_handle=job,
        coordinator_epoch=transaction.host.epoch,
        updated_at=transaction.now,
    )
    return transaction.put(row, bound)


def renew(transaction: Transaction, reservation_id: str, ttl_ms: int | None) -> Row:
    row = _own_row(transaction, reservation_id)
    if not row.holds_slot:
        raise RefusalError("ADMISSION_BINDING_CONFLICT")
    expires_at = row.reserved_expires_at
    if row.state == "reserved":
        if ttl_ms is None:
            raise RefusalError("COMMAND_FAILED")
        if expires_at is not None and expires_at <= transaction.look():
            raise RefusalError("ADMISSION_BINDING_CONFLICT")  # C16
        expires_at = transaction.now + ttl_ms
    elif ttl_ms is not None:
        raise RefusalError("ADMISSION_BINDING_CONFLICT")
    renewed = evolve(
        row,
        reserved_expires_at=expires_at,
        renewed_at=transaction.now,
        coordinator_epoch=transaction.host.epoch,
        updated_at=transaction.now,
    )
    return transaction.put(row, renewed)


def mark_orphan_suspect(transaction: Transaction, reservation_id: str) -> Row:
    row = _own_row(transaction, reservation_id)
    if row.state == "orphan-suspect":
        return row
    if row.state != "committed":
        raise RefusalError("ADMISSION_BINDING_CONFLICT")
    suspect = evolve(
        row,
        state="orphan-suspect",
        coordinator_epoch=transaction.host.epoch,
        updated_at=transaction.now,
    )
    return transaction.put(row, suspect)


def normal_release(transaction: Transaction, reservation_id: str) -> Row:
    row = _own_row(transaction, reservation_id)
    if row.state == "released" and row.release_kind == "normal":
        return row
    if row.state not in ADMITTED:
        raise RefusalError("ADMISSION_BINDING_CONFLICT")
    proof = transaction.read_release(row)
    if (
        proof is None
        or not proof.admission.names(row)
        or proof.admission.commit_seq != row.project_admit_commit_seq
        or proof.admission.run_version < (row.admit_run_version or 0)
        or not proof.frees
    ):
        raise RefusalError("RECONCILE_REQUIRED")
    released = evolve(
        row,
        state="released",
        release_kind="normal",
        release_proof_id=proof.proof_id,
        coordinator_epoch=transaction.host.epoch,
        updated_at=transaction.now,
    )
    return transaction.put(row, released)


def force_release(transaction: Transaction, reservation_id: str, command_id: str, reason: str) -> Value:
    def take_the_risk() -> Row:
        row = transaction.find(reservation_id)
        if row is None or not row.holds_slot:  # terminal: `expired`, or `released` already (C9)
            raise RefusalError("ADMISSION_BINDING_CONFLICT")
        released = evolve(
            row,
            state="released",
            release_kind="force",
            concurrency_guarantee="operator-overridden",
            reserved_expires_at=None,
            coordinator_epoch=transaction.host.epoch,
            updated_at=transaction.now,
        )
        return transaction.put(row, released)

    return _command(transaction, command_id, ForceRelease(reservation_id, reason), take_the_risk)


def set_max_active_runs(transaction: Transaction, command_id: str, maximum: int) -> Value:
    def set_it() -> int:
        if maximum < transaction.held():
            raise RefusalError("CAPACITY_EXCEEDED")
        transaction.maximum = maximum
        return maximum

    return _command(transaction, command_id, SetMaximum(maximum), set_it)


def _find_command(transaction: Transaction, command_id: str) -> Command | None:
    """A command that is the caller's own, if there is one of that id."""
    who = transaction.identity
    assert who is not None
    for command in transaction.commands:
        if command.command_id == command_id:
            if command.caller_principal != who.principal:
                raise RefusalError("CROSS_PRINCIPAL_COMMAND")
            return command
    return None


def _command(
    transaction: Transaction,
    command_id: str,
    request: SetMaximum | ForceRelease,
    take_effect: Callable[[], Row | int],
) -> Row | int:
    """An operator's command takes effect once; later its stored answer is given again."""
    who = transaction.identity
    assert who is not None
    if not who.operator:
        raise RefusalError("POLICY_DENIED")
    known = _find_command(transaction, command_id)
    if known is not None:
        if known.request != request:
            raise RefusalError("IDEMPOTENCY_CONFLICT")
        return known.result
    result = take_effect()
    new = Command(command_id, request, who.principal, transaction.next_commit(), result)
    transaction.commands = (*transaction.commands, new)
    return result


def read_reservation(transaction: Transaction, reservation_id: str) -> Row | None:
    row = transaction.find(reservation_id)
    if row is not None:
        _check_owner(transaction, row)
    return row


def read_command(transaction: Transaction, command_id: str) -> Command | None:
    return _find_command(transaction, command_id)


def snapshot(transaction: Transaction) -> Value:
    return transaction.snapshot()


def dispatch(transaction: Transaction, reservation_id: str) -> None:
    """What it answers comes from the activation, after publication."""
    row = _own_row(transaction, reservation_id)
    if row.state != "committed":
        raise RefusalError("ADMISSION_BINDING_CONFLICT")
    if transaction.arrive("prepare") is not None:
        raise RefusalError("COMMAND_FAILED")  # a JSON value, and so nothing that can be called

    def activation() -> Value:
        answer = transaction.arrive("activation")
        world = transaction.world
        transaction.world = evolve(world, launched=(*world.launched, reservation_id))
        return f"launched:{reservation_id}" if answer is None else answer.value

    transaction.launch = activation


OPERATIONS: Final[dict[str, Callable[..., Any]]] = {
    "reserve": reserve,
    "commit": commit,
    "renew": renew,
    "markOrphanSuspect": mark_orphan_suspect,
    "normalRelease": normal_release,
    "forceRelease": force_release,
    "setMaxActiveRuns": set_max_active_runs,
    "readReservation": read_reservation,
    "readCommand": read_command,
    "snapshot": snapshot,
    "dispatch": dispatch,
}
