"""What is planted in the coordinator's logic is found by tours alone: no chance, no kill, no pinned trace."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from crash_tests.children import HarnessError
from crash_tests.planted import touring
from crash_tests.planted.catalogue import BY_ID
from crash_tests.planted.shown import FACETS, HIDDEN, SHOWN
from crash_tests.planted.touring import SOUND
from stateful_tests.exploring import places
from stateful_tests.exploring.charts import SCRATCH
from stateful_tests.exploring.drive import ABSTRACTION
from stateful_tests.system import COORDINATOR

LIMIT_S = 1_200.0


def toured(scratch: Path, facet: str, *faults: str) -> dict[str, Any]:
    """What the tour of one facet shows of each fault, each in a process of its own."""
    command = [sys.executable, "-m", "crash_tests.planted.touring", COORDINATOR, *faults, "--facet", facet]
    ended = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
        env={**os.environ, SCRATCH: str(scratch)},
    )
    assert ended.returncode == 0, ended.stderr
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    if len(faults) == 1:
        return {faults[0]: lines[0]}
    return {name: found for line in lines for name, found in line.items()}


@pytest.mark.parametrize("facet", FACETS)
def test_a_tour_shows_what_is_planted(facet: str, tmp_path: Path) -> None:
    found = toured(tmp_path, facet, *FACETS[facet], *(SOUND,) * (facet in ("arguments", "damages")))
    for fault in FACETS[facet]:
        assert found[fault] is not None, BY_ID[fault].sentence
        assert found[fault]["facet"] == facet
        assert found[fault]["kind"] != ABSTRACTION, found[fault]
    assert found.get(SOUND) is None, "a false alarm"


def test_each_fault_of_the_catalogue_is_shown_or_says_why_it_is_not() -> None:
    equivalent = {fault.id for fault in BY_ID.values() if fault.equivalent}
    assert {*SHOWN, *HIDDEN} == set(BY_ID) - equivalent
    assert not {*SHOWN} & {*HIDDEN}
    assert len(SHOWN) == sum(map(len, FACETS.values()))
    assert all(len(why) > 20 for why in HIDDEN.values())


def test_faults_are_shown_in_facets_that_the_ci_profile_tours() -> None:
    toured_whole = {facet.name for facet in places.facets(COORDINATOR) if facet.toured.get("ci")}
    assert set(FACETS) <= toured_whole


def test_a_hunt_that_fails_itself_is_no_catch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(touring, "hunt", lambda *_, **__: 1 / 0)
    with pytest.raises(HarnessError, match="ZeroDivisionError"):
        list(touring.each(COORDINATOR, [SOUND], ()))
