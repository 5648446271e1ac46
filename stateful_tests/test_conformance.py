"""Walks, tours and the Hypothesis machine: they agree, cover, repeat themselves exactly, and find faults."""

import random
from pathlib import Path
from typing import Any, get_args

import pytest

import model
from model import walk
from model.actions import Action, Call, Moment
from stateful_tests import floors, machine, replay
from stateful_tests.coverage import Coverage
from stateful_tests.failures import AGAIN, failure
from stateful_tests.jobs import BUDGETS, plan_conformance, plan_corpus, plan_invariants
from stateful_tests.lockstep import Lockstep
from stateful_tests.machine import machine_class
from stateful_tests.results import Plan, below_floor, run_job
from stateful_tests.runners import run_invariants, run_machine, run_walks
from stateful_tests.target import Answered, Result, StoreTarget
from stateful_tests.tours import TOURS, tour, touring
from stateful_tests.trace import from_json
from stateful_tests.walker import Seen
from stateful_tests.walks import walk as random_walk

WALKS: dict[str, Any] = {"profile": "test", "seed": 3, "number": 0, "walks": 8, "steps": 90}
MACHINE: dict[str, Any] = {"profile": "test", "seed": 3, "number": 0, "examples": 15, "steps": 25}


class Greedy(StoreTarget):
    """A store that says it has released what it has not."""

    def apply(self, action: Action) -> Result:
        result = super().apply(action)
        wrong = isinstance(action, Call) and action.operation == "normalRelease"
        return Answered(None) if wrong else result


def test_model_and_store_agree_on_random_walks_and_the_same_seed_sees_the_same() -> None:
    first, second = run_walks(WALKS), run_walks(WALKS)
    assert first.failures == ()
    assert first.counts == second.counts
    assert first.counts["actions"] == WALKS["walks"] * WALKS["steps"]


def test_model_and_store_agree_under_hypothesis_and_the_same_seed_sees_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = run_machine(MACHINE)
    monkeypatch.setenv("CI", "1")
    second = run_machine(MACHINE)
    assert first.failures == ()
    assert first.counts == second.counts
    assert first.counts["examples"] >= MACHINE["examples"]


def test_each_way_from_one_state_of_a_reservation_to_another_is_counted() -> None:
    counts = run_walks(WALKS).counts
    ways = {
        key.removeprefix("lifecycle/"): count for key, count in counts.items() if key.startswith("lifecycle")
    }
    assert 0 < ways["none/reserve/reserved"] <= counts["rule/reserve/accepted"]
    assert ways["committed/markOrphanSuspect/orphan-suspect"] > 0
    assert {way.partition("/")[0] for way in ways} == {"none", "reserved", "committed", "orphan-suspect"}, (
        "nothing comes back from a terminal state"
    )


def test_another_seed_sees_something_else() -> None:
    assert run_machine(MACHINE).counts != run_machine({**MACHINE, "seed": 4}).counts
    assert run_walks(WALKS).counts != run_walks({**WALKS, "seed": 4}).counts


@pytest.mark.parametrize("where", ["damage", "rollback", *get_args(Moment)])
def test_each_tour_brings_about_what_it_is_for(where: str, tmp_path: Path) -> None:
    for number, (at, what) in enumerate(TOURS):
        if at != where:
            continue
        coverage = Coverage()
        with StoreTarget(tmp_path / f"{number}") as target:
            pair = Lockstep(target)
            # The first makes the store; the second goes through it in a world with a history.
            for seed in ("first", "second"):
                for action in tour(random.Random(seed), pair.world, at, what):
                    before = pair.world
                    record = pair.check(action)
                    coverage.see(before, record, pair.world)
        key = f"damage/{what}" if at == "damage" else f"moment/{at}/{what}"
        if at == "rollback":
            key = "rule/snapshot/DURABILITY_FAILED"
        assert coverage.counts[key], key


def test_a_fault_found_on_a_walk_becomes_a_short_trace_that_fails_again(tmp_path: Path) -> None:
    for number in range(20):
        coverage = Coverage()
        found = random_walk(
            touring(walk.draw, 0, 50),
            f"{number}",
            150,
            tmp_path / f"{number}",
            coverage=coverage,
            factory=Greedy,
        )
        if found.failed:
            break
    assert found.failed
    told = failure(found.records, seed=1, profile="test", factory=Greedy)
    trace = from_json(told.trace)
    assert AGAIN not in trace.why
    assert len(trace.steps) <= 10
    assert told.clause == trace.clause
    assert replay.replay(trace, factory=Greedy).status == "failing"
    assert replay.replay(trace).status == "fixed"


def test_a_fault_found_by_hypothesis_is_kept_with_its_steps(tmp_path: Path) -> None:
    seen = Seen(Coverage())
    greedy = machine_class(tmp_path, seen, target_class=Greedy)
    assert greedy.target_class is Greedy
    for number in range(10):
        seen = machine.run(number, examples=40, steps=40, target_class=Greedy)
        if seen.failing:
            break
    assert seen.failing
    assert seen.failing[-1].divergence is not None
    assert seen.failing[-1].divergence.name == "normalRelease"


def test_a_failure_that_does_not_come_again_says_so(tmp_path: Path) -> None:
    with Greedy(tmp_path / "store") as target:
        pair = Lockstep(target)
        records = [
            pair.step(action) for action in tour(random.Random(1), pair.world, "read_release", "raises")
        ]
    assert records[-1].divergence is not None
    told = failure(records, seed=1, profile="test")
    assert AGAIN in from_json(told.trace).why


@pytest.mark.parametrize("planner", [plan_corpus, plan_conformance, plan_invariants])
@pytest.mark.parametrize("profile", BUDGETS)
def test_a_plan_is_a_function_of_profile_and_seed(planner: object, profile: str) -> None:
    assert callable(planner)
    plan = planner(profile, 5)
    assert isinstance(plan, Plan)
    assert plan == planner(profile, 5)
    assert plan == Plan.from_json(plan.to_json())
    assert plan.floors


def test_every_job_of_the_corpus_runs_and_meets_its_floors() -> None:
    plan = plan_corpus("quick", 0)
    counts: dict[str, int] = {}
    for job in plan.jobs:
        result = run_job(job)
        assert result.job == job
        assert result.failures == ()
        counts |= result.counts
    assert below_floor(counts, plan.floors) == ()


def test_invariants_hold_on_walks_of_the_model_alone() -> None:
    result = run_invariants({"profile": "test", "seed": 1, "number": 0, "walks": 2, "steps": 400})
    assert result.failures == ()
    assert any(key.startswith("witness/") for key in result.counts)
    assert result.counts["invariant/S8"] == result.counts["actions"] > 0


def test_floors_ask_for_every_invariant_and_every_damage() -> None:
    assert {"witness/S8", "invariant/nothing-gets-stuck"} <= set(floors.invariants(1))
    assert {"damage/lock-fifo", "moment/rename/happens"} <= set(floors.conformance(1))
    assert model.initial_world().store is None
