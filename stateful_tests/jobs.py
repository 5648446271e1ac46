"""The plans of the phases that run in one process each: corpus, conformance, invariants.

A plan is a function of profile and seed; budgets are counts, so what a run does is, too. Planning imports no
Hypothesis and runs nothing: `runners` does.
"""

from collections.abc import Mapping
from typing import Final

from attrs import frozen

from model.values import JSON
from stateful_tests import floors, pinned
from stateful_tests.gated import jobs as ledger
from stateful_tests.results import Job, Plan, joined

_RUNNERS: Final = "stateful_tests.runners"


@frozen
class Budget:
    """How much a profile does, in counts. `least` is the floor of every key of a phase."""

    walk_jobs: int
    walks: int
    steps: int
    machine_jobs: int
    examples: int
    rules: int
    rounds: int
    model_jobs: int
    model_walks: int
    model_steps: int
    least: int


BUDGETS: Final[Mapping[str, Budget]] = {
    "quick": Budget(8, 60, 150, 2, 60, 30, 20, 4, 12, 1_000, 1),
    "ci": Budget(40, 120, 150, 6, 150, 40, 40, 12, 30, 1_000, 5),
    "deep": Budget(240, 240, 150, 24, 400, 50, 80, 48, 60, 1_000, 20),
}


def plan_corpus(profile: str, seed: int) -> Plan:
    """Every pinned trace once, in two jobs. The same for every profile and seed."""
    names = pinned.names()
    jobs: list[Job] = []
    for start in (0, 1):
        half: list[JSON] = list(names[start::2])
        jobs.append(_job("corpus", "run_corpus", profile, seed, len(half), names=half))
    return Plan(tuple(jobs), {f"corpus/{name}": 1 for name in names})


def plan_conformance(profile: str, seed: int) -> Plan:
    """The measurement of both rates, Hypothesis machines, and random walks for the bulk."""
    budget = BUDGETS[profile]
    rounds = budget.rounds
    jobs = [_job("conformance", "run_rates", profile, seed, rounds, rounds=rounds)]
    jobs.append(_job("conformance", "run_wire_rates", profile, seed, rounds, rounds=rounds // 2))
    size = {"examples": budget.examples, "steps": budget.rules}
    for number in range(budget.machine_jobs):
        jobs.append(_job("conformance", "run_machine", profile, seed, budget.examples, number=number, **size))
    size = {"walks": budget.walks, "steps": budget.steps}
    for number in range(budget.walk_jobs):
        jobs.append(_job("conformance", "run_walks", profile, seed, budget.walks, number=number, **size))
    return joined(Plan(tuple(jobs), floors.conformance(budget.least)), ledger.conformance(profile, seed))


def plan_invariants(profile: str, seed: int) -> Plan:
    """Long walks of the model alone, with every invariant and every witness."""
    budget = BUDGETS[profile]
    size = {"walks": budget.model_walks, "steps": budget.model_steps}
    jobs = [
        _job("invariants", "run_invariants", profile, seed, budget.model_walks, number=number, **size)
        for number in range(budget.model_jobs)
    ]
    return joined(Plan(tuple(jobs), floors.invariants(budget.least)), ledger.invariants(profile, seed))


def _job(phase: str, runner: str, profile: str, seed: int, weight: float, **params: JSON) -> Job:
    return Job(phase, f"{_RUNNERS}:{runner}", {"profile": profile, "seed": seed, **params}, weight)
