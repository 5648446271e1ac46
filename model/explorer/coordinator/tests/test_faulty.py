"""The explorer finds what it is for: a model with a step or a fix taken out, by a shortest trace."""

from collections.abc import Iterator
from unittest import mock

import pytest
from attrs import evolve

from model import sweep
from model.explorer.coordinator.bounds import Bounds
from model.explorer.coordinator.facets import BOUNDS, SLOT_COMES_BACK
from model.explorer.coordinator.properties import STORE_OPENS, properties
from model.explorer.coordinator.space import CoordinatorSpace
from model.explorer.coordinator.tests.faulty import (
    WithoutC1,
    without_arbitration,
    without_c8,
    without_c16,
    without_the_risk_told,
)
from model.explorer.coordinator.values import Shared, Slot
from model.explorer.findings import Exploration
from model.explorer.packed import explore
from model.explorer.properties import Always, Trace
from model.explorer.space import Label, State

Found = Exploration[Shared, Slot]

SMALL = evolve(BOUNDS["lifecycle"], merge_stages=True, stages=("completed",))
OPENING = Bounds(genesis=True, groups=frozenset({"lease", "open", "close", "reserve", "die"}))


def found(bounds: Bounds) -> Found:
    return explore(CoordinatorSpace(bounds), properties(bounds), reduce=True, edges=True)


def told(trace: Trace[Shared, Slot] | None) -> list[str]:
    assert trace is not None
    return [str(move.label) for move in trace.moves]


def test_a_sweep_that_frees_on_not_admitted_violates_true_capacity_in_four_steps() -> None:
    """Not admitted, says the project; the slot is given away; and a moment later it admits."""
    with without_arbitration():
        explored = found(SMALL)
    verdict = explored.verdict("true-capacity")
    assert verdict.verdict == "violated"
    reserved, later = "reserve run-a @h1 alice r1", "clock +1 ms"
    assert told(verdict.trace)[:2] == [reserved, later]
    assert told(verdict.trace)[3] == "admit r1"
    assert len(told(verdict.trace)) == 4


def test_each_of_several_violated_properties_has_its_own_shortest_trace() -> None:
    with without_arbitration():
        explored = found(SMALL)
    lengths = {each.id: len(told(each.trace)) for each in explored.violated}
    assert lengths["time-frees-no-run"] == 3
    assert lengths["true-capacity"] == 4
    assert "S10" not in lengths


def test_a_forced_release_that_does_not_tell_the_risk_violates_true_capacity_in_three_steps() -> None:
    with without_the_risk_told():
        explored = found(BOUNDS["killed"])
    assert {"true-capacity", "time-frees-no-run"} & {each.id for each in explored.violated} == {
        "true-capacity"
    }
    steps = told(explored.verdict("true-capacity").trace)
    assert sorted(step.split()[0] for step in steps) == ["admit", "force-release", "reserve"]


def test_what_is_found_of_a_faulty_model_does_not_depend_on_what_was_explored_before() -> None:
    """Ways out are tried by steps of the model: what was found of one is not believed of another."""
    bounds = BOUNDS["killed"]
    assert found(bounds).violated == ()
    with mock.patch.object(sweep, "_ask", return_value=None):
        explored = found(bounds)
    assert explored.verdict("proof-frees").verdict == "violated"
    assert found(bounds).violated == ()


def calls_of(space: CoordinatorSpace, state: State[Shared, Slot]) -> Iterator[tuple[str, str]]:
    """Every call that can be made in this state, with what comes of it."""
    for name, scheme in space.schemes.items():
        if "@h1 " in name:
            for place in range(len(state.slots)) if scheme.rule.scope == "call" else (None,):
                done = space.step_of(state, Label(name, place))
                assert done is not None
                yield name, done[0]


def snapshot_works(shared: Shared, slots: tuple[Slot, ...]) -> bool:
    """By a step of the model on the whole state; a snapshot has no guards of its own."""
    if shared.hosts[0] is None or shared.lease.kind != "own":
        return True
    done = CoordinatorSpace(SMALL).step_of(State(shared, slots), Label("snapshot @h1 alice"))
    return done is not None and done[0] == "accepted"


def test_without_c8_a_world_is_reached_in_which_every_call_fails() -> None:
    works: Always[Shared, Slot] = Always("works", "A snapshot is answered.", snapshot_works)
    with without_c8():
        asked = [works, *properties(SMALL)]
        explored = explore(CoordinatorSpace(SMALL), asked, reduce=True)
        trace = explored.verdict("works").trace
        expected = [f"reserve run-a @h1 alice r{n}" for n in (1, 2)] + ["admit r1", "admit r2", "clock +1 ms"]
        assert trace is not None
        assert sorted(told(trace)) == sorted(expected)
        outcomes = dict(calls_of(CoordinatorSpace(SMALL), trace.last))
    assert len(outcomes) == 10
    assert set(outcomes.values()) == {"ADMISSION_BINDING_CONFLICT", "RECONCILE_REQUIRED"}


def test_without_c8_there_are_slots_that_never_come_back() -> None:
    """Once that store is closed it can't be opened any more, since opening sweeps as well."""
    with without_c8():
        verdict = found(SMALL).verdict(SLOT_COMES_BACK)
    assert verdict.verdict == "violated"
    assert told(verdict.trace)[-1] == "close @h1"
    assert len(told(verdict.trace)) == 6


def test_with_c8_some_call_is_accepted_in_that_world() -> None:
    space = CoordinatorSpace(SMALL)
    due = Slot("reserved", 0, left=0, stage="running")
    state = State(space.initial()[0].shared, (due, evolve(due, rank=1)))
    assert "accepted" in {outcome for _, outcome in calls_of(space, state)}


def test_without_c1_a_world_is_reached_from_which_the_store_never_opens() -> None:
    explored = explore(WithoutC1(OPENING), properties(OPENING), reduce=True, edges=True)
    verdict = explored.verdict(STORE_OPENS)
    assert verdict.verdict == "violated"
    assert told(verdict.trace) == ["lease @h1", "die-in-genesis @h1"]


def test_with_c1_it_opens_from_everywhere() -> None:
    assert found(OPENING).verdict(STORE_OPENS).verdict == "holds"


def test_without_c16_a_reservation_lives_on_that_its_project_has_abandoned() -> None:
    """Arbitration protects the run, so true capacity holds; `late-rows-are-left` is what breaks."""
    groups = frozenset({"reserve", "commit", "renew", "clock", "disturbed"})
    bounds = Bounds(groups=groups, disturbed=("admission raises",), untested=SMALL.untested)
    assert not lives_on(bounds)
    with without_c16():
        assert lives_on(bounds)
        assert "late-rows-are-left" in {each.id for each in found(bounds).violated}


def lives_on(bounds: Bounds) -> bool:
    graph = found(bounds).graph
    assert graph is not None
    return any(slot.stage == "abandoned" and slot.left for state in graph.states for slot in state.slots)


@pytest.mark.parametrize("name", ["true-capacity", SLOT_COMES_BACK])
def test_the_model_as_it_is_has_none_of_these(name: str) -> None:
    assert found(SMALL).verdict(name).verdict == "holds"
