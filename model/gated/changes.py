"""Predicates over one step: what an action may and may not change.

They compare what was durable before with what is durable after. What somebody does to the files behind the
store's back (`Tamper`) is not the store's change, and nothing here judges it.
"""

from typing import Any, Final, cast

from model.gated.actions import (
    Action,
    ApplySteps,
    Compensate,
    Crash,
    OpenLedger,
    ReadState,
    Step,
    Tamper,
    Transact,
)
from model.gated.always import line_named, lines_of
from model.gated.lines import fold, record_to_json
from model.gated.outcomes import Accepted, Declined, Outcome, Raised, Refused
from model.gated.receipts import is_in_an_order, started
from model.gated.transacting import is_well_formed, request_hash
from model.gated.values import Effect, LedgerFile, Line, Mirror, World

BOTH: Final = frozenset({"ledger", "mirror"})


def grown_by(before: World, after: World) -> tuple[Line, ...] | None:
    """The lines that are new; `None` if old ones are gone or not where they were."""
    if before.ledger is after.ledger:
        return ()
    old, new = lines_of(before), lines_of(after)
    return new[len(old) :] if new[: len(old)] == old else None


def new_effects(before: World, after: World) -> tuple[Effect, ...]:
    return after.effects[len(before.effects) :]


def answer(outcome: Outcome) -> dict[str, Any]:
    """What an accepted action answered, as far as it is an object."""
    if isinstance(outcome, Accepted) and isinstance(outcome.value, dict):
        return cast(dict[str, Any], outcome.value)
    return {}


def ledger_only_grows(before: World, action: Action, _outcome: Outcome, after: World) -> bool:
    """But for a last line that never was one, which opening may cut off."""
    return isinstance(action, Tamper) or grown_by(before, after) is not None


