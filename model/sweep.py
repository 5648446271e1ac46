"""The sweep: expired reservations become committed or expired, if their project proves which.

Time alone decides nothing here. A row that is due is asked about; it leaves its slot only on a durable
abandonment, and goes on holding it where nothing is proven, where the answer is about something else, or
where asking failed.
"""

from attrs import evolve

from model.answers import Abandonment, Admission
from model.callbacks import ClockWentBackError, RefusalError
from model.transaction import Transaction
from model.values import Row


def sweep(transaction: Transaction) -> None:
    """Step 7; raises `RefusalError` where the clock or the fence after a row's calls refuses."""
    start = transaction.look()
    for row in transaction.rows:
        if row.state != "reserved" or row.reserved_expires_at is None or row.reserved_expires_at > start:
            continue
        try:
            verdict = _ask(transaction, row)
        except ClockWentBackError:
            raise
        except RefusalError:
            transaction.look()
            continue
        asked_at = transaction.look()
        transaction.fence()
        if verdict is None or not verdict.names(row):
            continue
        if isinstance(verdict, Abandonment):
            transaction.put(row, evolve(row, state="expired", reserved_expires_at=None, updated_at=asked_at))
        elif not transaction.binding_is_taken(row):
            transaction.put(row, _admitted(transaction, row, verdict, asked_at))


def _ask(transaction: Transaction, row: Row) -> Admission | Abandonment | None:
    verdict = transaction.read_admission(row)
    if isinstance(verdict, Admission) or not transaction.host.arbitration:
        return verdict
    transaction.fence()
    return transaction.arbitrate(row)


def _admitted(transaction: Transaction, row: Row, proof: Admission, asked_at: int) -> Row:
    return evolve(
        row,
        state="committed",
        project_admit_commit_seq=proof.commit_seq,
        admit_run_version=proof.run_version,
        coordinator_epoch=transaction.host.epoch,
        reserved_expires_at=None,
        updated_at=asked_at,
    )
