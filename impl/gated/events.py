"""Events beside transactions: a step's start and receipt, a compensation's start and receipts.

Guarantees: each goes through the same gate as a transaction, under its own key within its run; one that is
known is answered, not written again. A key that stands for an event of another kind is a conflict, so that
no start is ever taken for a receipt (M21 of the choices both tellings share).

Doesn't: change any row.
"""

from typing import Protocol

from attrs import frozen

from impl.gated.errors import CONFLICT, Context, LedgerError
from impl.gated.gate import Deps, Handle, Known, pass_gate
from impl.gated.lines import Draft
from impl.gated.records import event_request_hash, make_record
from impl.gated.values import LedgerRecord


@frozen
class Place:
    """Where an event belongs: its context, without its key."""

    run_id: str
    node_id: str
    operation_id: str
    attempt_id: str | None
    event_type: str
    phase: str


@frozen
class Recorded:
    """An event that is durable now. `fresh`: this very call has written it."""

    record: LedgerRecord
    fresh: bool


class Events(Protocol):
    """What steps and compensations need of a store."""

    def find(self, run_id: str, key: str) -> LedgerRecord | None:
        """The durable event under `key` of that run, if there is one."""

    def record(self, record: LedgerRecord) -> Recorded:
        """Make the event durable under its key, or answer the one that is."""


def event(where: Context, key: str, before: str, after: str) -> LedgerRecord:
    """The record of an event. `before` and `after` are hashes of states."""
    return make_record(where, key, before, after)


def record_event(deps: Deps, record: LedgerRecord) -> Recorded:
    """Append, mirror and commit an event, unless its key is known. Raises LedgerError."""

    def answer(_: Handle, known: Known) -> Recorded:
        # Judged before the rollback: if that fails as well, the conflict is the first error (L5).
        return Recorded(same_kind(known.record, record, exactly=True), fresh=False)

    def stage(_: Handle) -> tuple[Draft, Recorded]:
        return Draft(record, event_request_hash(record)), Recorded(record, fresh=True)

    return pass_gate(deps, record, (record.run_id, record.idempotency_key), answer, stage)


def find_event(events: Events, wanted: LedgerRecord, *, exactly: bool = False) -> LedgerRecord | None:
    """What is durable under the key of `wanted`. Raises LedgerError, also if it is of another kind."""
    try:
        found = events.find(wanted.run_id, wanted.idempotency_key)
    except LedgerError as error:
        raise error.at(wanted)  # noqa: B904 -- the very same error, told where it struck
    return None if found is None else same_kind(found, wanted, exactly=exactly)


def same_kind(found: LedgerRecord, wanted: LedgerRecord, *, exactly: bool = False) -> LedgerRecord:
    """`found`, if it is what `wanted` asks for; `exactly`: with the same content. Raises a conflict."""
    kind = (found.phase, found.event_type) if wanted.phase == "compensate" else (found.phase,)
    asked = (wanted.phase, wanted.event_type) if wanted.phase == "compensate" else (wanted.phase,)
    if kind != asked or (exactly and found.event_hash != wanted.event_hash):
        raise LedgerError(
            CONFLICT,
            f"the key {wanted.idempotency_key[:200]!r} of run {wanted.run_id[:200]!r} stands for another "
            f"event (phase {found.phase}, type {found.event_type[:200]!r}); use a key of its own for each",
            "operator",
        ).at(wanted)
    return found