def commits_append_one(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    """One line for a committed transaction, none for a no-op, a reading, an opening."""
    if not isinstance(action, Transact | ReadState | OpenLedger) or not isinstance(outcome, Accepted):
        return True
    new = grown_by(before, after)
    committed = answer(outcome).get("status") == "committed" and isinstance(action, Transact)
    if new is None or len(new) != int(committed):
        return False
    return not committed or record_to_json(new[0].record) == answer(outcome)["record"]


def refusals_append_nothing(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    """Unless the transaction is in doubt: then its own line can be there, and no other."""
    if not isinstance(action, Transact) or not isinstance(outcome, Refused | Raised):
        return True
    new = grown_by(before, after)
    if new is None:
        return False
    if isinstance(outcome, Refused) and outcome.recoverability == "in_doubt":
        return len(new) <= 1 and all(line.name == ("", action.idempotency_key) for line in new)
    return not new


def failures_commit_nothing(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    """The mirror of a transaction that failed has seen at most what was durable before it."""
    failed = isinstance(outcome, Refused | Raised) or answer(outcome).get("status") == "noop"
    if not isinstance(action, Transact) or not failed or before.mirror is after.mirror:
        return True
    mirror = after.mirror
    return isinstance(mirror, Mirror) and mirror.lines == lines_of(before)[: mirror.sequence]


def known_line(before: World, action: Transact) -> Line | None:
    return line_named(before, ("", action.idempotency_key))


def retries_get_their_answer(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    """The same request again: its stored record, the present state, and nobody calls `mutate`."""
    if before.wounds or not isinstance(action, Transact) or not is_well_formed(action):
        return True
    known = known_line(before, action)
    if known is None or known.request_hash != request_hash(action):
        return True
    if isinstance(outcome, Raised):
        return False
    if not isinstance(outcome, Accepted):
        return True
    told = answer(outcome)
    return (
        told["status"] == "noop"
        and told["applied"] is False
        and told["record"] == record_to_json(known.record)
        and told["state"] == fold(lines_of(after)).as_json()
    )


def other_requests_conflict(before: World, action: Action, outcome: Outcome, _after: World) -> bool:
    """A known key with another request is never answered, and never asks `mutate`."""
    if before.wounds or not isinstance(action, Transact) or not is_well_formed(action):
        return True
    known = known_line(before, action)
    if known is None or known.request_hash == request_hash(action):
        return True
    return isinstance(outcome, Refused | Declined)


def in_doubt_steps(before: World, action: Action) -> list[Step]:
    """Steps of this action that were started and have no receipt."""
    if not isinstance(action, ApplySteps):
        return []
    names = {line.name for line in lines_of(before)}
    return [
        step
        for step in action.steps
        if not step.idempotent
        and (action.run_id, started(step)) in names
        and (action.run_id, step.receipt_id) not in names
    ]


def doubt_is_said(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    """A step that was started, without a receipt: it does not run, and nobody says `completed`."""
    doubtful = in_doubt_steps(before, action)
    if before.wounds or not doubtful:
        return True
    keys = {step.receipt_id for step in doubtful}
    if any(each.key in keys for each in new_effects(before, after)):
        return False
    return answer(outcome).get("status") != "completed"


def receipts_are_not_run_again(before: World, _action: Action, _outcome: Outcome, after: World) -> bool:
    new = new_effects(before, after)
    if before.wounds or not new:
        return True
    names = {line.name for line in lines_of(before)}
    return all((each.run_id, each.key) not in names for each in new)


def steps_run_in_order(before: World, action: Action, _outcome: Outcome, after: World) -> bool:
    """Steps in the order of their sequences, compensators against it."""
    call = action.inside if isinstance(action, Crash) else action
    keys = [each.key for each in new_effects(before, after)]
    if isinstance(call, ApplySteps):
        order = {step.receipt_id: step.sequence for step in call.steps}
    elif isinstance(call, Compensate):
        order = {f"{call.idempotency_key}:{step.id}": -step.sequence for step in call.steps}
    else:
        return not keys
    ran = [order[key] for key in keys if key in order]
    return len(ran) == len(keys) and ran == sorted(set(ran))


def nothing_runs_after_a_doubt(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    """A result that is in doubt names the step at which all has stopped."""
    told = answer(outcome)
    if not isinstance(action, ApplySteps) or told.get("status") != "in_doubt":
        return True
    stopped = next((step for step in action.steps if step.id == told.get("stoppedAtStepId")), None)
    later = {step.receipt_id for step in action.steps if stopped and step.sequence > stopped.sequence}
    return stopped is not None and all(each.key not in later for each in new_effects(before, after))


def completed_means_receipts(_before: World, action: Action, outcome: Outcome, after: World) -> bool:
    """Who is told that all is done can find a receipt for each step, and a start for a compensation."""
    told = answer(outcome)
    if after.wounds or told.get("status") not in ("completed", "rolled_back"):
        return True
    names = {line.name for line in lines_of(after)}
    if isinstance(action, ApplySteps):
        return all((action.run_id, step.receipt_id) in names for step in action.steps)
    assert isinstance(action, Compensate)
    key = action.idempotency_key
    keys = [key, *(f"{key}:{step.id}" for step in action.steps if step.idempotent)]
    return all((action.run_id, each) in names for each in keys)


def no_means_no(before: World, action: Action, _outcome: Outcome, after: World) -> bool:
    """Nothing is appended in phase `verify` unless the verifier says yes."""
    call = action.inside if isinstance(action, Crash) else action
    if not isinstance(call, Transact) or call.phase != "verify" or call.verifier is True:
        return True
    return not grown_by(before, after)


def damage_is_left_alone(before: World, _action: Action, outcome: Outcome, after: World) -> bool:
    """A refusal for integrity changes no byte of the ledger and no row of the mirror."""
    if not isinstance(outcome, Refused) or outcome.code != "LEDGER_INTEGRITY_FAILED":
        return True
    return after.ledger == before.ledger and after.mirror == before.mirror


def is_poisoned(world: World, action: Action) -> bool:
    client = getattr(action, "client", None)
    return any(each.poisoned for each in world.clients if each.name == client)


def poison_lasts(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    """A client that could not take back what it had written does nothing more until it opens anew."""
    if not isinstance(action, Transact | ApplySteps | Compensate | ReadState):
        return True
    if not is_poisoned(before, action):
        return True
    refused = Refused("LEDGER_APPEND_REQUIRED_FAILED", "operator")
    return before == after and (outcome == refused or isinstance(outcome, Raised | Declined))


def bad_requests_do_nothing(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    """L4 and its like: a ValueError before anything runs or is written."""
    if not isinstance(action, ApplySteps | Compensate):
        return True
    if isinstance(outcome, Raised) and outcome.kind == "value-error":
        return before == after
    return is_in_an_order(action) or (isinstance(outcome, Refused | Declined) and before == after)


def applied_for_good(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    """What was applied and is not idempotent is not compensated; nothing runs, nothing is written."""
    if not isinstance(action, Compensate) or all(
        each.idempotent or not each.applied for each in action.steps
    ):
        return True
    return before == after and not isinstance(outcome, Accepted)


def recovery_converges(_before: World, action: Action, outcome: Outcome, after: World) -> bool:
    """After an opening, the mirror has seen the whole ledger and is its fold; no piece of a line is left."""
    if not isinstance(action, OpenLedger) or not isinstance(outcome, Accepted):
        return True
    ledger, mirror = after.ledger, after.mirror
    return (
        isinstance(ledger, LedgerFile)
        and isinstance(mirror, Mirror)
        and not ledger.tail
        and mirror.lines == ledger.entries
        and mirror.size == ledger.size
        and mirror.state == fold(mirror.lines)
    )


def nothing_is_lost_in_silence(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    """An opening that succeeds has all that was acknowledged, unless both files were tampered with."""
    if not isinstance(action, OpenLedger) or not isinstance(outcome, Accepted) or before.wounds == BOTH:
        return True
    return before.acknowledged <= {line.hash for line in lines_of(after)}


def a_crash_is_before_or_after(before: World, action: Action, _outcome: Outcome, after: World) -> bool:
    """A client that dies in a transaction leaves its line whole, torn or not at all, and no other."""
    if not isinstance(action, Crash) or not isinstance(action.inside, Transact):
        return True
    new = grown_by(before, after)
    return (
        new is not None
        and len(new) <= 1
        and all(line.name == ("", action.inside.idempotency_key) for line in new)
    )


_TABLE: Final[dict[str, frozenset[str]]] = {
    "LEDGER_APPEND_REQUIRED_FAILED": frozenset({"retry", "rollback", "in_doubt", "operator"}),
    "LEDGER_INTEGRITY_FAILED": frozenset({"operator"}),
    "SQLITE_MIRROR_FAILED": frozenset({"retry", "in_doubt"}),
    "SQLITE_COMMIT_AFTER_LEDGER_FAILED": frozenset({"in_doubt"}),
    "IDEMPOTENCY_CONFLICT": frozenset({"operator"}),
    "VERIFY_GATE_FAILED": frozenset({"rollback"}),
    "COMPENSATION_FAILED": frozenset({"in_doubt"}),
}


def refusals_say_what_to_do(_before: World, _action: Action, outcome: Outcome, _after: World) -> bool:
    return not isinstance(outcome, Refused) or outcome.recoverability in _TABLE[outcome.code]
