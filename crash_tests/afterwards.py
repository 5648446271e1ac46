"""What is done with a store after a kill: it is opened, the same is done once more, and one more write.

Whoever does it, does it in lockstep with the model, from the world that the oracle decided upon. That the
last write is granted is the proof of forward progress.
"""

from collections.abc import Sequence

from attrs import evolve

from crash_tests.children import MisfitError
from crash_tests.oracle import Violation, after_all
from crash_tests.scenarios import lease, opening, reserve, set_maximum
from model.actions import Action, Call, Open
from model.invariants import check
from model.values import Lease, World
from stateful_tests.lockstep import Lockstep
from stateful_tests.target import StoreTarget

PROBE, PROBE_COMMAND = 77, 177


def recovery(flight: Sequence[Action], world: World, *, newer: bool = False) -> tuple[Action, ...]:
    """The reopening and the probes."""
    opens = reopening(flight, world, newer=newer)
    last = opens[-1]
    assert isinstance(last, Open)
    return (*opens, *probes(flight, world, last.host))


def reopening(flight: Sequence[Action], world: World, *, newer: bool = False) -> tuple[Action, ...]:
    """How the store is opened after a kill: by the host that was killed, or by one of the next epoch."""
    last = flight[-1]
    name = last.host if isinstance(last, Call | Open) else "a"
    epoch = world.lease.fencing_epoch if isinstance(world.lease, Lease) else 1
    if not newer:
        return (opening(name, epoch),)
    return (lease(epoch + 1), opening("next", epoch + 1))


def probes(flight: Sequence[Action], world: World, host: str) -> tuple[Action, ...]:
    """What is done after recovery: the same once more, then a write that any state must grant."""
    again = tuple(evolve(action, host=host) for action in flight if isinstance(action, Call))
    full = world.store is not None and world.store.held >= world.store.max_active_runs
    fresh = set_maximum(9, PROBE_COMMAND) if full else reserve(PROBE)
    return (*again, evolve(fresh, host=host))


def work_on(
    target: StoreTarget, world: World, actions: Sequence[Action], *, struck: str = "kill"
) -> Violation | None:
    """Walks on from `world`, in lockstep. A violation names what the store has suffered (`struck`)."""
    walk = Lockstep(target, world, judge=check)
    for action in actions:
        one = walk.step(action)
        if one.divergence is not None:
            return after_all(one.divergence, struck)
        if one.declined:
            raise MisfitError(f"the model declines {action} after a {struck}")
    return None
