"""A transaction costs the same however long its ledger is, and opening costs about a look at each line."""

from pathlib import Path

import pytest

from benchmarks.growth import file_system
from benchmarks.ledger import costs, opening
from benchmarks.test_growth import RAM_BACKED


def test_a_transaction_stays_within_its_multiples(tmp_path: Path) -> None:
    places = [place for place in (tmp_path, Path(__file__).parent) if file_system(place) not in RAM_BACKED]
    if not places:
        pytest.fail("no disk-backed directory here: neither the temporary one nor the checkout")
    short, long = costs(places[0], [100, 20_000])
    print(short, long)
    assert long.transaction_s <= 1.5 * short.transaction_s, (short, long)
    assert short.ratio <= 4, short
    assert long.ratio <= 4, long


def test_opening_a_long_ledger_costs_at_most_twice_a_look_at_each_line(tmp_path: Path) -> None:
    memory = Path("/dev/shm")
    found = opening(memory if memory.is_dir() else tmp_path, 100_000)
    print(found)
    assert found.ratio <= 2, found
