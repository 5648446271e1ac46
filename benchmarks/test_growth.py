"""The cost of an operation stays near that of the bytes it has to publish."""

from pathlib import Path

import pytest

from benchmarks.growth import file_system, run

RAM_BACKED = {"tmpfs", "ramfs", "devtmpfs"}


def test_an_operation_stays_within_its_multiple_of_a_raw_publish(tmp_path: Path) -> None:
    # The checkout lies on a disk more often than the temporary directory does.
    places = [place for place in (tmp_path, Path(__file__).parent) if file_system(place) not in RAM_BACKED]
    if not places:
        pytest.fail("no disk-backed directory here: neither the temporary one nor the checkout")
    short, long = run(places[0], [10, 3000])
    print(short, long)
    assert short.ratio <= 6, short
    assert long.ratio <= 10, long
