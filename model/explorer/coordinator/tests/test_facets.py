"""Each facet is exhausted, holds what it must, and is made of states that worlds can be forged for."""

import ast
import functools
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import pytest

from model import callbacks, operations, running, sweep, transaction
from model.callbacks import RefusalError
from model.explorer.coordinator.facets import BOUNDS, FACETS
from model.explorer.coordinator.properties import properties, situation
from model.explorer.coordinator.space import OF_STATES, CoordinatorSpace
from model.explorer.coordinator.spaces import space as space_named
from model.explorer.coordinator.tests.documents import figures
from model.explorer.coordinator.values import Shared, Slot
from model.explorer.facet import load
from model.explorer.findings import Exploration
from model.explorer.packed import explore
from model.explorer.space import State
from model.invariants import INVARIANTS

LARGE = ("core", "core5")
SMALL = [name for name in BOUNDS if name not in LARGE]


Place = tuple[str, int]
"""A line of a file of the model."""


@functools.cache
def explored_with_refusals(name: str) -> tuple[Exploration[Shared, Slot], frozenset[Place]]:
    """A facet explored with all its properties, and the places of the model that refused something."""
    reached: set[Place] = set()
    plain = RefusalError.__init__

    def init(self: RefusalError, *arguments: Any) -> None:
        frame = sys._getframe(1)
        reached.add((Path(frame.f_code.co_filename).name, frame.f_lineno))
        plain(self, *arguments)

    bounds = BOUNDS[name]
    with mock.patch.object(RefusalError, "__init__", init):
        explored = explore(CoordinatorSpace(bounds), properties(bounds), reduce=True, edges=True)
    return explored, frozenset(reached)


@pytest.mark.parametrize("name", [*SMALL, "core"])
def test_a_facet_is_exhausted_and_all_that_it_declares_holds_and_is_put_to_the_test(name: str) -> None:
    explored, _ = explored_with_refusals(name)
    assert explored.complete, explored.reason
    assert explored.dead == ()
    found = (explored.states, explored.full_states, explored.transitions, explored.depth)
    assert figures(name) == [f"{number:,}" for number in found]
    assert [(each.id, each.reason) for each in explored.verdicts if each.verdict != "holds"] == []
    assert explored.graph is not None
    space = CoordinatorSpace(BOUNDS[name])
    for state in explored.graph.states[:3000]:
        assert space.view(space.forge(state)) == State(state.shared, state.slots)


def test_every_invariant_is_put_to_the_test_in_some_facet() -> None:
    tested = {each.id for each in INVARIANTS} - frozenset.intersection(
        *(each.untested for each in BOUNDS.values())
    )
    past = {"older-states-are-refused"}  # a kept state has none: see docs/explorer.md
    assert tested == {each.id for each in INVARIANTS} - past
    ids = {each.id for each in properties(BOUNDS["core"])}
    assert {each.id for each in INVARIANTS} <= ids
    assert {situation("S8"), situation("true-capacity"), *OF_STATES} <= ids


NEVER: dict[str, str] = {
    "raise RefusalError(fault)": "a state that breaks S1 to S10 is never there, nor about to be",
    "if not self.opening or world.identity_file or self.seen is not None:": "the files of an open store stay",
    "self.opening and store.commit_seq == 1 and store.audit[0].action ==": "and so does its identity",
    "if self.seen is not None and not is_successor(store, self.seen):": "see `assuming`",
    "raise ImpossibleError": "no rule asks for what cannot happen",
    "if self.look() >= self.expires_at:": "nothing can come between the rename and a launch",
}
"""Places that refuse and that no facet reaches: the line of the `raise` or the one before, and why."""


def refusing(module: ModuleType) -> list[tuple[str, range, str]]:
    """Each `raise` of a module: its file's name, its lines, and its text with the line that led there."""
    path = Path(str(module.__file__))
    text = path.read_text()
    lines = text.splitlines()
    return [
        (
            path.name,
            range(node.lineno, (node.end_lineno or node.lineno) + 1),
            " ".join(lines[node.lineno - 3 : node.lineno]),
        )
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Raise) and node.exc is not None
    ]


def test_every_guard_of_the_model_refuses_something_in_some_facet() -> None:
    reached = frozenset[Place]().union(*(explored_with_refusals(name)[1] for name in SMALL))
    missed = [
        text
        for module in (callbacks, operations, sweep, transaction, running)
        for file, lines, text in refusing(module)
        if not any((file, line) in reached for line in lines)
    ]
    assert [text for text in missed if not any(known in text for known in NEVER)] == []
    assert [known for known in NEVER if not any(known in text for text in missed)] == []
    assert len(missed) == 9


def test_facets_are_told_without_loading_numpy_or_networkx() -> None:
    code = "import sys, model.explorer.coordinator.facets; print({'numpy', 'networkx'} & set(sys.modules))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "set()"


def test_each_facet_names_its_space_and_its_properties() -> None:
    assert [facet.name for facet in FACETS] == list(dict.fromkeys(facet.name for facet in FACETS))
    assert {facet.name for facet in FACETS} == BOUNDS.keys()
    for facet in FACETS:
        assert load(facet.space)().bounds == BOUNDS[facet.name]
        assert load(facet.properties)() is not None


def test_an_unknown_facet_is_told_with_those_there_are() -> None:
    with pytest.raises(AttributeError, match="no facet 'cor': there are core"):
        load("model.explorer.coordinator.spaces:cor")
    with pytest.raises(KeyError):
        space_named("cor")
