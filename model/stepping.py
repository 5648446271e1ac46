"""`step`: the whole of the model, one action at a time.

Guarantees: a function of its two arguments and nothing else; whatever the action says, an outcome comes
back, never an exception. An action that cannot happen is `Declined` and leaves the world as it was. That
goes for a disturbance as well: if one asks for an event that the surroundings would not let happen, the
whole action is declined, so that no store is ever asked to do what the model has no answer for.
"""

from typing import cast

from model import surroundings
from model.actions import Action, Call, Open, ReadEpoch, Reenters
from model.arguments import Unfit, checked
from model.operations import OPERATIONS
from model.outcomes import Accepted, Declined, Outcome, Refused
from model.running import run
from model.texts import is_integer, is_telling
from model.transaction import Transaction, Value
from model.validity import first_fault
from model.values import Host, World


def step(world: World, action: Action) -> tuple[World, Outcome]:
    """The world after `action`, and what came of it."""
    if isinstance(action, Call):
        return _call(world, action)
    if isinstance(action, Open):
        return _open(world, action)
    if isinstance(action, ReadEpoch):
        return world, _read_epoch(world)
    after = surroundings.happen(world, action)
    if isinstance(after, Declined):
        return world, after
    return after, Accepted()


def _call(world: World, action: Call) -> tuple[World, Outcome]:
    host = surroundings.host_named(world, action.host)
    if host is None:
        return world, Declined(f"there is no host {action.host}")
    values = checked(action.operation, action.arguments)
    if isinstance(values, Unfit):
        return world, Refused(values.code)
    if action.operation == "reserve" and values[0] is None:
        return world, Declined("the store would make up a random id")
    if not host.is_open:
        return world, Refused("DURABILITY_FAILED")
    operation = OPERATIONS[action.operation]

    def apply(transaction: Transaction) -> Value:
        return cast(Value, operation(transaction, *values))

    return run(
        world,
        host,
        action.operation,
        apply,
        context=action.context,
        disturbances=action.disturbances,
    )


def _nothing(_transaction: Transaction) -> None:
    return None


def _open(world: World, action: Open) -> tuple[World, Outcome]:
    if not world.damage.isdisjoint(("directory-removed", "directory-replaced")):
        return world, Declined("a new store in another directory is not this one")
    if "identity-missing" in world.damage and world.store is not None and world.store.commit_seq == 1:
        return world, Declined("it would take the missing identity for an interrupted genesis")
    if any(isinstance(each.effect, Reenters) for each in action.disturbances):
        return world, Declined("nobody holds the store that is being opened")
    before = world
    former = surroundings.host_named(world, action.host)
    if former is not None and former.is_open:
        world = surroundings.with_host(world, surroundings.closed(former))
    maximum, epoch, holder = action.initial_max_active_runs, action.epoch, action.holder_id
    if not is_integer(maximum, 1):
        return world, Refused("COMMAND_FAILED")
    if not is_integer(epoch, 1) or not is_telling(holder):
        return world, Refused("AUTHORITY_REVOKED")
    host = Host(action.host, holder, epoch, action.arbitration)
    after, outcome = run(
        world,
        host,
        "initialize",
        _nothing,
        context=None,
        disturbances=action.disturbances,
        initial_maximum=maximum,
    )
    return (before, outcome) if isinstance(outcome, Declined) else (after, outcome)


def _read_epoch(world: World) -> Outcome:
    """`read_durable_epoch`: without a host, so all that the lock suffers is nothing to it."""
    damage = {kind for kind in world.damage if not kind.startswith("lock-")}
    if damage & {"directory-removed", "directory-replaced"}:
        return Accepted(0)
    if damage:
        return Refused("DURABILITY_FAILED")
    store = world.store
    if store is None:
        return Refused("DURABILITY_FAILED") if world.identity_file else Accepted(0)
    if not world.identity_file:
        return Refused("DURABILITY_FAILED")
    fault = first_fault(store)
    return Accepted(store.fencing_epoch) if fault is None else Refused(fault)
