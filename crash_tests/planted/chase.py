"""The hunt itself: the jobs of `holdtrue check` one after another, until one of them fails.

Nothing here knows of any fault. The jobs are those of the quick profile, cheapest first: pinned corpus,
random walks, races of processes, kills, failing disk steps, and Hypothesis last, which is slow to start.
What is caught is made shorter by the checks' own shrinker. A race can't be: so the shortest races come first.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from attrs import evolve, frozen

from crash_tests.jobs import plan_kills, race_named
from crash_tests.planted.shorter import length_of, shortened
from crash_tests.planted.systems import jobs_of
from model.values import JSON
from stateful_tests.jobs import plan_conformance, plan_corpus
from stateful_tests.results import Failure, Job, run_job
from stateful_tests.system import COORDINATOR

PROFILE: Final = "quick"

NAMES: Final[Mapping[str, str]] = {
    "run_corpus": "corpus",
    "run_walks": "walk",
    "run_races": "processes",
    "run_kills": "kill",
    "run_faults": "disk fault",
    "run_tortures": "torture",
    "run_machine": "machine",
}
"""What a job's runner is called here, in the order of the hunt. Those that only measure are left out."""

FEW_WALKS: Final = 12


@frozen
class Catch:
    """What caught the fault. `actions` counts those of the trace, kills and failing steps included."""

    by: str
    clause: str
    title: str
    actions: int
    trace: JSON
    seconds: float = 0.0

    def to_json(self) -> dict[str, JSON]:
        return {
            "by": self.by,
            "clause": self.clause,
            "title": self.title,
            "actions": self.actions,
            "seconds": self.seconds,
            "trace": self.trace,
        }


def chase(*, ways: Collection[str], thorough: bool, seed: int) -> Catch | None:
    """The first catch in one of `ways` (values of `NAMES`), made short; `None` if all jobs pass."""
    for by, job in _jobs(seed, thorough=thorough):
        if by not in ways:
            continue
        failures = run_job(job).failures
        if failures:
            return _catch(by, failures)
    return None


def _jobs(seed: int, *, thorough: bool) -> Iterator[tuple[str, Job]]:
    plans = (plan_corpus(PROFILE, seed), plan_conformance(PROFILE, seed), plan_kills(PROFILE, seed))
    jobs = list(jobs_of(COORDINATOR, plans))
    for runner, by in NAMES.items():
        of_runner = [job for job in jobs if job.runner.endswith(f":{runner}")]
        if by == "processes":
            of_runner.sort(key=_length_of_race)
        if thorough or by not in ("walk", "machine"):
            for job in of_runner:
                yield by, job
        else:
            first = of_runner[0]
            yield by, evolve(first, params=_fewer(first.params))


def _length_of_race(job: Job) -> int:
    names: Any = job.params["names"]
    return sum(len(race_named(name).steps) for name in names)


def _fewer(params: Mapping[str, Any]) -> dict[str, JSON]:
    """A part of a job's walks: those that it would start with."""
    fewer = dict(params)
    if "walks" in fewer:
        fewer["walks"] = min(int(fewer["walks"]), FEW_WALKS)
    return fewer


def _catch(by: str, failures: Sequence[Failure]) -> Catch:
    failure = shortened(min(failures, key=lambda one: length_of(one.trace)))
    return Catch(by, failure.clause, failure.title, length_of(failure.trace), failure.trace)
