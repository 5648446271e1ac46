"""Situations in which an invariant matters: a check that never met one has checked nothing.

Each takes a step, `(before, action, outcome, after)`, and says whether the situation occurred in it. None
of them judges; a run that has not seen them all is inconclusive.
"""

from collections.abc import Callable

from model.gated.actions import Action, ApplySteps, Compensate, Crash, OpenLedger, ReadState, Transact
from model.gated.always import lines_of
from model.gated.changes import (
    BOTH,
    answer,
    grown_by,
    in_doubt_steps,
    is_poisoned,
    known_line,
    new_effects,
)
from model.gated.outcomes import Accepted, Outcome, Raised, Refused
from model.gated.receipts import is_in_an_order
from model.gated.recovery import in_step
from model.gated.transacting import request_hash
from model.gated.values import Line, Mirror, World

Witness = Callable[[World, Action, Outcome, World], bool]


def refused_with(code: str, *recoverabilities: str) -> Witness:
    """A transaction, steps or a compensation were refused so."""

    def witness(_before: World, _action: Action, outcome: Outcome, _after: World) -> bool:
        if not isinstance(outcome, Refused) or outcome.code != code:
            return False
        return not recoverabilities or outcome.recoverability in recoverabilities

    return witness


def wrote(condition: Callable[[Line], bool]) -> Witness:
    """A line was written for which `condition` holds."""

    def witness(before: World, _action: Action, _outcome: Outcome, after: World) -> bool:
        return any(map(condition, grown_by(before, after) or ()))

    return witness


def mirror_was_behind(before: World, _action: Action, _outcome: Outcome, after: World) -> bool:
    """A line stands in the ledger that the mirror has not seen."""
    mirror = after.mirror
    return (
        before.ledger is not after.ledger
        and isinstance(mirror, Mirror)
        and len(lines_of(after)) > mirror.sequence
    )


def rows_were_removed(before: World, _action: Action, _outcome: Outcome, after: World) -> bool:
    return any(line.change.remove and line.change.set for line in grown_by(before, after) or ())


def known_key_was_asked_for(_before: World, _action: Action, outcome: Outcome, _after: World) -> bool:
    """A no-op, a step that was skipped, or a compensation started before."""
    told = answer(outcome)
    return told.get("status") == "noop" or bool(told.get("skippedStepIds"))


def known_key_was_asked_after_a_change(
    before: World, action: Action, outcome: Outcome, _after: World
) -> bool:
    """A retry met another state than its first try (L1)."""
    if not isinstance(action, Transact) or answer(outcome).get("status") != "noop":
        return False
    known = known_line(before, action)
    mirror = before.mirror
    return (
        known is not None
        and isinstance(mirror, Mirror)
        and known.record.after_state_hash != mirror.state.hash
    )


def conflict(before: World, action: Action, outcome: Outcome, _after: World) -> bool:
    if not isinstance(action, Transact) or not isinstance(outcome, Refused):
        return False
    known = known_line(before, action)
    return known is not None and known.request_hash != request_hash(action)


def started_step_was_asked_for(before: World, action: Action, outcome: Outcome, _after: World) -> bool:
    """A step that was started, without a receipt, came up again (L2)."""
    return answer(outcome).get("status") == "in_doubt" and bool(in_doubt_steps(before, action))


def durable_receipt_came_up(before: World, action: Action, outcome: Outcome, _after: World) -> bool:
    """Steps or a compensation met a receipt of their own."""
    if not isinstance(action, ApplySteps | Compensate) or not isinstance(outcome, Accepted):
        return False
    names = {line.name for line in lines_of(before)}
    if isinstance(action, ApplySteps):
        return any((action.run_id, step.receipt_id) in names for step in action.steps)
    return any((action.run_id, f"{action.idempotency_key}:{step.id}") in names for step in action.steps)


def two_ran(before: World, _action: Action, _outcome: Outcome, after: World) -> bool:
    return len(new_effects(before, after)) > 1


