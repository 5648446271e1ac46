"""Which jobs of a check are about which of the two systems: a fault of one is hunted by its own."""

from collections.abc import Iterable, Iterator
from typing import Any

from attrs import evolve

from stateful_tests import pinned
from stateful_tests.results import Job, Plan
from stateful_tests.system import COORDINATOR


def jobs_of(system: str, plans: Iterable[Plan]) -> Iterator[Job]:
    """The jobs of `plans` that check `system`; of the pinned corpus, its traces alone."""
    known = frozenset(pinned.names(system))
    for plan in plans:
        for job in plan.jobs:
            if job.runner.endswith(":run_corpus"):
                named: Any = job.params["names"]
                yield evolve(job, params={**job.params, "names": [name for name in named if name in known]})
            elif (system == COORDINATOR) == _is_of_the_coordinator(job):
                yield job


def _is_of_the_coordinator(job: Job) -> bool:
    system = job.params.get("system", COORDINATOR)
    return system == COORDINATOR and not job.runner.startswith("crash_tests.gated.")
