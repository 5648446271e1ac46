"""One of a target's racing processes stands still at a system call: where, and what is found there by that.

Where a lock is given up midway comes first, so that what it is for is found without luck.
"""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from crash_tests.wire import calls, racing
from crash_tests.wire.needed import missing
from crash_tests.wire.racers import RACES
from crash_tests.wire.racing import Course
from crash_tests.wire.rounds import AT_CALL
from crash_tests.wire.test_wire_kills import sqlite
from stateful_tests.wire.fakes import fake
from stateful_tests.wire.rates import own_store
from stateful_tests.wire.runners import Aim

NO_STRACE = calls.usable()


@pytest.fixture
def strace() -> None:
    if NO_STRACE is not None:
        missing(NO_STRACE)


@pytest.fixture
def course() -> Iterator[Any]:
    """Makes courses, and closes them."""
    made: list[Course] = []

    def make(aim: Aim) -> Course:
        made.append(Course(aim, 0))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.mark.usefixtures("strace")
@pytest.mark.parametrize("kind", ["unlocks-early", "unlocks-midway", "unlocks-late"])
def test_a_lock_that_is_given_up_midway_is_found_in_the_first_round_at_a_call(course: Any, kind: str) -> None:
    lost = course(Aim(fake(kind))).round(RACES["for-slots"], AT_CALL)
    assert lost.violation.clause == "S10"
    assert any(", stopped after system call 2 of flock: " in step for step in lost.steps)


@pytest.mark.usefixtures("strace")
def test_a_target_that_fails_while_its_calls_are_recorded_ends_no_races(course: Any) -> None:
    here = course(Aim(fake("dies")))
    assert here.round(RACES["for-slots"], AT_CALL) is None
    assert here.missed


def test_places_where_a_lock_is_given_up_midway_come_first_and_take_turns_with_the_others() -> None:
    spots = [(1, calls.Place("write", at, at, True, at > 5)) for at in range(1, 8)]
    for seed in range(10):
        drawn = racing.in_turn(spots, random.Random(seed))
        assert set(drawn) == set(spots)
        assert len(drawn) == len(spots)
        assert [place.parts for _, place in drawn] == [True, False] * 2 + [False] * 3


@pytest.mark.usefixtures("strace")
@pytest.mark.parametrize("aim", [Aim(own_store()), sqlite("--mended")], ids=["ours", "sqlite"])
@pytest.mark.parametrize("name", ["for-slots", "first-opens", "newer-epoch"])
def test_a_store_that_holds_true_holds_when_one_stops_at_a_call(course: Any, aim: Aim, name: str) -> None:
    here = course(aim)
    for _ in range(2):
        assert here.round(RACES[name], AT_CALL) is None
        assert not here.missed
