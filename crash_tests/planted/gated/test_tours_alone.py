"""What is planted in the ledger's logic is found by tours alone: no randomness, no kill, no pinned trace."""

import json
import subprocess
import sys
from typing import Any

import pytest

from crash_tests.planted.gated.catalogue import BY_ID
from crash_tests.planted.gated.shown import HIDDEN, SHOWN
from crash_tests.planted.touring import SOUND
from model.gated.explorer.names import FACETS
from stateful_tests.exploring.drive import ABSTRACTION

LIMIT_S = 600.0


def toured(fault: str, facet: str) -> dict[str, Any] | None:
    """What the tour of one facet shows, in a process of its own."""
    command = [sys.executable, "-m", "crash_tests.planted.touring", "ledger", fault, "--facet", facet]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] | None = json.loads(ended.stdout)
    return found


@pytest.mark.parametrize("fault", SHOWN)
def test_a_tour_shows_a_planted_fault(fault: str) -> None:
    found = toured(fault, SHOWN[fault])
    assert found is not None, BY_ID[fault].sentence
    assert found["facet"] == SHOWN[fault]
    assert found["kind"] != ABSTRACTION


def test_a_tour_of_the_sound_store_shows_nothing() -> None:
    assert toured(SOUND, "kinds") is None


def test_each_fault_of_the_catalogue_is_shown_or_says_why_it_is_not() -> None:
    assert {*SHOWN, *HIDDEN} == set(BY_ID)
    assert not {*SHOWN} & {*HIDDEN}
    assert all(len(why) > 30 for why in HIDDEN.values())


def test_faults_are_shown_in_facets_that_the_ci_profile_tours() -> None:
    assert set(SHOWN.values()) <= {facet.name for facet in FACETS if facet.toured.get("ci")}
