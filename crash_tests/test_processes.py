"""Real processes at one store: each race goes as it should, however its processes happen to be scheduled."""

import os
from pathlib import Path

import pytest

from crash_tests.jobs import EVERY_RACE, once, torture
from crash_tests.races import Race


@pytest.mark.parametrize("race", EVERY_RACE, ids=lambda race: race.name)
def test_a_race_goes_as_it_should(race: Race) -> None:
    assert once(race) == []


@pytest.mark.parametrize("seed", range(3))
def test_processes_killed_anywhere_leave_what_they_had_acknowledged(seed: int) -> None:
    assert once(torture(seed)) == []


@pytest.mark.parametrize("race", EVERY_RACE, ids=lambda race: race.name)
def test_a_race_leaves_no_descriptor_open_and_no_child_behind(race: Race) -> None:
    before = _descriptors()
    once(race)
    assert _descriptors() == before
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def _descriptors() -> int:
    """How many descriptors are open in this process, where the machine tells."""
    here = Path("/proc/self/fd")
    return len(list(here.iterdir())) if here.is_dir() else 0
