"""Properties over states say of a state what the invariants say of a world of it."""

from functools import cache
from random import Random

import pytest
from attrs import evolve

from model.explorer.coordinator.assuming import exploration
from model.explorer.coordinator.facets import BOUNDS
from model.explorer.coordinator.forge import forge
from model.explorer.coordinator.properties import properties
from model.explorer.coordinator.space import OF_STATES, CoordinatorSpace
from model.explorer.coordinator.values import Shared, Slot, State
from model.explorer.packed import explore
from model.explorer.properties import Always
from model.invariants import check_world
from model.surroundings import ASSUMPTIONS

WIDE = evolve(BOUNDS["lifecycle"], ids=3)
ODD = (
    Slot("committed", 0, stage="running", matches=True, left=1),
    Slot("orphan-suspect", 1, stage="running", matches=None),
    Slot("reserved", 0, left=None),
    Slot("reserved", 0, left=1, stage="running", matches=True),
)
"""Rows that break S6 or S7, which the model never makes."""

CLAUSES = ("S6", "S7", "S8", "S10")
WAYS_OUT = ("nothing-gets-stuck", "proof-frees")


@cache
def slots() -> tuple[Slot, ...]:
    """All that the facet `lifecycle` reaches, and what is reached where an assumption does not hold."""
    graphs = [explore(CoordinatorSpace(BOUNDS["lifecycle"]), edges=True).graph]
    graphs += [exploration(name, dropped=True).graph for name in ASSUMPTIONS if name != "files-stay"]
    found = {slot for graph in graphs if graph is not None for state in graph.states for slot in state.slots}
    return tuple(sorted(found, key=repr)) + ODD


def holds(asked: Always[Shared, Slot], state: State) -> bool:
    return asked.holds(asked.part(state.shared), tuple(sorted(map(asked.project, state.slots), key=repr)))


@cache
def judged(many: int) -> list[tuple[State, tuple[str, ...]]]:
    """Any three of those slots under a maximum that they may or may not exceed, and what that breaks."""
    dice = Random(7)
    shared = CoordinatorSpace(WIDE).initial()[0].shared
    states = [
        State(evolve(shared, maximum=dice.randrange(1, 4)), tuple(dice.choice(slots()) for _ in range(3)))
        for _ in range(many)
    ]
    return [(state, check_world(forge(state, WIDE))) for state in states]


@pytest.mark.parametrize("name", sorted(OF_STATES))
def test_a_property_over_states_agrees_with_its_invariant(name: str) -> None:
    asked = next(each for each in properties(WIDE) if isinstance(each, Always) and each.id == name)
    answers = set()
    for state, broken in judged(1500):
        if name in WAYS_OUT and any(clause in broken for clause in CLAUSES):
            continue  # a state that no store would read frees nothing
        assert holds(asked, state) == (name not in broken), state
        answers.add(name not in broken)
    assert True in answers
    assert False in answers or name in WAYS_OUT
