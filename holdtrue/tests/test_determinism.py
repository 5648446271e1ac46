"""Two runs with the same seed and code leave the same results, byte for byte, times and environment aside.

The real runners, with small budgets: walks, machines, invariants, explorations, kills, faults, races.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from crash_tests.jobs import plan_kills
from holdtrue import provenance
from holdtrue.phases import Phase, Planner
from holdtrue.tests.runs import check_run
from reports.canonical import canonical
from stateful_tests.exploring.jobs import plan_exploration
from stateful_tests.jobs import plan_conformance, plan_corpus, plan_invariants
from stateful_tests.results import Job, Plan

SMALL: Mapping[str, Any] = {"walks": 2, "steps": 40, "examples": 3, "sample": 20, "times": 1}
FACETS = {"arguments", "verify", None}
SCENARIOS = {"reserve", "genesis", "transact", "open-mirror-corrupt"}


def small(plan: Plan) -> Plan:
    """One job of each runner and system in the plan, doing little."""
    jobs: dict[tuple[str, object], Job] = {}
    for job in plan.jobs:
        if job.params.get("facet") not in FACETS:
            continue
        params = {key: SMALL.get(key, value) for key, value in job.params.items()}
        scenarios = params.get("scenarios")
        if isinstance(scenarios, list):
            params["scenarios"] = [name for name in scenarios if name in SCENARIOS]
        if isinstance(params.get("names"), list):
            params["names"] = params["names"][:10]
        if scenarios is None or params["scenarios"]:
            jobs.setdefault((job.runner, params.get("system")), evolve(job, params=params))
    return Plan(tuple(job for (runner, _), job in jobs.items() if not runner.endswith("rates")), {})


def phases(seed: int) -> tuple[Phase, ...]:
    plans = {"corpus": plan_corpus, "conformance": plan_conformance, "invariants": plan_invariants}
    others = {"kills": plan_kills, "exploration": plan_exploration}
    made = {name: small(plan("quick", seed)) for name, plan in {**plans, **others}.items()}
    return tuple(Phase(name, "about", _planner(plan)) for name, plan in made.items())


def _planner(plan: Plan) -> Planner:
    return lambda _profile, _seed: plan


def hashed(folder: Path) -> bytes:
    """What must be the same of a run's results."""
    results = json.loads((folder / "results.json").read_text("utf-8"))
    assert (folder / "results.json").read_bytes() == canonical(results)
    return canonical({key: value for key, value in results.items() if key not in ("times", "environment")})


@pytest.fixture(autouse=True)
def same_code(monkeypatch: pytest.MonkeyPatch) -> None:
    told = provenance.code()  # somebody may be editing meanwhile
    monkeypatch.setattr("holdtrue.check.code", lambda: told)


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    runs = [check_run(tmp_path, *phases(7), seed=7, workers=count)[1] for count in (1, 2)]
    assert hashed(runs[0]) == hashed(runs[1])
    for run in runs:
        assert run.name.encode() not in hashed(run)
    counts = json.loads((runs[0] / "results.json").read_text("utf-8"))["phases"]
    assert all(phase["done"] == phase["planned"] > 0 for phase in counts)
    assert {phase["name"] for phase in counts if not phase["lost"]} == {
        "corpus",
        "conformance",
        "invariants",
        "kills",
        "exploration",
    }


def test_another_seed_gives_others(tmp_path: Path) -> None:
    only = [phase for phase in phases(7) if phase.name == "invariants"]
    others = [phase for phase in phases(8) if phase.name == "invariants"]
    _, one, _ = check_run(tmp_path, *only, seed=7)
    _, other, _ = check_run(tmp_path, *others, seed=7)
    assert hashed(one) != hashed(other)
