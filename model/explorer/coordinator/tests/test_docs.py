"""What docs/explorer.md says of facets and assumptions is so."""

import re

from model.explorer.coordinator.assuming import exploration
from model.explorer.coordinator.facets import BOUNDS, FACETS
from model.explorer.coordinator.space import CoordinatorSpace
from model.explorer.coordinator.tests.documents import figures, rows
from model.explorer.packed import explore
from model.gated.explorer.names import FACETS as LEDGER_FACETS
from model.surroundings import ASSUMPTIONS


def test_the_facets_are_those_that_there_are() -> None:
    assert [row[:2] for row in rows("The coordinator's facets")] == [
        [each.name, each.about] for each in FACETS
    ]
    assert rows("The ledger's facets") == [[each.name, each.about] for each in LEDGER_FACETS]


def test_the_figures_of_five_reservations_are_what_exploring_them_gives() -> None:
    """Those of the other facets are held against the document where they are explored: `test_facets`."""
    explored = explore(CoordinatorSpace(BOUNDS["core5"]), reduce=True)
    found = (explored.states, explored.full_states, explored.transitions, explored.depth)
    assert figures("core5") == [f"{number:,}" for number in found]


def test_the_traces_of_assumptions_are_as_long_as_the_shortest() -> None:
    told = {name: len(re.split("; ", trace)) for name, trace in rows("What true capacity takes for granted")}
    found = {}
    for name in ASSUMPTIONS:
        trace = exploration(name, dropped=True).verdict("true-capacity").trace
        assert trace is not None
        found[name] = len(trace.moves)
    assert told == found
