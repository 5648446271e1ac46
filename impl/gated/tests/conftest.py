"""Fixtures of the tests of ledger-gated transactions."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from impl.gated import Ledger, open_ledger
from impl.gated.tests.bench import a_directory


@pytest.fixture
def directory() -> Iterator[Path]:
    """Where a store may be made."""
    with a_directory() as path:
        yield path


@pytest.fixture
def ledger(directory: Path) -> Iterator[Ledger]:
    """A new, open store."""
    with open_ledger(directory) as opened:
        yield opened