def something_ran(kind: str, *, idempotent: bool) -> Witness:
    def witness(before: World, _action: Action, _outcome: Outcome, after: World) -> bool:
        return any(each.kind == kind and each.idempotent is idempotent for each in new_effects(before, after))

    return witness


def stopped_with_more_to_come(_before: World, action: Action, outcome: Outcome, _after: World) -> bool:
    told = answer(outcome)
    if not isinstance(action, ApplySteps) or told.get("status") != "in_doubt":
        return False
    stopped = next(step for step in action.steps if step.id == told["stoppedAtStepId"])
    return any(step.sequence > stopped.sequence for step in action.steps)


def all_was_done(_before: World, action: Action, outcome: Outcome, _after: World) -> bool:
    return (
        isinstance(action, ApplySteps | Compensate)
        and bool(action.steps)
        and answer(outcome).get("status") in ("completed", "rolled_back")
    )


def committed(_before: World, _action: Action, outcome: Outcome, _after: World) -> bool:
    return answer(outcome).get("status") == "committed"


def grew(before: World, _action: Action, _outcome: Outcome, after: World) -> bool:
    """A line was written after another."""
    return bool(lines_of(before)) and bool(grown_by(before, after))


def failed_after_its_append(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    return isinstance(action, Transact) and isinstance(outcome, Refused) and bool(grown_by(before, after))


def poisoned_client_asked(before: World, action: Action, outcome: Outcome, _after: World) -> bool:
    called = isinstance(action, Transact | ApplySteps | Compensate | ReadState)
    return called and is_poisoned(before, action) and isinstance(outcome, Refused)


def bad_request(_before: World, action: Action, outcome: Outcome, _after: World) -> bool:
    """Steps that nothing puts in order (L4)."""
    raised = isinstance(outcome, Raised) and isinstance(action, ApplySteps | Compensate)
    return raised and isinstance(action, ApplySteps | Compensate) and not is_in_an_order(action)


def applied_for_good(_before: World, action: Action, outcome: Outcome, _after: World) -> bool:
    refused = isinstance(outcome, Refused) and outcome.code == "COMPENSATION_FAILED"
    return (
        refused
        and isinstance(action, Compensate)
        and any(each.applied and not each.idempotent for each in action.steps)
    )


def something_to_recover(before: World, action: Action, outcome: Outcome, _after: World) -> bool:
    """A store was opened whose files were not in step."""
    if not isinstance(action, OpenLedger) or not isinstance(outcome, Accepted):
        return False
    return not isinstance(before.mirror, Mirror) or not in_step(before.ledger, before.mirror)


def opened_with_something_acknowledged(
    before: World, action: Action, outcome: Outcome, _after: World
) -> bool:
    """After one file was tampered with, an opening succeeded that had something to lose."""
    if not isinstance(action, OpenLedger) or not isinstance(outcome, Accepted):
        return False
    return bool(before.acknowledged) and bool(before.wounds) and before.wounds != BOTH


def acknowledged_and_opened(before: World, action: Action, outcome: Outcome, _after: World) -> bool:
    return isinstance(action, OpenLedger) and isinstance(outcome, Accepted) and bool(before.acknowledged)


def died_in_a_transaction(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    """And left something of it in the ledger."""
    return (
        isinstance(action, Crash)
        and isinstance(action.inside, Transact)
        and isinstance(outcome, Accepted)
        and before.ledger != after.ledger
    )


def left_in_doubt(_before: World, action: Action, outcome: Outcome, after: World) -> bool:
    return (
        isinstance(action, Transact)
        and isinstance(outcome, Refused)
        and outcome.recoverability == "in_doubt"
        and not after.wounds
    )


def store_is_out_of_step(before: World, _action: Action, _outcome: Outcome, after: World) -> bool:
    """A poisoned client, a torn tail or a mirror behind: something that has to be got out of."""
    if after.wounds or before is after:
        return False
    behind = isinstance(after.mirror, Mirror) and not in_step(after.ledger, after.mirror)
    return behind or any(each.poisoned for each in after.clients)
