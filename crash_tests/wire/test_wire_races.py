"""Processes of a target that race: what was planted is found, what holds true passes, nothing is left behind.

Which rounds show a fault is the scheduler's choice. So a planted fault gets as many as a check may take, and
those that are found by chance alone are not asked for here.
"""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

import model
from crash_tests.scenarios import reserve
from crash_tests.wire import racing
from crash_tests.wire.crowd import Asking, Crowd, Request
from crash_tests.wire.racers import RACES, Turn
from crash_tests.wire.racing import Course, RaceError, again, key, plan_races
from crash_tests.wire.rounds import AT_CALL, AT_ONCE, KILLED, STANDING, STYLES, Lost, Round, _counted
from crash_tests.wire.test_wire_kills import sqlite
from stateful_tests.results import run_job, total
from stateful_tests.target import Refusal
from stateful_tests.wire.capabilities import Capabilities
from stateful_tests.wire.fakes import fake
from stateful_tests.wire.policy import Code, Missing, Policy
from stateful_tests.wire.rates import own_store
from stateful_tests.wire.runners import Aim
from stateful_tests.wire.serve import CAPABILITIES
from stateful_tests.wire.target import Command

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


def test_one_that_stands_still_is_woken_and_one_that_is_killed_is_missed_by_nobody(tmp_path: Path) -> None:
    for style in (STANDING, KILLED):
        crowd = Crowd(own_store())
        root = tmp_path / style
        root.mkdir()
        one = Round(RACES["for-slots"], crowd, Policy(), root / "store", style, random.Random(1), 0.001)
        assert one.run() is None
        pids = [talk.process.pid for talk in crowd._started]
        assert len(pids) == 9 - (style == KILLED)  # 8 racers, and who looks on
        crowd.close()
        assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]


def test_a_target_that_hangs_is_said_to_and_ends_the_races(monkeypatch: pytest.MonkeyPatch) -> None:
    crowds: list[Crowd] = []

    def crowd(command: Command) -> Crowd:
        crowds.append(Crowd(command))
        return crowds[-1]

    monkeypatch.setattr(racing, "Crowd", crowd)
    params = {"profile": "quick", "seed": 0, "rounds": 3, "names": [*RACES], "beyond": [], "strace": "none"}
    result = racing.run_races({**params, **Aim(fake("hangs", 1.0)).to_json()})
    (failure,) = result.failures
    assert failure.clause == "protocol: each request is answered in time"
    assert [talk for crowd in crowds for talk in crowd._started if talk.process.running] == []


def test_a_refused_opening_is_all_that_is_asked_of_its_process(tmp_path: Path) -> None:
    crowd = Crowd(own_store())
    try:
        asking = Asking(crowd.members(tmp_path / "store", [model.initial_world()]))  # no lease
        opens = RACES["for-slots"].bursts[0][0]
        assert opens is not None
        asking.send(0, opens)
        asking.collect()
        asking.send(0, Turn("reserve 1", evolve(reserve(1), host="p1")))
        assert len(asking.requests) == 1
    finally:
        crowd.close()


@pytest.mark.parametrize(("style", "answered"), [(STANDING, True), (KILLED, False)])
def test_a_round_whose_victim_was_refused_before_strikes_nobody_and_is_judged(
    course: Any, style: str, answered: bool
) -> None:
    here = course(Aim(fake("turns-away")))
    lost = here.round(RACES["for-slots"], style)
    assert here.missed
    assert (lost is None) == answered  # where one stands still, openings may be refused
    for step in () if lost is None else lost.steps:
        assert step.endswith(": open: DURABILITY_FAILED")


