"""One transaction: what every operation has in common, in the order that decides which error a caller sees.

`run` takes a world, a host and what the operation does, and gives the world after it and the outcome. The
order is the specification's, steps 1 to 12; the mutex makes a transaction atomic, so nothing but its own
callbacks can come between two steps. What happens in the surroundings meanwhile, a `Disturbance`, strikes
when a callback is called, and once more just before the state file is renamed.
"""

from collections.abc import Callable
from typing import Final

from attrs import evolve

from model import surroundings
from model.actions import Disturbance
from model.callbacks import ImpossibleError, RefusalError
from model.outcomes import Accepted, Declined, Outcome, Refused
from model.sweep import sweep
from model.transaction import Transaction, Value
from model.values import Host, Snapshot, World

Apply = Callable[[Transaction], Value]


def _steps(transaction: Transaction, context: str | None, initial_maximum: int, apply: Apply) -> Value:
    """Steps 2 to 11; raises `RefusalError` where one of them refuses."""
    transaction.read_store(initial_maximum)
    transaction.now = transaction.look()
    transaction.fence()
    if context is not None:
        transaction.identity = transaction.authorize(context)
        if transaction.identity is None:
            raise RefusalError("AUTHORITY_REVOKED")
    sweep(transaction)
    value = apply(transaction)
    if context is not None and transaction.authorize(context) != transaction.identity:
        raise RefusalError("AUTHORITY_REVOKED")
    transaction.check_files()
    transaction.fence()
    transaction.publish(transaction.look())
    if isinstance(value, Snapshot):
        assert transaction.base is not None
        value = evolve(value, commit_seq=transaction.base.commit_seq)
    return value if transaction.launch is None else transaction.activate()


_FOUND_BEFORE_CLEANING: Final = ("directory-", "lock-")


def _is_noticed_before_cleaning(kind: str) -> bool:
    return kind.startswith(_FOUND_BEFORE_CLEANING) or kind.endswith("-symlink")


def run(
    world: World,
    host: Host,
    operation: str,
    apply: Apply,
    *,
    context: str | None,
    disturbances: tuple[Disturbance, ...] = (),
    initial_maximum: int = 0,
) -> tuple[World, Outcome]:
    """One transaction of `host`, which is open; with no `context` it is `initialize`.

    The world that comes back has the host as it is afterwards, unless it was opening and was refused.
    """
    opening = context is None
    before = world
    if world.temps and not any(map(_is_noticed_before_cleaning, world.damage)):
        world = evolve(world, temps=0)
    if world.damage:
        return world, Refused("DURABILITY_FAILED")
    transaction = Transaction(world, host, operation, disturbances, opening)
    outcome: Outcome
    try:
        outcome = Accepted(_steps(transaction, context, initial_maximum, apply))
    except RefusalError as refusal:
        if refusal.code != "DURABILITY_FAILED" and surroundings.directory_is_away(transaction.world):
            return before, Declined(
                "whether a directory that is gone can be synced for a refusal is left open"
            )
        outcome = Refused(refusal.code, refusal.side_effects)
    except ImpossibleError as impossible:
        return before, Declined(str(impossible))
    return _with_what_the_host_saw(transaction, outcome), outcome


def _with_what_the_host_saw(transaction: Transaction, outcome: Outcome) -> World:
    world, host = transaction.world, transaction.host
    if transaction.opening:
        if not isinstance(outcome, Accepted):
            return world
    else:
        now = surroundings.host_named(world, host.name)
        if now is None or not now.is_open:
            return world
        if host.high_water == transaction.high_water and host.seen is transaction.seen:
            return world
    after = Host(
        host.name,
        host.holder_id,
        host.epoch,
        host.arbitration,
        True,
        transaction.high_water,
        transaction.seen,
    )
    return surroundings.with_host(world, after)
