"""Spaces made at random, of all that a space can declare: both engines come to the same.

A rule's effect is drawn from a generator seeded by exactly what the rule may see, so that the space is what
it declares itself to be, and nothing else about it is regular.
"""

import random
from collections.abc import Callable, Hashable, Sequence

import numpy as np
import pytest
from attrs import evolve, frozen

from model.explorer import packed, reference
from model.explorer.budget import Budget
from model.explorer.packed import expanding
from model.explorer.packed.levels import Levels
from model.explorer.packed.numbers import Lens, Numbers
from model.explorer.packed.situations import Group, Transitions
from model.explorer.properties import Always, EventuallyPossible, Property, Sometimes, Step
from model.explorer.space import Fired, Rule, Scope, Space, State
from model.explorer.taking import SpaceError
from model.explorer.tests.test_engines import figures


@frozen
class Both:
    left: int = 0
    right: int = 0


@frozen
class Thing:
    """`kind` 0 and 1 are seen coarsely, 2 and 3 whole; 3 stands in a queue, which `colour` names."""

    kind: int = 0
    colour: int = 0
    rank: int = 0


SCOPES: tuple[Scope, ...] = ("local", "call", "whole", "weather")


class Drawn(Space[Both, Thing]):
    def __init__(self, seed: int) -> None:
        self.seed = seed
        drawn = random.Random(seed)
        self.slots = drawn.choice((0, 1, 2, 2, 2, 3))
        self.rules = tuple(
            Rule(f"rule {number}", drawn.choice(SCOPES), drawn.choice(("", "left", "right")))
            for number in range(drawn.randint(3, 6))
        )
        self.idle = drawn.random() * 0.5

    def initial(self) -> Sequence[State[Both, Thing]]:
        return [State(Both(), (Thing(),) * self.slots), State(Both(1, 1), (Thing(1),) * self.slots)]

    def part(self, lens: str, shared: Both) -> Hashable:
        return getattr(shared, lens) if lens else shared

    def merge(self, lens: str, shared: Both, after: Both) -> Both:
        return evolve(shared, **{lens: getattr(after, lens)})

    def residue(self, slot: Thing) -> Hashable:
        return slot if slot.kind >= 2 else slot.kind

    def place(self, slot: Thing) -> tuple[Hashable, int] | None:
        return (slot.colour, slot.rank) if slot.kind == 3 else None

    def placed(self, slot: Thing, rank: int) -> Thing:
        return evolve(slot, rank=rank)

    def drifts(self, rule: Rule) -> bool:
        return self._drawn(rule.name, "drifts").random() < 0.5

    def drift(self, rule: Rule, shared: Both, slot: Thing) -> Thing:
        drawn = self._drawn(rule.name, "drift", self.part(rule.lens, shared), slot)
        if slot.kind == 3:  # stays in line, or goes: who joins a line does so alone
            return slot if drawn.random() < 0.7 else Thing(0)
        return Thing(drawn.randint(0, 2), drawn.randint(0, 1)) if drawn.random() < 0.3 else slot

    def fire(
        self, rule: Rule, shared: Both, slot: Thing | None, context: tuple[Hashable, ...]
    ) -> Fired[Both, Thing] | None:
        seen = sorted(map(repr, context))
        drawn = self._drawn(rule.name, self.part(rule.lens, shared), slot, seen)
        if drawn.random() < self.idle:
            return None
        after = Both(drawn.randint(0, 2), drawn.randint(0, 1)) if drawn.random() < 0.5 else shared
        if rule.lens:
            after = self.merge(rule.lens, shared, after)
        moved = None
        if slot is not None and drawn.random() < 0.6:
            moved = Thing(drawn.randint(0, 3), drawn.randint(0, 1))
            stays = slot.kind == moved.kind == 3 and slot.colour == moved.colour
            moved = evolve(moved, rank=slot.rank) if stays else moved
        bound = drawn.random() < 0.4
        others = tuple(self._other(rule, each) if bound else None for each in context)
        return Fired(
            f"outcome {drawn.randint(0, 2)}",
            after,
            moved,
            others if any(others) else (),
            violated=("never",) if drawn.random() < 0.02 else (),
            witnessed=("never",) if drawn.random() < 0.1 else (),
        )

    def _other(self, rule: Rule, residue: Hashable) -> Thing | None:
        """Another slot after the rule: leaves its line, or is recoloured outside of one."""
        if not isinstance(residue, Thing) or self._drawn(rule.name, residue).random() < 0.5:
            return None
        return Thing(0, 1)

    def _drawn(self, *key: object) -> random.Random:
        return random.Random(f"{self.seed} {key}")


