"""`apply_receipted_steps` and `run_gated_compensation`: side effects with a durable trace of each.

A line of theirs changes no row. It goes the way of every transaction: ledger first, mirror second. A failure
after it stands in the ledger is none: durable means in the ledger, so the store is asked once more.
"""

from collections.abc import Sequence
from typing import Final

from model.gated import lines
from model.gated.actions import ApplySteps, Compensate, CompensationStep, Step
from model.gated.running import Ending, Passing, Refusal, Running
from model.gated.texts import is_name
from model.gated.values import Effect, Line, Record
from model.values import JSON

COMPENSATING: Final = "scheduler.node.compensating"
COMPENSATED: Final = "scheduler.node.compensation.receipt"


def _is_named(action: ApplySteps | Compensate, *more: str) -> bool:
    named = (action.run_id, action.node_id, action.operation_id, *more)
    return all(map(is_name, named)) and (action.attempt_id is None or is_name(action.attempt_id))


def _all_differ(values: Sequence[str | int]) -> bool:
    return len(set(values)) == len(values)


def is_well_formed(action: ApplySteps | Compensate) -> bool:
    """The parts of a request can be made; else making one is a ValueError."""
    if isinstance(action, Compensate):
        hashes = (action.idempotency_key, action.before_state_hash, action.after_state_hash)
        return _is_named(action, *hashes) and all(is_name(step.id) for step in action.steps)
    return _is_named(action, action.event_type) and all(
        map(
            is_name,
            (
                text
                for step in action.steps
                for text in (step.id, step.receipt_id, step.before_state_hash, step.after_state_hash)
            ),
        )
    )


def started(step: Step) -> str:
    return f"{step.receipt_id}:started"


def is_in_an_order(action: ApplySteps | Compensate) -> bool:
    """L4: no two steps of an id, of a sequence, or that would write the same key."""
    if not _all_differ([step.id for step in action.steps]):
        return False
    if not _all_differ([step.sequence for step in action.steps]):
        return False
    if isinstance(action, Compensate):
        return True
    keys = [step.receipt_id for step in action.steps]
    return _all_differ(keys + [started(step) for step in action.steps if not step.idempotent])


def _entry(
    action: ApplySteps | Compensate, kind: str, phase: str, key: str, states: tuple[str, str]
) -> Record:
    return lines.record(
        operation_id=action.operation_id,
        run_id=action.run_id,
        node_id=action.node_id,
        event_type=kind,
        phase=phase,
        idempotency_key=key,
        attempt_id=action.attempt_id,
        before=states[0],
        after=states[1],
    )


def _record(running: Running, entry: Record) -> Line:
    """The line of this record: the one that is known, or a new one."""
    requested = lines.request_hash(
        operation_id=entry.operation_id,
        run_id=entry.run_id,
        node_id=entry.node_id,
        event_type=entry.event_type,
        phase=entry.phase,
        idempotency_key=entry.idempotency_key,
        attempt_id=entry.attempt_id,
    )

    def judge(known: Line) -> None:
        if known.record.event_hash != entry.event_hash:
            raise Refusal("IDEMPOTENCY_CONFLICT", "operator")

    def build() -> Line:
        mirror = running.found()
        return lines.sealed(mirror.sequence + 1, entry, requested, lines.NOTHING, mirror.head)

    line, _ = running.gated(lines.name_of(entry), judge, build)
    return line


def _look(running: Running, entry: Record) -> Line | None:
    """The durable line in the place of this record; one of another kind is a conflict."""
    running.sync()
    known = running.find(lines.name_of(entry))
    if known is None:
        return None
    same = known.record.phase == entry.phase
    if same and entry.phase == "compensate":
        same = known.record.event_type == entry.event_type
    if not same:
        raise Refusal("IDEMPOTENCY_CONFLICT", "operator")
    return known


def _durable_all_the_same(running: Running, entry: Record) -> Line | None:
    try:
        known = _look(running, entry)
    except Refusal:
        return None
    return known if known is None or known.record.event_hash == entry.event_hash else None


def _required(running: Running, entry: Record) -> Line:
    """A line without which nothing may go on."""
    try:
        return _record(running, entry)
    except Refusal as refusal:
        if refusal.code == "IDEMPOTENCY_CONFLICT":
            raise
        line = _durable_all_the_same(running, entry)
        if line is not None:
            return line
        refusal.code = "LEDGER_APPEND_REQUIRED_FAILED"
        raise


def apply_steps(running: Running, action: ApplySteps) -> JSON:
    if not is_well_formed(action):
        raise Passing("value-error")
    running.usable()
    if not is_in_an_order(action):
        raise Passing("value-error")
    executed: list[JSON] = []
    skipped: list[JSON] = []
    receipts: list[Line] = []

    def result(stopped: Step | None = None) -> JSON:
        running.acknowledge()
        form: dict[str, JSON] = {
            "status": "completed" if stopped is None else "in_doubt",
            "executedStepIds": executed,
            "skippedStepIds": skipped,
            "receipts": [lines.record_to_json(line.record) for line in receipts],
        }
        return form if stopped is None else {**form, "stoppedAtStepId": stopped.id}

    for step in sorted(action.steps, key=lambda each: each.sequence):
        states = (step.before_state_hash, step.after_state_hash)
        entry = _entry(action, action.event_type, "receipt", step.receipt_id, states)
        known = _look(running, entry)
        if known is not None:
            skipped.append(step.id)
            receipts.append(known)
            continue
        if not step.idempotent:
            start = _entry(action, action.event_type, "start", started(step), states)
            if _look(running, start) is not None:
                return result(step)
            _required(running, start)
        running.run(Effect(action.run_id, step.receipt_id, "step", step.idempotent), step.raises)
        executed.append(step.id)
        try:
            receipts.append(_record(running, entry))
        except Refusal:
            line = _durable_all_the_same(running, entry)
            if line is None:
                return result(step)
            receipts.append(line)
    return result()


def compensate(running: Running, action: Compensate) -> JSON:
    if not is_well_formed(action):
        raise Passing("value-error")
    running.usable()
    if not is_in_an_order(action):
        raise Passing("value-error")
    if any(step.applied and not step.idempotent for step in action.steps):
        raise Refusal("COMPENSATION_FAILED", "in_doubt")
    states = (action.before_state_hash, action.after_state_hash)
    _required(running, _entry(action, COMPENSATING, "compensate", action.idempotency_key, states))
    executed: list[JSON] = []
    receipts: list[Line] = []
    able = (step for step in action.steps if step.idempotent)
    for step in sorted(able, key=lambda each: -each.sequence):
        key = f"{action.idempotency_key}:{step.id}"
        entry = _entry(action, COMPENSATED, "compensate", key, states)
        known = _look(running, entry)
        if known is None:
            _undo(running, action, step, key)
            executed.append(step.id)
            try:
                known = _required(running, entry)
            except Refusal as refusal:
                refusal.recoverability = "in_doubt"
                raise
        receipts.append(known)
    running.acknowledge()
    return {
        "status": "rolled_back",
        "executedStepIds": executed,
        "receipts": [lines.record_to_json(line.record) for line in receipts],
    }


def _undo(running: Running, action: Compensate, step: CompensationStep, key: str) -> None:
    try:
        running.run(Effect(action.run_id, key, "compensator", step.idempotent), step.raises)
    except Ending as ending:
        raise Refusal("COMPENSATION_FAILED", "in_doubt") from ending
