"""Processes of a target that race: what was planted is found, what holds true passes, nothing is left behind.

Which rounds show a fault is the scheduler's choice. So a planted fault gets as many as a check may take, and
those that are found by chance alone are not asked for here.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from crash_tests.wire.racers import RACES
from crash_tests.wire.racing import Course
from crash_tests.wire.rounds import AT_ONCE, STANDING, STYLES, Lost
from crash_tests.wire.test_wire_kills import sqlite
from stateful_tests.wire.fakes import fake
from stateful_tests.wire.rates import own_store
from stateful_tests.wire.runners import Aim

ROUNDS = 40


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


def first_lost(course: Course, name: str, *styles: str) -> Lost:
    for _ in range(ROUNDS):
        for style in styles:
            lost = course.round(RACES[name], style)
            if lost is not None:
                return lost
    raise AssertionError(f"{name} was never lost in {ROUNDS} rounds")


@pytest.mark.parametrize("name", RACES)
@pytest.mark.parametrize("aim", [Aim(own_store()), sqlite("--mended")], ids=["ours", "sqlite"])
def test_a_store_that_holds_true_holds_in_every_race_and_style(course: Any, aim: Aim, name: str) -> None:
    here = course(aim)
    for style in STYLES:
        lost = here.round(RACES[name], style)
        assert lost is None, (style, lost)


@pytest.mark.parametrize(
    ("name", "clause"),
    [("for-slots", "S10"), ("first-opens", "genesis"), ("newer-epoch", "older-hosts-are-fenced")],
)
def test_a_store_without_a_lock_is_found(course: Any, name: str, clause: str) -> None:
    lost = first_lost(course(Aim(fake("unlocked"))), name, AT_ONCE, STANDING)
    assert lost.violation.clause == clause
    assert lost.wrong[0].startswith(f"{RACES[name].why}: ")
    assert lost.wrong[-1] in (
        "no order of the requests explains the answers",
        "some order explains the answers, but not what is stored after them",
    )
    assert lost.steps[0].startswith("process 1: open")
    assert all(step.startswith("process ") for step in lost.steps)


def test_a_lock_that_is_given_up_before_publishing_is_found(course: Any) -> None:
    lost = first_lost(course(Aim(fake("unlocks-early"))), "for-slots", STANDING)
    assert lost.violation.clause == "S10"
    assert any(", stopped " in step for step in lost.steps)


@pytest.mark.parametrize("fault", ["autocommit", "begun-late"])
def test_transactions_that_are_none_are_found(course: Any, fault: str) -> None:
    here = course(sqlite("--only", fault))
    for _ in range(ROUNDS):
        if any(
            here.round(RACES[name], style) for name in ("newer-epoch", "for-slots") for style in STYLES[:2]
        ):
            return
    raise AssertionError(f"{fault} was never found")