PROPERTIES: tuple[Property[Both, Thing], ...] = (
    Step("never", "It never happens."),
    Always(
        "few-in-line",
        "No two are in the red line.",
        lambda left, colours: left == 0 or sum(colour == (3, 1) for colour in colours) < 2,
        project=lambda thing: (thing.kind, thing.colour),
        part=lambda shared: shared.left,
    ),
    Sometimes("ordered", "Somebody stands second.", lambda _, things: any(each.rank == 1 for each in things)),
    EventuallyPossible(
        "way",
        "Who is seen whole may be seen coarsely.",
        lambda _, thing: thing is not None and thing.kind > 1,
        lambda _, thing: thing is not None and thing.kind < 2,
    ),
)
SEEDS = range(24)


@pytest.mark.parametrize("seed", SEEDS)
def test_both_engines_agree_on_a_space_drawn_at_random(seed: int) -> None:
    runs = {}
    for reduce in (False, True):
        slow = reference.explore(Drawn(seed), PROPERTIES, reduce=reduce)
        fast = packed.explore(Drawn(seed), PROPERTIES, reduce=reduce, edges=True, sample=3)
        assert figures(fast) == figures(slow)
        runs[reduce] = fast
    assert runs[True].full_states == runs[False].states
    assert runs[True].full_transitions == runs[False].transitions
    assert [v.verdict for v in runs[True].verdicts] == [v.verdict for v in runs[False].verdicts]


def test_the_spaces_drawn_are_worth_comparing() -> None:
    explored = [packed.explore(Drawn(seed), PROPERTIES, edges=True, sample=0) for seed in SEEDS]
    assert sum(each.states > 100 for each in explored) >= 6
    for verdict in ("holds", "violated"):
        assert sum(v.verdict == verdict for each in explored for v in each.verdicts) >= 10
    assert sum(each.verdict("ordered").verdict == "holds" for each in explored) >= 5


PLANTED: dict[str, tuple[object, str, Callable[..., object]]] = {
    "ranks are not kept dense": (expanding, "settled", lambda _numbers, _before, after: after),
    "others are not changed": (Transitions, "change_number", lambda _self, _pairs: -1),
    "contexts are not told apart": (Numbers, "_without", lambda self, *_: self.contexts.number(())),
    "parts are not merged": (Lens, "merged", lambda _self, shared, _after: shared),
    "slots do not drift": (Group, "_drift", lambda _self, _transition, slot, _row: slot),
    "equal slots act each": (expanding, "multiplicity", lambda slots, place: np.ones_like(slots[place])),
    "states seen are seen anew": (
        Levels,
        "_known",
        lambda self, keys, _places: np.array([key == self._seen[:1] for key in keys]).ravel(),
    ),
}


@pytest.mark.parametrize("plant", PLANTED)
def test_a_fault_of_the_fast_engine_shows(plant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where, name, wrong = PLANTED[plant]
    sound = {seed: figures(packed.explore(Drawn(seed), PROPERTIES, reduce=True)) for seed in range(4, 12)}
    monkeypatch.setattr(where, name, wrong)
    budget = Budget(states=20_000)
    for seed, figured in sound.items():
        try:
            faulty = packed.explore(Drawn(seed), PROPERTIES, reduce=True, sample=0, budget=budget)
        except (AssertionError, SpaceError):
            return
        if figures(faulty) != figured:
            return
    pytest.fail(f"nothing shows that {plant}")
