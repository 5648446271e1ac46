"""The JSON forms of actions, outcomes, lines and worlds, in the specification's own terms.

A result of `transact` is `{status, applied, record, state}`; of `apply_steps` `{status, executedStepIds,
skippedStepIds, receipts}` and, in doubt, `stoppedAtStepId` (its reason is a text for people, which the model
leaves out); of `compensate` `{status, executedStepIds, receipts}`; of `state` the rows; of opening the
recovery's report `{cutBytes, replayedEvents, mirror, setAside}`, `setAside` being whether any file was.
"""

from model.gated.action_forms import action_from_json, action_to_json
from model.gated.lines import change_to_json, line_to_json, record_to_json
from model.gated.outcomes import Accepted, Outcome, Raised, Refused
from model.gated.values import LedgerFile, Line, Mirror, World
from model.gated.world_forms import world_from_json, world_to_json
from model.values import JSON

__all__ = [
    "action_from_json",
    "action_to_json",
    "change_to_json",
    "line_to_json",
    "outcome_to_json",
    "record_to_json",
    "store_to_json",
    "world_from_json",
    "world_to_json",
]


def outcome_to_json(outcome: Outcome) -> dict[str, JSON]:
    if isinstance(outcome, Accepted):
        return {"accepted": outcome.value}
    if isinstance(outcome, Refused):
        form: dict[str, JSON] = {"refused": outcome.code, "recoverability": outcome.recoverability}
    elif isinstance(outcome, Raised):
        form = {"raised": outcome.kind}
    else:
        return {"declined": outcome.reason}
    if outcome.rollback_failed:
        form["rollbackFailed"] = True
    return form


def store_to_json(world: World) -> dict[str, JSON]:
    """What an independent reader finds in the two files: for comparison after every action.

    `ledger` has the hash of each valid line and `None` for each that is not; `tail` counts the bytes after
    the last newline. `mirror` is `{sequence, head, size, state}`, or one word for a mirror that is none.
    """
    ledger = world.ledger or LedgerFile()
    mirror = world.mirror
    return {
        "ledger": [each.hash if isinstance(each, Line) else None for each in ledger.entries],
        "tail": len(ledger.tail),
        "size": ledger.size,
        "mirror": {
            "sequence": mirror.sequence,
            "head": mirror.head,
            "size": mirror.size,
            "state": mirror.state.as_json(),
        }
        if isinstance(mirror, Mirror)
        else mirror,
    }
