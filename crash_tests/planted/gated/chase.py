"""The hunt in the ledger-gated store: its jobs of `holdtrue check`, one after another, until one fails.

Nothing here knows of any fault. The jobs are those of the quick profile, cheapest first: pinned corpus,
random walks, tampering, kills, failing steps, races of processes, and Hypothesis last, which is slow to
start. The corpus is replayed a few traces at a time, so that its first failure ends the hunt. What is caught
is made shorter by the checks' own shrinker. A race can't be: so the shortest races come first.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

from attrs import evolve

from crash_tests.gated.jobs import plan, race_named
from crash_tests.planted.chase import FEW_WALKS, PROFILE, Catch
from crash_tests.planted.gated.shorter import length_of, shortened
from crash_tests.planted.systems import jobs_of
from stateful_tests.jobs import plan_conformance, plan_corpus
from stateful_tests.results import Failure, Job, run_job

NAMES: Final = {
    "run_corpus": "corpus",
    "run_walks": "walk",
    "run_tampering": "tampering",
    "run_kills": "kill",
    "run_faults": "failing step",
    "run_races": "processes",
    "run_tortures": "torture",
    "run_machine": "machine",
}
"""What a job's runner is called here, in the order of the hunt. Those that only measure are left out."""

FEW_TRACES: Final = 6


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
    plans = (plan_corpus(PROFILE, seed), plan_conformance(PROFILE, seed), plan(PROFILE, seed))
    jobs = list(jobs_of("ledger", plans))
    for runner, by in NAMES.items():
        of_runner = [job for job in jobs if job.runner.endswith(f":{runner}")]
        if by == "corpus":
            of_runner = [few for job in of_runner for few in _few_traces(job)]
        if by == "processes":
            of_runner.sort(key=_length_of_races)
        if by in ("walk", "machine") and not thorough:
            of_runner = [_fewer(job) for job in of_runner[:1]]
        for job in of_runner:
            yield by, job


def _few_traces(job: Job) -> Iterator[Job]:
    """A job's traces, a few at a time."""
    names: Any = job.params["names"]
    for start in range(0, len(names), FEW_TRACES):
        yield evolve(job, params={**job.params, "names": names[start : start + FEW_TRACES]})


def _length_of_races(job: Job) -> int:
    names: Any = job.params["names"]
    return sum(len(race_named(name).steps) for name in names)


def _fewer(job: Job) -> Job:
    """A part of a job's walks: those that it would start with."""
    walks: Any = job.params.get("walks", 0)
    return evolve(job, params={**job.params, "walks": min(walks, FEW_WALKS)}) if walks else job


def _catch(by: str, failures: Sequence[Failure]) -> Catch:
    failure = shortened(min(failures, key=lambda one: length_of(one.trace)))
    return Catch(by, failure.clause, failure.title, length_of(failure.trace), failure.trace)
