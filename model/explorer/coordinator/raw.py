"""The same rules over whole worlds, with nothing left out: for what `CoordinatorSpace` can't hold.

A world's past grows with every publication, so this is finite only within a depth, or with few publications.
It serves where an earlier state is put back, which needs that past; and as the plain telling that the kept
states of `view` are held against.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence

from model.actions import Action, PutBack
from model.always import each_live_run_has_its_slot
from model.explorer.coordinator.crashing import Killed
from model.explorer.coordinator.naming import slot_id
from model.explorer.coordinator.space import CoordinatorSpace
from model.explorer.properties import Always
from model.explorer.space import Fired, Rule, Space, State
from model.values import World

Make = Callable[[World], Action | Killed | None]


class RawSpace(Space[World, Hashable]):
    """The rules of `kept`, told of each of its reservations by name; and putting earlier states back.

    Publishes no more than `publications` states in all.
    """

    def __init__(self, kept: CoordinatorSpace, *, publications: int, put_back: bool = False) -> None:
        self._kept = kept
        self._publications = publications
        self._made = dict(self._rules())
        if put_back:
            self._made.update(_put_backs(publications))
        self.rules: Sequence[Rule] = tuple(Rule(name, "whole") for name in self._made)

    def _rules(self) -> Iterator[tuple[str, Make]]:
        for name, scheme in self._kept.schemes.items():
            if scheme.rule.scope in ("whole", "weather"):
                yield name, _about(scheme.make, "")
                continue
            for number in range(self._kept.bounds.ids):
                yield f"{name} r{number + 1}", _about(scheme.make, slot_id(number))

    def initial(self) -> Sequence[State[World, Hashable]]:
        return tuple(State(world) for world in self._kept.worlds())

    def fire(
        self, rule: Rule, shared: World, slot: Hashable | None, context: tuple[Hashable, ...]
    ) -> Fired[World, Hashable] | None:
        assert slot is None
        assert not context
        action = self._made[rule.name](shared)
        done = None if action is None else self._kept.perform(shared, action)
        if done is None or len(done[0].earlier) > self._publications:
            return None
        return Fired(self._kept.outcome_of(done[1]), done[0])


def _about(make: Callable[[World, str], Action | Killed | None], slot: str) -> Make:
    return lambda world: make(world, slot)


def _put_backs(publications: int) -> Iterator[tuple[str, Make]]:
    for index in range(publications):
        yield f"put-back state-{index + 1}", _always(PutBack(index))


def _always(action: Action) -> Make:
    return lambda _world: action


def _capacity(world: World, _slots: tuple[Hashable, ...]) -> bool:
    return each_live_run_has_its_slot(world)


TRUE_CAPACITY: Always[World, Hashable] = Always(
    "true-capacity",
    "Each admitted run not proven quiescent has its own row, holding a slot or operator-overridden.",
    _capacity,
)
"""The invariant of that name, judged by `model.always` itself."""
