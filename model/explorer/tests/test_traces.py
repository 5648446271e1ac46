"""Counterexamples: shortest, in real ids, and what the space itself does."""

import pytest

from model.explorer import packed, reference
from model.explorer.properties import Always, Sometimes, Step, Trace
from model.explorer.space import Label, State
from model.explorer.taking import take
from model.explorer.tests.test_engines import PROPERTIES
from model.explorer.tests.toys import Leases, Shared, Slot

ENGINES = {"packed": packed.explore, "reference": reference.explore}


def replayed(space: Leases, trace: Trace[Shared, Slot]) -> None:
    """Every move of the trace is what the space does with these very slots."""
    rules = {rule.name: rule for rule in space.rules}
    at = trace.start
    assert at in space.initial()
    for move in trace.moves:
        taken = take(space, rules[move.label.rule], at, move.label.slot)
        assert taken is not None
        assert (taken[0].outcome, taken[1]) == (move.outcome, move.state)
        at = move.state


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("reduce", [False, True], ids=["full", "reduced"])
def test_each_of_several_planted_bugs_is_shown_by_its_shortest_trace(engine: str, reduce: bool) -> None:
    space = Leases(3, 1, skip_the_line=True, overbook=True)
    explored = ENGINES[engine](space, PROPERTIES[:2], reduce=reduce)
    lengths = {verdict.id: len(verdict.trace.moves) for verdict in explored.violated if verdict.trace}
    # Out of turn: two wait, the second takes. Overbooked: two wait, one takes, twice later, the other takes.
    assert lengths == {"in-turn": 3, "fits": 6}
    for verdict in explored.violated:
        assert verdict.trace is not None
        replayed(space, verdict.trace)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_later_breach_does_not_replace_an_earlier_one(engine: str) -> None:
    space = Leases(2, 1)
    properties = (
        Always[Shared, Slot]("early", "It is never one.", lambda shared, _: shared.clock < 1),
        Always[Shared, Slot]("late", "It is never two.", lambda shared, _: shared.clock < 2),
    )
    explored = ENGINES[engine](space, properties)
    assert [len(v.trace.moves) for v in explored.verdicts if v.trace] == [1, 2]


def test_a_trace_of_the_reduced_space_is_told_in_the_ids_and_names_that_really_act() -> None:
    space = Leases(3, 1, skip_the_line=True)
    verdict = packed.explore(space, PROPERTIES[:2], reduce=True).verdict("in-turn")
    assert verdict.trace is not None
    *_, before, last = verdict.trace.moves
    assert last.label.rule == "take"
    assert last.label.slot is not None
    assert before.state.slots[last.label.slot].rank == 1
    assert {move.label.rule for move in verdict.trace.moves[:-1]} == {
        f"wait {verdict.trace.start.shared.owner}"
    }


def test_the_witness_of_a_transition_is_shown_too() -> None:
    space = Leases(1, 1)
    explored = packed.explore(space, (Sometimes("in-turn", "Somebody's turn came."),))
    assert explored.verdict("in-turn").verdict == "holds"
    trace = explored.verdict("in-turn").trace
    assert trace is not None
    assert [move.outcome for move in trace.moves] == ["in line", "taken"]


def test_a_finding_at_the_start_has_an_empty_trace() -> None:
    explored = packed.explore(Leases(1), (Always[Shared, Slot]("no", "Nothing holds.", lambda *_: False),))
    trace = explored.verdict("no").trace
    assert trace is not None
    assert trace.moves == ()
    assert isinstance(trace.last, State)


def test_a_breach_is_found_in_a_transition_that_changes_nothing() -> None:
    class Grumbling(Leases):
        def fire(self, rule, shared, slot, context):  # type: ignore[no-untyped-def]
            fired = super().fire(rule, shared, slot, context)
            if fired is not None and fired.outcome == "nothing to sweep":
                from attrs import evolve

                return evolve(fired, violated=("useful",))
            return fired

    explored = packed.explore(Grumbling(2), (Step("useful", "No sweep is idle.", needs_witness=False),))
    trace = explored.verdict("useful").trace
    assert trace is not None
    assert [move.label for move in trace.moves] == [Label("tick"), Label("tick"), Label("sweep")]
