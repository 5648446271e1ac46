"""Tours of the real store: all transitions of a small world, and what is found on the way.

What a tour is for is planted here: a store that does something else, and a graph that tells something else.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from model.actions import Action, Call, Finish, PutBack
from model.explorer.reference import explore
from model.invariants import check
from stateful_tests import replay, trace
from stateful_tests.exploring.chart import Chart
from stateful_tests.exploring.drive import ABSTRACTION, Drive
from stateful_tests.exploring.rewind import NoRewinder, StoreRewinder
from stateful_tests.exploring.route import Part, Tour
from stateful_tests.exploring.runners import told
from stateful_tests.exploring.share import preorder, share
from stateful_tests.exploring.toys import small_space
from stateful_tests.system import COORDINATOR, system_named
from stateful_tests.target import Answered, Refusal, Result, StoreTarget

SYSTEM = system_named(COORDINATOR)


def chart_of(ids: int = 1, *, damage: bool = False) -> Chart:
    space = small_space(ids, damage=damage)
    graph = explore(space, reduce=True).graph
    assert graph is not None
    return Chart(space, graph)


@frozen
class Seen:
    tour: Tour
    drive: Drive


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "tour"
    assert not (tmp_path / "tour").exists(), "a tour leaves nothing behind"


def toured(chart: Chart, root: Path, rewinder: Any = StoreRewinder, **more: Any) -> Seen:
    drive = Drive(chart, SYSTEM, root, rewinder, judge=check, **more)
    tour = Tour(Part(chart, range(chart.nodes)), drive)
    try:
        tour.run()
    finally:
        drive.end()
    return Seen(tour, drive)


def test_every_transition_of_a_small_world_is_taken_on_the_real_store(root: Path) -> None:
    chart = chart_of()
    coverage = SYSTEM.coverage()
    seen = toured(chart, root, coverage=coverage)
    assert seen.drive.divergence is None
    assert seen.tour.finished
    assert seen.tour.part.done == chart.edges > 200
    assert seen.drive.put_back > 0
    assert seen.drive.walked_back == 0
    assert coverage.counts["rule/commit/accepted"] > 0


def test_both_ways_of_going_back_take_the_same_transitions(root: Path) -> None:
    chart = chart_of()
    walking = toured(chart, root, lambda _: NoRewinder())
    putting = toured(chart, root)
    assert walking.tour.finished
    assert walking.drive.put_back == 0
    assert walking.drive.walked_back > 0
    assert putting.tour.part.done == walking.tour.part.done
    assert putting.drive.actions < walking.drive.actions / 1.5, "putting files back saves no action"


def test_while_damage_stands_one_walks_back(root: Path) -> None:
    seen = toured(chart_of(damage=True), root)
    assert seen.tour.finished
    assert seen.drive.put_back > 0
    assert seen.drive.walked_back > 0


class Forgetful(StoreTarget):
    """Renews a reservation that has run out, if its run was finished meanwhile: four actions deep."""

    finished = False

    def apply(self, action: Action) -> Result:
        self.finished |= isinstance(action, Finish)
        result = super().apply(action)
        if self.finished and isinstance(action, Call) and action.operation == "normalRelease":
            return Answered(None) if isinstance(result, Refusal) else result
        return result


def test_a_faulty_store_is_found_and_the_trace_replays_the_shortest_story(root: Path) -> None:
    seen = toured(chart_of(), root, factory=Forgetful)
    assert not seen.tour.finished
    found = seen.drive.divergence
    assert found is not None
    assert found.kind == "outcome"
    assert found.index == len(seen.drive.records) - 1
    again = replay.run(
        [one.action for one in seen.drive.records if not one.declined], factory=Forgetful, system=SYSTEM
    )
    assert again[-1].divergence is not None
    assert again[-1].divergence.signature == found.signature


def test_what_a_tour_finds_is_told_as_a_trace_like_any_other(root: Path) -> None:
    seen = toured(chart_of(), root, factory=Forgetful)
    params = {"facet": "small", "seed": 3, "profile": "quick"}
    failure = told(seen.drive.records, params, SYSTEM)
    assert "on the tour of small" in failure.title
    kept = trace.from_json(failure.trace)
    assert kept.divergence is not None
    assert replay.replay(kept, factory=Forgetful).status == "failing"


def test_a_graph_that_foretells_something_else_is_told_as_a_fault_of_the_explorer(root: Path) -> None:
    chart = chart_of()
    edge = next(edge for edge in range(chart.edges) if chart.target(edge) != chart.source(edge))
    chart._targets[edge] = chart.source(edge)
    seen = toured(chart, root)
    found = seen.drive.divergence
    assert found is not None
    assert found.kind == ABSTRACTION
    assert found.differences
    failure = told(seen.drive.records, {"facet": "small", "seed": 3, "profile": "quick"}, SYSTEM)
    assert "explorer" in failure.clause
    trace.from_json(failure.trace)


def test_an_outcome_that_was_not_foretold_is_one_too(root: Path) -> None:
    chart = chart_of()
    chart._outcomes[:] = [(each + 1) % len(chart.graph.outcomes) for each in chart._outcomes]
    found = toured(chart, root).drive.divergence
    assert found is not None
    assert found.kind == ABSTRACTION
    assert found.differences[0].path == "outcome class"


def test_a_rewinder_that_brings_back_other_files_is_noticed(root: Path) -> None:
    class Careless(StoreRewinder):
        def bring(self, pair: Any, kept: Any) -> Any:
            world = super().bring(pair, kept)
            assert self.target.files.published
            self.target.apply(PutBack(0))
            self.target.files.put = None
            return world

    found = toured(chart_of(), root, Careless).drive.divergence
    assert found is not None
    assert found.kind in ("store", "outcome", "answer", "bytes")


def test_shares_cut_the_graph_into_parts_that_are_toured_apart(root: Path) -> None:
    chart = chart_of(2)
    assert sorted(preorder(chart)) == list(range(chart.nodes))
    parts = [share(chart, part, 3) for part in range(3)]
    assert sorted(node for part in parts for node in part) == list(range(chart.nodes))
    sizes = [sum(len(chart.out(node)) for node in part) for part in parts]
    assert min(sizes) > chart.edges / 4
    shallow = share(chart, 0, 1, depth=3)
    assert 0 < len(shallow) < chart.nodes
    assert all(chart.graph.depth[node] <= 3 for node in shallow)
    drive = Drive(chart, SYSTEM, root, StoreRewinder)
    tour = Tour(Part(chart, parts[2]), drive)
    tour.run()
    drive.end()
    assert tour.finished
    assert tour.part.done == sizes[2]
    assert drive.actions < 1.3 * sizes[2]
    with pytest.raises(ValueError, match="no such part"):
        share(chart, 3, 3)


def test_a_graph_that_is_not_whole_is_not_toured() -> None:
    chart = chart_of()
    chart.graph.complete = False
    with pytest.raises(ValueError, match="whole graph"):
        Chart(chart.space, chart.graph)


def test_records_of_a_tour_count_from_the_very_beginning(root: Path) -> None:
    seen = toured(chart_of(), root)
    assert [record.index for record in seen.drive.records] == list(range(len(seen.drive.records)))
