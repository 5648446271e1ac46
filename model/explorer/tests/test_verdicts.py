"""Verdicts are earned: three values, witnesses, dead rules, budgets that end in *inconclusive*."""

from collections.abc import Callable
from functools import partial

import pytest
from attrs import evolve

from model.explorer import packed, reference
from model.explorer.budget import Budget
from model.explorer.findings import Exploration
from model.explorer.properties import Always, EventuallyPossible, Property, Sometimes, Step
from model.explorer.space import Rule
from model.explorer.taking import SpaceError
from model.explorer.tests.test_engines import PROPERTIES
from model.explorer.tests.toys import Leases, Shared, Slot

Explore = Callable[..., Exploration[Shared, Slot]]
ENGINES: dict[str, Explore] = {"packed": partial(packed.explore, edges=True), "reference": reference.explore}


class Ticking:
    """A clock that goes on by one second each time it is looked at."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


BUDGETS: dict[str, tuple[Callable[[], Budget], str]] = {
    "states": (lambda: Budget(states=300), "the budget of 300 states is spent"),
    "seconds": (lambda: Budget(seconds=5, clock=Ticking()), "the budget of 5 s is spent"),
    "depth": (lambda: Budget(depth=4), "the bound of 4 transitions from the start is reached"),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", BUDGETS)
def test_a_spent_budget_makes_inconclusive_what_was_not_broken(engine: str, kind: str) -> None:
    budget, reason = BUDGETS[kind]
    explored = ENGINES[engine](Leases(4, 2, skip_the_line=True), PROPERTIES, budget=budget())
    assert not explored.complete
    assert explored.reason == reason
    verdicts = {verdict.id: (verdict.verdict, verdict.reason) for verdict in explored.verdicts}
    assert verdicts["fits"] == ("inconclusive", f"not broken so far; {reason}")
    assert verdicts["served"] == ("inconclusive", f"not broken so far; {reason}")
    assert verdicts["all-held"] == ("inconclusive", f"not seen; {reason}")
    assert explored.states == sum(explored.levels) > 4


def test_what_was_seen_before_the_budget_was_spent_stays_seen() -> None:
    explored = packed.explore(Leases(4, 2, skip_the_line=True), PROPERTIES, budget=Budget(states=300))
    assert explored.verdict("swept").verdict == "holds"
    assert explored.verdict("in-turn").verdict == "violated"


def test_what_a_budget_let_it_see_is_told() -> None:
    explored = packed.explore(Leases(3, 2), PROPERTIES, budget=Budget(depth=3))
    whole = packed.explore(Leases(3, 2), PROPERTIES)
    assert explored.levels == whole.levels[:4]
    assert explored.transitions < whole.transitions


def test_bytes_are_counted_before_they_are_taken() -> None:
    explored = packed.explore(Leases(5, 2), PROPERTIES, edges=True, budget=Budget(bytes=200_000))
    assert explored.reason == "the budget of 0 MB is spent"
    assert 1_000 < explored.states < 20_000


def test_a_budget_of_seconds_needs_a_clock() -> None:
    with pytest.raises(ValueError, match=r"needs a clock"):
        Budget(seconds=1)


def test_a_budget_of_states_that_suffices_is_not_spent() -> None:
    states = packed.explore(Leases(3, 2)).states
    assert packed.explore(Leases(3, 2), budget=Budget(states=states)).complete
    assert not packed.explore(Leases(3, 2), budget=Budget(states=states - 1)).complete


@pytest.mark.parametrize("engine", ENGINES)
def test_what_was_never_put_to_the_test_does_not_hold(engine: str) -> None:
    properties: tuple[Property[Shared, Slot], ...] = (
        Step("unheard", "Nobody reports this."),
        Step("unheard-of", "Nor this, and nobody needs to.", needs_witness=False),
        Always[Shared, Slot]("untested", "Always so.", lambda *_: True, needs_witness=True),
        EventuallyPossible(
            "idle", "Who flies may land.", lambda _, slot: slot.kind == "flies", lambda *_: True
        ),
    )
    explored = ENGINES[engine](Leases(2), properties)
    verdicts = {verdict.id: (verdict.verdict, verdict.reason) for verdict in explored.verdicts}
    assert verdicts == {
        "unheard": ("inconclusive", "never put to the test"),
        "unheard-of": ("holds", ""),
        "untested": ("inconclusive", "never put to the test"),
        "idle": ("inconclusive", "never put to the test"),
    }


@pytest.mark.parametrize("engine", ENGINES)
def test_what_should_sometimes_be_and_never_is_leaves_the_verdict_open(engine: str) -> None:
    explored = ENGINES[engine](Leases(3, 2), PROPERTIES)
    verdict = explored.verdict("all-held")
    assert (verdict.verdict, verdict.reason) == ("inconclusive", "no state or transition shows it")
    assert verdict.trace is None


@pytest.mark.parametrize("engine", ENGINES)
def test_rules_that_can_never_happen_are_told(engine: str) -> None:
    class Odd(Leases):
        rules = (*Leases.rules, Rule("fly", "local"))

        def fire(self, rule, shared, slot, context):  # type: ignore[no-untyped-def]
            return None if rule.name == "fly" else super().fire(rule, shared, slot, context)

    assert ENGINES[engine](Odd(2)).dead == ("fly",)


@pytest.mark.parametrize("reduce", [False, True], ids=["full", "reduced"])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_slot_that_cannot_get_on_is_found_with_the_shortest_way_there(engine: str, reduce: bool) -> None:
    """Nobody is served once it is late, and there is no sweep: who then waits is stuck."""

    class Closing(Leases):
        rules = tuple(rule for rule in Leases.rules if rule.name != "sweep")

        def fire(self, rule, shared, slot, context):  # type: ignore[no-untyped-def]
            late = rule.name == "take" and shared.clock >= 2
            return None if late else super().fire(rule, shared, slot, context)

    verdict = ENGINES[engine](Closing(3, 1), PROPERTIES[-1:], reduce=reduce).verdict("served")
    assert verdict.verdict == "violated"
    assert verdict.trace is not None
    assert sorted(move.label.rule.split()[0] for move in verdict.trace.moves) == ["tick", "tick", "wait"]


def test_a_way_that_may_only_take_some_rules_may_be_none() -> None:
    served = PROPERTIES[-1]
    assert isinstance(served, EventuallyPossible)
    asked = evolve(served, id="by-sweep", by=frozenset({"sweep", "tick"}))
    assert packed.explore(Leases(1), (asked,), edges=True).verdict("by-sweep").verdict == "violated"


def test_without_the_graph_nothing_is_said_of_ways() -> None:
    verdict = packed.explore(Leases(2), PROPERTIES).verdict("served")
    assert (verdict.verdict, verdict.reason) == ("inconclusive", "the graph was not kept")


def test_a_sometimes_without_a_predicate_waits_for_a_transition() -> None:
    explored = packed.explore(Leases(1), (Sometimes("never-reported", "x"),))
    assert explored.verdict("never-reported").verdict == "inconclusive"


def test_two_properties_of_one_id_are_refused() -> None:
    with pytest.raises(SpaceError, match="same id"):
        packed.explore(Leases(1), (Step("x", "y"), Step("x", "z")))
