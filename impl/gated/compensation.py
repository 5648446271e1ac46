"""run_gated_compensation: undo what was done, in reverse order, once.

Guarantees: nothing runs if a step that isn't idempotent was applied, and nothing before the durable start.
Only idempotent compensators run, the last first, each followed by its durable receipt. Asking again after a
crash writes no second start and no second receipt, and runs no compensator that has a receipt (L3).

Doesn't: hold the store's lock while a compensator runs.
"""

from attrs import evolve

from impl.errors import describe
from impl.gated.errors import COMPENSATION_FAILED, CONFLICT, LedgerError, Recoverability, required
from impl.gated.events import Events, Place, event, find_event, same_kind
from impl.gated.steps import refuse_twice
from impl.gated.values import (
    COMPENSATING_EVENT,
    COMPENSATION_RECEIPT_EVENT,
    CompensationRequest,
    CompensationResult,
    CompensationStep,
    LedgerRecord,
)


def run_gated_compensation(handle: Events, request: CompensationRequest) -> CompensationResult:
    """Compensate the steps. Raises LedgerError, ValueError for ambiguous requests."""
    refuse_twice("step id", (step.id for step in request.steps))
    refuse_twice("sequence", (step.sequence for step in request.steps))
    place = compensation_place(request)
    for step in request.steps:
        if not step.idempotent and step.applied:
            raise LedgerError(
                COMPENSATION_FAILED,
                f"step {step.id!r} was applied and isn't idempotent: it can't be undone automatically",
                "in_doubt",
            ).at(place)
    _start(handle, _event(request, place, request.idempotency_key))
    executed: list[str] = []
    receipts: list[LedgerRecord] = []
    for step in sorted(request.steps, key=lambda step: step.sequence, reverse=True):
        if not step.idempotent:
            continue
        receipt = _event(
            request,
            evolve(place, event_type=COMPENSATION_RECEIPT_EVENT),
            f"{request.idempotency_key}:{step.id}",
        )
        known = find_event(handle, receipt)
        if known is None:
            _run(step, place)
            executed.append(step.id)
            known = _required(handle, receipt, f"compensator {step.id!r} ran, but its receipt", "in_doubt")
        receipts.append(known)
    return CompensationResult("rolled_back", tuple(executed), tuple(receipts))


def _run(step: CompensationStep, place: Place) -> None:
    try:
        step.run()
    except Exception as error:
        raise LedgerError(
            COMPENSATION_FAILED, f"compensator {step.id!r} failed: {describe(error)}", "in_doubt", cause=error
        ).at(place) from error


def _start(handle: Events, start: LedgerRecord) -> None:
    _required(handle, start, "no compensator was run: the start", None, exactly=True)


def _required(
    handle: Events, record: LedgerRecord, what: str, worst: Recoverability | None, *, exactly: bool = False
) -> LedgerRecord:
    """Make an event durable, or raise. `worst`: how it is told, if not as what failed tells it itself."""
    try:
        return same_kind(handle.record(record).record, record, exactly=exactly)
    except Exception as failure:
        if isinstance(failure, LedgerError) and failure.code == CONFLICT and worst is None:
            raise
        found = _durable_all_the_same(handle, record, exactly=exactly)
        if found is not None:
            return found
        raise required(f"{what} could not be appended", worst, failure).at(record) from failure


def _durable_all_the_same(handle: Events, record: LedgerRecord, *, exactly: bool) -> LedgerRecord | None:
    try:
        return find_event(handle, record, exactly=exactly)
    except Exception:  # noqa: BLE001 -- a look that fails shows nothing, and the first error is told
        return None


def _event(request: CompensationRequest, place: Place, key: str) -> LedgerRecord:
    return event(place, key, request.before_state_hash, request.after_state_hash)


def compensation_place(request: CompensationRequest) -> Place:
    """Where errors say that they struck."""
    return Place(
        run_id=request.run_id,
        node_id=request.node_id,
        operation_id=request.operation_id,
        attempt_id=request.attempt_id,
        event_type=COMPENSATING_EVENT,
        phase="compensate",
    )