def test_rounds_that_strike_nobody_are_counted_as_missed_and_end_no_races(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(racing, "STYLES", (STANDING, AT_ONCE))
    names = ["for-slots", "for-one-binding"]
    params = {"profile": "quick", "seed": 0, "rounds": 1, "names": names, "beyond": [], "strace": "none"}
    result = racing.run_races({**params, **Aim(fake("turns-away")).to_json()})
    assert [failure.title.partition(",")[0] for failure in result.failures] == names
    assert result.failures[0].title.endswith(": 8 DURABILITY_FAILED")
    assert result.counts[racing.MISSED] == 2


def test_a_target_for_one_process_at_a_time_is_told_to_be_out_of_reach() -> None:
    can = evolve(CAPABILITIES, processes="one")
    plan = plan_races("quick", 0, aim=Aim(fake("alone")), capabilities=can, strace=None)
    assert plan.floors == {}
    (job,) = plan.jobs
    assert run_job(job).counts == {racing.ONE_PROCESS: len(RACES)}


def test_races_about_an_operation_that_there_is_not_are_counted_as_declared() -> None:
    aim = Aim(own_store(), Policy(missing=(Missing("normalRelease", "nobody ever leaves"),)))
    plan = plan_races("quick", 0, aim=aim, capabilities=Capabilities(again=True), strace=None)
    assert "race/one-release" not in plan.floors
    assert run_job(plan.jobs[-1]).counts == {"deviation/no normalRelease": 1}


def test_jobs_reach_the_floors_of_their_plan_and_count_each_round() -> None:
    aim = sqlite("--mended")
    plan = plan_races("quick", 0, aim=aim, capabilities=Capabilities(again=True), strace="none here")
    jobs = [evolve(job, params={**job.params, "rounds": 1}) for job in plan.jobs]
    results = [run_job(job) for job in jobs]
    assert [failure.title for result in results for failure in result.failures] == []
    counts = total(results)
    assert set(plan.floors) == {key(name, style) for name in RACES for style in STYLES}
    assert {name: counts[name] for name in plan.floors} == dict.fromkeys(plan.floors, 1)
    assert counts[f"{racing.NO_CALLS}: none here"] == 2


def test_a_trace_tells_who_was_asked_for_what_and_is_run_again() -> None:
    aim = Aim(fake("unlocked"))
    params = {
        "profile": "ci",
        "seed": 0,
        "rounds": 20,
        "names": ["for-slots"],
        "beyond": [],
        "strace": "none",
    }
    (failure,) = racing.run_races({**params, **aim.to_json()}).failures
    trace: Any = failure.trace
    assert (trace["kind"], trace["trial"], trace["name"]) == ("kill", "race", "for-slots")
    assert trace["versions"] == {"target": aim.command.text}
    assert [step.partition(":")[0] for step in trace["steps"][:8]] == [f"process {n}" for n in range(1, 9)]
    assert trace["wrong"][0] in failure.title
    lost, sentence = again(trace, aim, CAPABILITIES)
    assert lost is not None
    assert lost.violation.clause == failure.clause
    assert sentence.startswith("in round ")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"schema_version": 2}, "schema_version: 2"),
        ({"name": "for-fun"}, "'for-fun' is no race of a target"),
        ({"name": ["for-slots"]}, "is no race of a target"),
        ({"style": "asleep"}, "'asleep' is none"),
    ],
)
def test_a_trace_that_makes_no_sense_names_the_place(change: dict[str, Any], told: str) -> None:
    trace = {"schema_version": 1, "name": "for-slots", "style": AT_ONCE}
    with pytest.raises(RaceError, match=told):
        again({**trace, **change}, Aim(own_store()), CAPABILITIES)


def test_a_target_that_can_not_be_raced_any_more_is_refused_with_the_reason() -> None:
    trace = {"schema_version": 1, "name": "for-slots", "style": AT_ONCE}
    with pytest.raises(RaceError, match="for one process at a time"):
        again(trace, Aim(fake("alone")), evolve(CAPABILITIES, processes="one"))


@pytest.mark.parametrize(
    ("style", "result", "void"),
    [
        (STANDING, Refusal("DURABILITY_FAILED"), True),
        (AT_CALL, Refusal("DURABILITY_FAILED"), True),
        (STANDING, Refusal("BUSY"), True),
        (STANDING, Refusal("DURABILITY_FAILED", "unknown"), False),
        (STANDING, Refusal("AUTHORITY_REVOKED"), False),
        (AT_ONCE, Refusal("DURABILITY_FAILED"), False),
        (KILLED, Refusal("DURABILITY_FAILED"), False),
    ],
)
def test_only_where_one_stands_still_may_others_give_up(style: str, result: Refusal, void: bool) -> None:
    turn = RACES["for-slots"].bursts[1][0]
    assert turn is not None
    declared = Policy(codes=(Code("reserve", "DURABILITY_FAILED", "BUSY", "an older name"),))
    assert _counted(Request(0, turn, frozenset(), result), style, declared).void == void
