"""Real processes at one store: each race goes as it should, however its processes happen to be scheduled."""

import os
from pathlib import Path

import pytest

import impl
from crash_tests.jobs import EVERY_RACE, once, torture
from crash_tests.races import Race, Said, at_once, told


@pytest.mark.parametrize("race", EVERY_RACE, ids=lambda race: race.name)
def test_a_race_goes_as_it_should(race: Race) -> None:
    assert once(race) == []


@pytest.mark.parametrize("seed", range(3))
def test_processes_killed_anywhere_leave_what_they_had_acknowledged(seed: int) -> None:
    assert once(torture(seed)) == []


@pytest.mark.parametrize("race", EVERY_RACE, ids=lambda race: race.name)
def test_a_race_leaves_no_descriptor_open_and_no_child_behind(race: Race) -> None:
    before = _descriptors(), _children()
    once(race)
    assert (_descriptors(), _children()) == before


def test_a_child_that_is_left_behind_would_be_seen() -> None:
    before = _children()
    child = os.fork()
    if child == 0:
        os._exit(0)
    assert _children() - before == {str(child)}
    os.waitpid(child, 0)
    assert _children() == before


def _children() -> set[str]:
    """The children of this process, dead ones that nobody has waited for too, where the machine tells.

    Another test of this process may have left one of its own, such as the warden of targets.
    """
    return {pid for path in Path("/proc/self/task").glob("*/children") for pid in path.read_text().split()}


def _descriptors() -> int:
    """How many descriptors are open in this process, where the machine tells."""
    here = Path("/proc/self/fd")
    return len(list(here.iterdir())) if here.is_dir() else 0


def test_what_was_said_is_counted_and_what_few_were_told_is_quoted() -> None:
    refused = Said("DURABILITY_FAILED", "the state has 0 names")
    said = [Said("ok"), *[Said("CAPACITY_EXCEEDED", "full")] * 27, refused, Said("ok")]
    assert told(said) == "1 DURABILITY_FAILED (the state has 0 names), 27 CAPACITY_EXCEEDED, 2 ok"


def test_a_refused_opening_of_one_process_is_what_it_said() -> None:
    def refused() -> Said:
        raise impl.CoordinatorError("DURABILITY_FAILED", "the state has 0 names")

    assert at_once([refused]) == [Said("DURABILITY_FAILED", "the state has 0 names")]
