"""The ledger's part of the phases that run in one process each: conformance and invariants.

As in `stateful_tests.jobs`, whose plans these become a part of: counts are budgets, planning runs nothing.
(Pinned traces of both systems stand in one corpus.)
"""

from collections.abc import Mapping
from typing import Final

from attrs import frozen

from model.values import JSON
from stateful_tests.gated import floors
from stateful_tests.results import Job, Plan


@frozen
class Budget:
    """How much a profile does, in counts. `least` is the floor of every key of a phase."""

    walk_jobs: int
    walks: int
    steps: int
    machine_jobs: int
    examples: int
    rules: int
    model_jobs: int
    model_walks: int
    model_steps: int
    least: int


BUDGETS: Final[Mapping[str, Budget]] = {
    "quick": Budget(4, 20, 100, 1, 60, 20, 2, 12, 250, 1),
    "ci": Budget(12, 40, 100, 2, 150, 30, 4, 40, 400, 3),
    "deep": Budget(48, 80, 100, 12, 300, 40, 16, 100, 500, 10),
}


def conformance(profile: str, seed: int) -> Plan:
    """Hypothesis machines with several clients, and random walks with tours among them."""
    budget = BUDGETS[profile]
    jobs = []
    size = {"examples": budget.examples, "steps": budget.rules}
    for number in range(budget.machine_jobs):
        jobs.append(_job("conformance", "run_machine", profile, seed, budget.examples, number=number, **size))
    size = {"walks": budget.walks, "steps": budget.steps}
    for number in range(budget.walk_jobs):
        jobs.append(_job("conformance", "run_walks", profile, seed, 3 * budget.walks, number=number, **size))
    return Plan(tuple(jobs), floors.conformance(budget.least))


def invariants(profile: str, seed: int) -> Plan:
    """Long walks of the model alone, with every invariant and every witness."""
    budget = BUDGETS[profile]
    size = {"walks": budget.model_walks, "steps": budget.model_steps}
    jobs = [
        _job("invariants", "run_invariants", profile, seed, budget.model_walks, number=number, **size)
        for number in range(budget.model_jobs)
    ]
    return Plan(tuple(jobs), floors.invariants(budget.least))


def _job(phase: str, runner: str, profile: str, seed: int, weight: float, **params: JSON) -> Job:
    given: dict[str, JSON] = {"system": "ledger", "profile": profile, "seed": seed, **params}
    return Job(phase, f"stateful_tests.runners:{runner}", given, weight)
