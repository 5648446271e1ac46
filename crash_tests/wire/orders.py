"""Whether some order of the requests explains what came of them: the model takes them one after the other.

Requests that were under way at the same time may have taken effect in any order, but in one: there must be an
order in which the model gives each the answer that its process got, and ends where the store ends. Of a
request whose process was killed before it had answered, it is open whether it did.

Whatever had been answered when a request was sent has taken effect before it.
"""

from collections.abc import Callable, Sequence

from attrs import define, evolve, field, frozen

import model
from crash_tests.scenarios import lease
from crash_tests.wire.racers import Turn
from model.actions import Action
from model.outcomes import Accepted, Outcome
from model.values import World
from stateful_tests.target import Result

Agrees = Callable[[Action, Outcome, Result], bool]


@frozen
class Asked:
    """A turn and what came of it: `result` is what its process was answered, `None` if it can't be known.

    `after` are the places, among all that was asked, of those that were answered before. What is `void` has
    done nothing.
    """

    turn: Turn
    result: Result | None
    after: frozenset[int] = frozenset()
    void: bool = False


@frozen
class Orders:
    """Finds orders. `agrees` says whether an answer is the model's; `shown` are the ids of the rows that the
    store ends with, in their order, which leaves few orders to be tried. Without them the first will do.
    """

    agrees: Agrees
    shown: tuple[str, ...] | None = None

    def explain(self, world: World, asked: Sequence[Asked]) -> tuple[World, ...]:
        """The worlds to which the orders lead that explain the answers, from `world`."""
        search = _Search(self, asked)
        search.on(world, frozenset(at for at, one in enumerate(asked) if not one.void))
        return tuple(search.ends.values())

    def leads_there(self, world: World) -> bool:
        """Whether the rows of `world`, which are never taken away, are the first of those shown."""
        if self.shown is None or world.store is None:
            return True
        rows = tuple(row.reservation_id for row in world.store.rows)
        return rows == self.shown[: len(rows)]


@define
class _Search:
    orders: Orders
    asked: Sequence[Asked]
    ends: dict[World, World] = field(factory=dict)
    _seen: set[tuple[frozenset[int], World]] = field(factory=set)

    def on(self, world: World, left: frozenset[int]) -> None:
        """From `world` on, with the requests of `left` still to come."""
        # Which states a host has seen on the way makes no difference to anybody else.
        here = evolve(world, hosts=(), earlier=())
        if (left, here) in self._seen or (self.orders.shown is None and self.ends):
            return
        self._seen.add((left, here))
        required = {at for at in left if self.asked[at].result is not None}
        if not required:
            self.ends[here] = world
        for at in sorted(left):
            then = None if self.asked[at].after & required else self._taken(world, self.asked[at])
            if then is None or not self.orders.leads_there(then):
                continue
            self.on(then, left - {at})
            if evolve(then, hosts=world.hosts) == world:
                return  # it changes nothing for the others, so it may as well come now

    def _taken(self, world: World, one: Asked) -> World | None:
        """`world` once this request has taken effect; `None` if it would be answered otherwise."""
        believed = model.step(world, lease(one.turn.epoch))[0]
        then, outcome = model.step(believed, one.turn.action)
        if one.result is None:
            fits = isinstance(outcome, Accepted)
        else:
            fits = self.orders.agrees(one.turn.action, outcome, one.result)
        return evolve(then, lease=world.lease) if fits else None
