"""Each planted fault is caught by the checks, with a short story; the sound store sets nothing off.

A fault is hunted in a process of its own. What is given here is a limit on a busy machine: most hunts take a
second or two.
"""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from crash_tests.planted.catalogue import BY_ID, FAULTS
from crash_tests.planted.hunt import SOUND, WAYS
from crash_tests.planted.plant import Change, Fault, PlantError, changed_source, plant

LONGEST = 10
"""No catch may be told in more actions than this."""

LIMIT_S = 600.0

SEEN_BY_KILLS_ALONE = (
    "c1-identity-before-the-first-state",
    "c6-leftovers-stay",
    "c7-killed-holder-leaves-its-lock",
    "in-place-write",
    "rename-before-the-write-is-complete",
)
SEEN_BY_FAILING_DISK_STEPS_ALONE = ("c5-failed-publication-leaves-its-temp-file", "in-place-write")


def hunted(fault: str, *arguments: str) -> dict[str, Any] | None:
    """What a hunt in a process of its own prints."""
    command = [sys.executable, "-m", "crash_tests.planted.hunt", fault, *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] | None = json.loads(ended.stdout)
    return found


def source_of(module: str) -> str:
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).read_text(encoding="utf-8")


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_a_planted_fault_is_caught_in_ten_actions_at_most_unless_it_is_equivalent(fault: Fault) -> None:
    caught = hunted(fault.id)
    if fault.equivalent:
        assert caught is None, f"it can be told from the sound store: {caught}"
        return
    assert caught is not None, f"nothing catches: {fault.sentence}"
    assert caught["actions"] <= LONGEST, caught["trace"]


@pytest.mark.parametrize("name", SEEN_BY_KILLS_ALONE)
def test_kills_alone_catch_what_breaks_only_when_a_process_dies(name: str) -> None:
    caught = hunted(name, "--only", "kill")
    assert caught is not None
    assert caught["actions"] <= LONGEST, caught["trace"]


@pytest.mark.parametrize("name", SEEN_BY_FAILING_DISK_STEPS_ALONE)
def test_failing_disk_steps_alone_catch_what_does_not_clean_up(name: str) -> None:
    caught = hunted(name, "--only", "disk fault")
    assert caught is not None
    assert caught["actions"] <= LONGEST, caught["trace"]


def test_the_same_hunt_finds_nothing_in_the_sound_store() -> None:
    assert hunted(SOUND) is None


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_a_fault_fits_the_source_and_still_compiles(fault: Fault) -> None:
    for module in dict.fromkeys(change.module for change in fault.changes):
        source = source_of(module)
        for change in fault.changes:
            if change.module == module:
                source = changed_source(change, source)
        compile(source, module, "exec", dont_inherit=True)


def test_the_catalogue_has_no_id_twice_and_undoes_every_fix() -> None:
    assert len(BY_ID) == len(FAULTS)
    undone = {fault.id.partition("-")[0] for fault in FAULTS}
    assert undone >= {f"c{number}" for number in range(1, 18)}


def test_a_fault_that_no_longer_fits_is_refused_and_so_is_one_that_comes_too_late() -> None:
    with pytest.raises(PlantError, match="0 times, not once"):
        changed_source(Change("impl.lock", "not there", ""), "here")
    with pytest.raises(PlantError, match="2 times, not once"):
        changed_source(Change("impl.lock", "twice", ""), "twice twice")
    late = Fault("late", "", "", (Change("crash_tests.planted.plant", "a", "b"),))
    with pytest.raises(PlantError, match=r"crash_tests\.planted\.plant imported already"):
        plant(late)


def test_the_ways_of_a_hunt_are_those_of_the_checks() -> None:
    from crash_tests.planted.chase import NAMES

    assert tuple(NAMES.values()) == WAYS
