"""The plan of the phase, its floors, and the whole quick phase in a lean process of its own."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import model
from crash_tests.jobs import REACHES, plan_kills
from crash_tests.paths import PASSED, points
from crash_tests.rates import BARE, COMMITS, MEASURED, RATIO, TRIALS
from impl import disk
from stateful_tests.results import JobResult, Plan, below_floor, resolve, total

ROOT = Path(__file__).resolve().parents[1]

RUN = """
import json, sys
from crash_tests.jobs import plan_kills
from stateful_tests.results import run_job
plan = plan_kills("quick", 7)
wanted = [job for job in plan.jobs if job.runner.endswith(":run_rates") == (sys.argv[1] == "rates")]
seen = [run_job(job).to_json() for job in wanted]
json.dump({"plan": plan.to_json(), "results": seen, "modules": sorted(sys.modules)}, sys.stdout)
"""


def _quick(what: str) -> tuple[Plan, list[JobResult], set[str]]:
    """The quick profile's plan, what its jobs saw in a process that runs nothing else, and its packages."""
    command = [sys.executable, "-c", RUN, what]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    results = [JobResult.from_json(result) for result in seen["results"]]
    return Plan.from_json(seen["plan"]), results, {name.partition(".")[0] for name in seen["modules"]}


def test_the_quick_phase_finds_nothing_wrong_reaches_every_floor_and_stays_lean() -> None:
    plan, results, packages = _quick("checks")
    assert [failure.title for result in results for failure in result.failures] == []
    assert below_floor(total(results), plan.floors) == ()
    assert packages.isdisjoint({"hypothesis", "networkx", "pytest", "rich", "holdtrue"})


def test_a_kill_trial_runs_at_a_fifth_of_the_bare_rate_or_better() -> None:
    _, results, _ = _quick("rates")
    (figures,) = (result.figures for result in results)
    assert set(figures) == {TRIALS, BARE, RATIO}
    assert figures[RATIO] >= 0.2


def test_rates_are_measured_on_a_history_as_long_as_they_say() -> None:
    world = model.initial_world()
    for action in MEASURED.history:
        world, _ = model.step(world, action)
    assert world.store is not None
    assert world.store.commit_seq == COMMITS == 50


@pytest.mark.parametrize("profile", REACHES)
def test_floors_ask_for_a_kill_at_each_point_that_is_written_down(profile: str) -> None:
    floors = plan_kills(profile, 0).floors
    for name, steps in PASSED.items():
        for key in points(steps):
            assert floors[f"kill/{name}/{key}"] == 1
    for point in disk.COORDINATOR_POINTS:
        assert floors[f"point/{point}"] == 1


@pytest.mark.parametrize("profile", REACHES)
def test_a_plan_is_json_and_names_runners_that_exist(profile: str) -> None:
    plan = plan_kills(profile, 3)
    assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan
    assert all(callable(resolve(job.runner)) for job in plan.jobs)


def test_the_same_seed_gives_the_same_plan() -> None:
    assert plan_kills("ci", 5) == plan_kills("ci", 5)
    assert plan_kills("ci", 5) != plan_kills("ci", 6)


def test_a_profile_that_there_is_not_is_refused() -> None:
    with pytest.raises(KeyError, match="slow"):
        plan_kills("slow", 0)
