"""What is left out of a state makes no difference: the model, walked at random or exhaustively, agrees."""

from collections.abc import Hashable
from random import Random
from typing import Any

import pytest
from attrs import evolve

from model.explorer import packed, reference
from model.explorer.budget import Budget
from model.explorer.coordinator.asking import Question, simplest
from model.explorer.coordinator.bounds import Bounds
from model.explorer.coordinator.facets import BOUNDS
from model.explorer.coordinator.raw import RawSpace
from model.explorer.coordinator.space import CoordinatorSpace
from model.explorer.coordinator.tests.walking import walk
from model.explorer.coordinator.values import UNUSED, Shared, Slot, State
from model.explorer.space import Label, Rule
from model.explorer.taking import SpaceError, take
from model.values import World

TWO = Bounds(
    ids=2,
    runs=2,
    hosts=2,
    maxima=(1, 2),
    commands=1,
    stages=("completed",),
    leases=("none",),
    groups=frozenset(
        {
            "lease",
            "open",
            "close",
            "reserve",
            "commit",
            "release",
            "snapshot",
            "project",
            "clock",
            "force",
            "maximum",
        }
    ),
)
ONE = evolve(TWO, ids=1, hosts=1, runs=1)


@pytest.mark.parametrize("name", BOUNDS)
def test_walks_of_the_model_go_as_its_states_foretell(name: str) -> None:
    space = CoordinatorSpace(BOUNDS[name])
    assert [found for seed in range(15) if (found := walk(space, seed=seed, length=80))] == []


def test_all_worlds_within_a_few_steps_are_of_the_states_that_the_space_reaches_in_so_many() -> None:
    """Whole worlds, their past and all, against states: the same set after each number of steps."""
    depth = 5
    space = CoordinatorSpace(ONE)
    raw = reference.explore(RawSpace(space, publications=99), budget=Budget(depth=depth)).graph
    kept = reference.explore(space, budget=Budget(depth=depth)).graph
    assert raw is not None
    assert kept is not None
    worlds: dict[State, int] = {}
    for state, steps in zip(raw.states, raw.depth.tolist(), strict=True):
        worlds.setdefault(space.view(state.shared), steps)
    assert worlds == dict(zip(kept.states, kept.depth.tolist(), strict=True))
    assert raw.nodes > 3 * kept.nodes


def test_in_states_met_at_random_every_transition_is_a_step_of_the_model_on_the_whole_state() -> None:
    """With more hosts and runs than any facet has."""
    bounds = evolve(BOUNDS["core"], runs=3, hosts=3, genesis=False)
    space, dice = CoordinatorSpace(bounds), Random(3)
    known = list(space.initial())
    for _ in range(80):
        state = dice.choice(known[-300:])
        for rule in space.rules:
            for slot in range(bounds.ids) if rule.scope in ("local", "call") else (None,):
                taken = take(space, rule, state, slot)
                done = space.step_of(state, Label(rule.name, slot))
                assert (None if taken is None else (taken[0].outcome, taken[1])) == done
                if done is not None and done[1] != state:
                    known.append(done[1])
    assert len(set(known)) > 300


SMALLER = evolve(TWO, runs=1, maxima=(2,), leases=(), groups=TWO.groups - {"force"})


class Whole(CoordinatorSpace):
    """Nothing is hidden from any rule: no residues, no lenses, no plainer questions."""

    def __init__(self, bounds: Bounds) -> None:
        super().__init__(bounds, literal=True)

    def residue(self, slot: Slot) -> Slot:
        return slot

    def part(self, lens: str, shared: Shared) -> Hashable:
        del lens
        return shared

    def merge(self, lens: str, shared: Shared, after: Shared) -> Shared:
        del lens, shared
        return after


def counts(explored: Any) -> tuple[object, ...]:
    return explored.complete, explored.full_states, explored.full_transitions


def test_what_rules_do_not_see_makes_no_difference() -> None:
    """Whole states, tables over what is seen, and the reduction by symmetry agree on what is reached."""
    whole = packed.explore(Whole(SMALLER))
    tabled = packed.explore(CoordinatorSpace(SMALLER))
    reduced = packed.explore(CoordinatorSpace(SMALLER), reduce=True)
    assert counts(whole) == counts(tabled) == counts(reduced)
    assert whole.taken == tabled.taken
    assert whole.full_states > 1000
    assert reduced.states < whole.states * 0.6
    assert tabled.fired < whole.fired / 2


def test_the_two_engines_agree_on_it() -> None:
    bounds = evolve(TWO, hosts=1, commands=0, groups=TWO.groups - {"force", "maximum"})
    for reduce in (False, True):
        slow = reference.explore(CoordinatorSpace(bounds), reduce=reduce)
        fast = packed.explore(CoordinatorSpace(bounds), reduce=reduce)
        assert counts(slow) == counts(fast)
        assert slow.taken == fast.taken
        assert slow.levels == fast.levels


class BlindToHolders(CoordinatorSpace):
    """Planted: a rule does not see that others hold slots."""

    def residue(self, slot: Slot) -> Slot:
        return super().residue(slot) if slot.left == 0 else UNUSED


class BlindToTheMaximum(CoordinatorSpace):
    """Planted: reserving does not see the maximum."""

    def part(self, lens: str, shared: Shared) -> Hashable:
        return super().part(lens.removeprefix("capacity "), shared)


class LosesTheMaximum(CoordinatorSpace):
    """Planted: what a command sets the maximum to gets lost."""

    def merge(self, lens: str, shared: Shared, after: Shared) -> Shared:
        merged = super().merge(lens, shared, after)
        return evolve(merged, maximum=shared.maximum) if lens.startswith("commands") else merged


class KeepsTooLittle(CoordinatorSpace):
    """Planted: states do not say whether a run is proven quiescent."""

    def view(self, world: World) -> State:
        state = super().view(world)
        return State(state.shared, tuple(evolve(slot, quiet=False) for slot in state.slots))


def _too_plain(rule: Rule, shared: Shared, slots: tuple[Slot, ...]) -> Question:
    """Planted: as if every run that was admitted were proven quiescent."""
    question = simplest(rule, shared, slots)
    if rule.scope != "call":
        return question
    plain = tuple(evolve(slot, quiet=True) if slot.is_live else slot for slot in question.slots)
    return evolve(question, slots=plain)


@pytest.mark.parametrize("planted", [BlindToHolders, LosesTheMaximum, KeepsTooLittle])
def test_a_walk_shows_what_is_hidden_that_matters(planted: type[CoordinatorSpace]) -> None:
    assert any(walk(planted(TWO), seed=seed, length=80) for seed in range(200))


def test_tables_that_hide_what_matters_are_found_out_while_exploring() -> None:
    """A lens is a matter of the tables: some states of each level are held against them."""
    with pytest.raises(SpaceError, match="hides something that matters"):
        packed.explore(BlindToTheMaximum(TWO), sample=100)


def test_a_question_made_too_plain_is_found_out_by_a_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("model.explorer.coordinator.space.simplest", _too_plain)
    assert any(walk(CoordinatorSpace(TWO), seed=seed, length=80) for seed in range(200))
