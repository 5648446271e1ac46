"""Nothing gets stuck: whatever has happened, somebody can open the store and go on, and here that is tried.

The predicates take steps of their own, by `step`, with no faults: a new client opens the store and runs a
transaction; a client that was left in doubt asks again. While a file is wounded nothing is promised.
"""

from attrs import evolve

from model.gated.actions import Action, OpenLedger, Transact
from model.gated.always import acknowledged_is_durable, lines_of
from model.gated.outcomes import Accepted, Outcome, Raised, Refused
from model.gated.stepping import step
from model.gated.values import World

_RESCUER = "rescuer"
_SETTLED = frozenset({"IDEMPOTENCY_CONFLICT", "VERIFY_GATE_FAILED"})


def somebody_can_go_on(world: World) -> bool:
    """A new client opens the store, finds all that was acknowledged, and commits."""
    if world.wounds:
        return True
    opened, outcome = step(evolve(world, clients=()), OpenLedger(_RESCUER))
    if not isinstance(outcome, Accepted) or not acknowledged_is_durable(opened):
        return False
    key = f"rescue-{len(lines_of(opened))}"
    request = Transact(_RESCUER, "rescue", "rescue", "rescue", "rescue", "commit", key, {"set": {}})
    after, outcome = step(opened, request)
    return isinstance(outcome, Accepted) and len(lines_of(after)) == len(lines_of(opened)) + 1


def doubt_can_be_settled(_before: World, action: Action, outcome: Outcome, after: World) -> bool:
    """Whoever opens the store anew and asks again is told what has become of the transaction."""
    if not isinstance(action, Transact) or not isinstance(outcome, Refused) or after.wounds:
        return True
    if outcome.recoverability != "in_doubt":
        return True
    opened, _ = step(after, OpenLedger(action.client))
    _, settled = step(opened, evolve(action, faults=()))
    if isinstance(settled, Refused):
        return settled.code in _SETTLED
    return isinstance(settled, Accepted | Raised)
