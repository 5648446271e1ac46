"""A tour of a facet on the real ledger: every transition, compared; what differs is a short story."""

import errno
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from impl import disklog
from impl.gated.mirror import Mirror
from model.explorer.packed import explore
from model.explorer.space import Fired, Rule
from model.gated.explorer.facets import SPACES
from model.gated.explorer.looks import Look
from model.gated.explorer.names import FACETS
from model.gated.explorer.space import LedgerSpace
from stateful_tests.exploring.chart import Chart
from stateful_tests.exploring.charts import charted
from stateful_tests.exploring.drive import ABSTRACTION, Drive
from stateful_tests.exploring.places import rewinder
from stateful_tests.exploring.route import Part, Tour
from stateful_tests.gated.system import SYSTEM

Patch = pytest.MonkeyPatch


@pytest.fixture(scope="module")
def chart() -> Chart:
    return charted("ledger", "kinds").chart


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "tour"


def toured(chart: Chart, place: Path, *, most: int | None = None) -> tuple[Tour, Drive]:
    drive = Drive(chart, SYSTEM, place, rewinder("ledger"))
    tour = Tour(Part(chart, range(chart.nodes)), drive, most=most)
    try:
        tour.run()
    finally:
        drive.end()
    return tour, drive


def test_every_transition_of_a_facet_is_taken_and_nothing_differs(chart: Chart, place: Path) -> None:
    tour, drive = toured(chart, place)
    assert drive.divergence is None
    assert tour.finished
    assert tour.part.done == chart.edges > 200
    assert drive.put_back > 10 * drive.walked_back


def test_two_tours_are_the_same(chart: Chart, tmp_path: Path) -> None:
    actions = []
    for name in ("one", "two"):
        _, drive = toured(chart, tmp_path / name, most=60)
        actions.append((drive.actions, [record.action for record in drive.records]))
    assert actions[0] == actions[1]


def test_an_fsync_that_is_left_out_is_found(chart: Chart, place: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(disklog, "sync_append", lambda _descriptor: None)
    _, drive = toured(chart, place)
    assert drive.divergence is not None
    assert drive.divergence.kind in ("order", "outcome")
    assert len(drive.records) <= 15


def test_a_mirror_that_does_not_catch_up_is_found(chart: Chart, place: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(Mirror, "replay", lambda _self, lines: len(list(lines)))
    _, drive = toured(chart, place)
    assert drive.divergence is not None


def test_an_error_of_the_wrong_kind_is_found(chart: Chart, place: Path, monkeypatch: Patch) -> None:
    def refused(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(disklog, "sync_cut", refused)
    _, drive = toured(chart, place)
    assert drive.divergence is not None
    assert drive.divergence.kind in ("recoverability", "outcome")


def test_files_that_are_not_put_back_are_noticed(chart: Chart, place: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr("stateful_tests.gated.rewind._put", lambda _directory, _files: None)
    _, drive = toured(chart, place)
    assert drive.divergence is not None


class _Lying(LedgerSpace):
    """Says of one rule that it ends otherwise than it does."""

    def fire(
        self, rule: Rule, shared: Look, slot: str | None, context: tuple[Any, ...]
    ) -> Fired[Look, str] | None:
        found = super().fire(rule, shared, slot, context)
        return evolve(found, outcome="noop") if found is not None and rule.name == "read" else found


def test_a_graph_that_is_wrong_is_told_from_a_store_that_is(place: Path) -> None:
    space = _Lying(SPACES["kinds"]().scheme)
    graph = explore(space, (), reduce=True, edges=True).graph
    assert graph is not None
    _, drive = toured(Chart(space, graph), place)
    assert drive.divergence is not None
    assert drive.divergence.kind == ABSTRACTION


def test_the_table_puts_the_smallest_first_and_leaves_no_profile_without() -> None:
    quick = [facet.name for facet in FACETS if "quick" in facet.toured]
    sizes = [charted("ledger", name).chart.edges for name in quick]
    assert sizes == sorted(sizes)
    assert [facet.name for facet in FACETS][: len(quick)] == quick
    for profile in ("quick", "ci", "deep"):
        assert any(profile in facet.toured for facet in FACETS)
        assert any(profile in facet.killed for facet in FACETS) == (profile != "quick")
