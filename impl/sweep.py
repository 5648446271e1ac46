"""Step 7: what becomes of reservations whose time has passed.

Guarantees: only proof moves a row: a proven admission commits it, a durable abandonment expires it. A
plain "not admitted" never frees a slot, since the run could still be admitted a moment later; nor does a
callback that fails or names something else. A row whose commit would give one run two slots stays (C8).

Doesn't: touch committed or orphan-suspect rows. Time never frees those.
"""

from typing import Final

from attrs import evolve

from impl.authority import Abandonment, Admission, abandonment_of, admission_of
from impl.errors import CoordinatorError
from impl.values import Reservation, Row
from impl.work import Work

_SKIP: Final = object()


def sweep(work: Work) -> None:
    """Judge each due row, in the order of the file. Raises only if the clock or the fence fails."""
    at = work.look()
    due = [row for row in work.rows.values() if _is_due(row.reservation, at)]
    for row in due:
        answer = _evidence(work, row.reservation)
        if answer is _SKIP:
            continue
        seen_at = work.look()
        work.fence()
        _judge(work, row, answer, seen_at)


def _is_due(reservation: Reservation, at: int) -> bool:
    expires_at = reservation.reserved_expires_at
    return reservation.state == "reserved" and expires_at is not None and expires_at <= at


def _evidence(work: Work, reservation: Reservation) -> object:
    """What the project says. A failure skips the row: an unavailable ledger retains its slot."""
    try:
        answer = work.read_admission(reservation)
        if admission_of(answer) is None and work.can_arbitrate:
            work.fence()
            answer = work.abandon_admission(reservation)
    except CoordinatorError as error:
        if error is work.clock_error:
            raise
        work.look()
        return _SKIP
    return answer


def _judge(work: Work, row: Row, answer: object, seen_at: int) -> None:
    proof: Admission | Abandonment | None = admission_of(answer) or abandonment_of(answer)
    if proof is None or not proof.names(row.reservation):
        return
    if isinstance(proof, Abandonment):
        expired = evolve(row.reservation, state="expired", reserved_expires_at=None)
        work.put(row, expired, updated_at=seen_at)
        return
    if work.binding_is_taken(row):
        return
    committed = evolve(
        row.reservation,
        state="committed",
        project_admit_commit_seq=proof.project_admit_commit_seq,
        coordinator_epoch=work.epoch,
        reserved_expires_at=None,
    )
    work.put(row, committed, admit_run_version=proof.run_version, updated_at=seen_at)
