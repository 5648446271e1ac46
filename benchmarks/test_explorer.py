"""The explorer is ten times as fast as what one writes first, and counts what it counts."""

from importlib.util import find_spec

import pytest

from benchmarks.explorer import main, networkx_on_the_way, ours
from benchmarks.reservations import Reservations
from model.explorer import reference


def test_all_of_them_count_the_same() -> None:
    fast, reduced, slow = ours(2), ours(2, reduce=True), networkx_on_the_way(2, 1_000_000)
    counted = reference.explore(Reservations(2))
    assert fast.states == slow.states == counted.states == reduced.full_states
    assert fast.transitions == slow.transitions == counted.transitions


def test_symmetry_counts_orbits() -> None:
    reduced = ours(4, reduce=True)
    assert (reduced.states, reduced.full_states) == (32_432, 578_415)


def test_it_is_ten_times_as_fast_as_building_a_graph_on_the_way() -> None:
    fast, slow = ours(4), networkx_on_the_way(4, 5_000)
    print(fast, slow)
    assert fast.per_second >= 10 * slow.per_second, (fast, slow)


def test_the_table_says_what_was_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--ids", "2", "--slow-states", "500"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("calibration loop: ")
    assert "attrs into networkx" in told
    assert "orbits stand for" in told
    # Measured where it is installed, and else it says so.
    assert ("musil is not installed" in told) == (find_spec("musil") is None)
