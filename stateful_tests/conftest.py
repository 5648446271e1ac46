"""Stores under test stand in RAM where that can be: on a disk, each fsync would cost milliseconds."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from stateful_tests.replay import workspace


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    with workspace() as root:
        yield root
