"""apply_receipted_steps: side effects in order, each with a durable receipt.

Guarantees: a step whose receipt is durable is never run again. A step that isn't idempotent is run only after
a durable start, and never again once it was started: without a receipt nobody knows whether it took effect,
so the answer is "in_doubt" (L2). No step runs after one whose receipt isn't durable. Ambiguous requests are
ValueErrors before anything runs (L4).

Doesn't: hold the store's lock while a step runs: a step may use the store itself.
"""

from collections import Counter
from collections.abc import Iterable

from attrs import evolve

from impl.errors import describe
from impl.gated.errors import required
from impl.gated.events import Events, Place, event, find_event, same_kind
from impl.gated.values import ApplyRequest, ApplyResult, LedgerRecord, Step


def apply_receipted_steps(handle: Events, request: ApplyRequest) -> ApplyResult:
    """Run the steps that have no receipt yet. Raises LedgerError, ValueError, and what a step raises."""
    executed: list[str] = []
    skipped: list[str] = []
    receipts: list[LedgerRecord] = []

    def in_doubt(step: Step, reason: str) -> ApplyResult:
        return ApplyResult("in_doubt", tuple(executed), tuple(skipped), tuple(receipts), step.id, reason)

    for step in _ordered(request):
        receipt = _receipt_of(request, step)
        known = find_event(handle, receipt)
        if known is not None:
            skipped.append(step.id)
            receipts.append(known)
            continue
        if not step.idempotent and not _start(handle, request, step):
            reason = (
                f"step {step.id!r} was started before and has no receipt: whether it took effect is unknown, "
                "and it isn't idempotent"
            )
            return in_doubt(step, reason)
        step.run()
        executed.append(step.id)
        try:
            receipts.append(same_kind(handle.record(receipt).record, receipt))
        except Exception as failure:  # noqa: BLE001 -- whatever failed: what counts is what is durable
            found = _durable_all_the_same(handle, receipt)
            if found is None:
                reason = f"step {step.id!r} ran, but its receipt could not be appended: {describe(failure)}"
                return in_doubt(step, reason)
            receipts.append(found)
    return ApplyResult("completed", tuple(executed), tuple(skipped), tuple(receipts))


def _start(handle: Events, request: ApplyRequest, step: Step) -> bool:
    """Make durable that the step starts. False if it was started before."""
    start = _start_of(request, step)
    if find_event(handle, start) is not None:
        return False
    try:
        recorded = handle.record(start)
    except Exception as failure:
        if _durable_all_the_same(handle, start) is None:
            message = f"the start of step {step.id!r} could not be appended; it was not run"
            raise required(message, None, failure).at(start) from failure
        return True
    same_kind(recorded.record, start)
    return recorded.fresh  # else another one started it meanwhile, and may be at it


def _durable_all_the_same(handle: Events, record: LedgerRecord) -> LedgerRecord | None:
    """The event whose append failed, if it is in the ledger; None also if that can't be told."""
    try:
        return find_event(handle, record)
    except Exception:  # noqa: BLE001 -- a look that fails shows nothing, and the first error is told
        return None


def _receipt_of(request: ApplyRequest, step: Step) -> LedgerRecord:
    return event(steps_place(request), step.receipt_id, step.before_state_hash, step.after_state_hash)


def _start_of(request: ApplyRequest, step: Step) -> LedgerRecord:
    place = evolve(steps_place(request), phase="start")
    return event(place, _start_key(step), step.before_state_hash, step.after_state_hash)


def _start_key(step: Step) -> str:
    return f"{step.receipt_id}:started"


def steps_place(request: ApplyRequest) -> Place:
    """Where errors say that they struck, if they struck no particular step."""
    return Place(
        run_id=request.run_id,
        node_id=request.node_id,
        operation_id=request.operation_id,
        attempt_id=request.attempt_id,
        event_type=request.event_type,
        phase="receipt",
    )


def _ordered(request: ApplyRequest) -> list[Step]:
    """The steps in the order of running. Raises ValueError if anything about it is ambiguous."""
    steps = request.steps
    starts = [_start_key(step) for step in steps if not step.idempotent]
    refuse_twice("step id", (step.id for step in steps))
    refuse_twice("sequence", (step.sequence for step in steps))
    refuse_twice("receipt key", [*(step.receipt_id for step in steps), *starts])
    return sorted(steps, key=lambda step: step.sequence)


def refuse_twice(what: str, values: Iterable[object]) -> None:
    """Raise ValueError if a value is there twice."""
    for value, times in Counter(values).items():
        if times > 1:
            raise ValueError(f"the {what} {str(value)[:200]!r} is there {times} times: which comes first?")
