"""What is done with a store after a kill in any world of a graph: put the world right, open, go on, write.

A world of a graph may have no lease, or one that is good for nobody; its clock may have gone back; nobody may
know who the caller is. None of that is the store's doing, so it is put right first. That the last write is
granted is the proof of forward progress: `aftercare` says so beforehand, by the model, or says that it can't.
"""

from collections.abc import Iterator, Sequence

from attrs import evolve

import model
from crash_tests.afterwards import PROBE, PROBE_COMMAND
from crash_tests.children import HarnessError
from crash_tests.scenarios import FAR_MS, reserve, set_maximum
from model.actions import Action, AdvanceClock, Call, Open, SetIdentity, SetLease
from model.outcomes import Accepted
from model.values import World
from stateful_tests.surroundings import PEOPLE

_HOST, _HOLDER = "again", "alpha"
_MORE = 9
"""A maximum that no bounds reach."""


def aftercare(flight: Sequence[Action], world: World) -> tuple[Action, ...]:
    """The actions after a kill that left `world`. `HarnessError` if the model grants no last write."""
    actions = tuple(_until_the_write(flight, world))
    for action in actions:
        world, _ = model.step(world, action)
    for probe in (reserve(PROBE), set_maximum(_MORE, PROBE_COMMAND)):
        write = evolve(probe, host=_HOST)
        if isinstance(model.step(world, write)[1], Accepted):
            return (*actions, write)
    raise HarnessError(f"the model grants no write after a kill in {flight[-1]}")


def _until_the_write(flight: Sequence[Action], world: World) -> Iterator[Action]:
    store, first = world.store, flight[0]
    opening = first if isinstance(first, Open) else Open(_HOST, _HOLDER, 1, 1)
    assert isinstance(opening.epoch, int)
    epoch, seen = (opening.epoch, 0) if store is None else (store.fencing_epoch, store.last_wall_time)
    epoch, now = max(epoch, opening.epoch), max(world.clock, seen)
    if now > world.clock:
        yield AdvanceClock(now - world.clock)
    yield SetLease(
        {"holderId": opening.holder_id, "fencingEpoch": epoch, "endpoint": "here", "expiresAt": now + FAR_MS}
    )
    yield from (SetIdentity(name, dict(who)) for name, who in PEOPLE.items())
    yield evolve(opening, host=_HOST, epoch=epoch, disturbances=())
    yield from (evolve(action, host=_HOST, disturbances=()) for action in flight if isinstance(action, Call))
