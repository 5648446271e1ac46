"""What the checks and the front door hand each other: jobs, their results, failures, and a phase's plan.

Everything here is JSON-able, so that a job can run in another process and a result can be rendered later,
from its file alone. `from_json` refuses what `to_json` would not have written, with a `ValueError` that
names the place. Nothing here runs a job: `resolve` only finds the function that does.
"""

import importlib
import time
from collections.abc import Callable, Mapping
from typing import Any

from attrs import evolve, field, frozen

from model.values import JSON


@frozen
class Job:
    """One piece of work that a worker process does in one go.

    `runner` is `package.module:function`; the function takes `params` and returns a `JobResult`. `weight`
    is the job's share of a progress bar, in any unit that all jobs of a plan share.
    """

    phase: str
    runner: str
    params: Mapping[str, JSON] = field(factory=dict)
    weight: float = 1.0

    def to_json(self) -> dict[str, JSON]:
        return {
            "phase": self.phase,
            "runner": self.runner,
            "params": dict(self.params),
            "weight": self.weight,
        }

    @classmethod
    def from_json(cls, data: object) -> "Job":
        shape = _closed(data, "job", {"phase": str, "runner": str, "params": dict, "weight": (int, float)})
        return cls(shape["phase"], shape["runner"], shape["params"], float(shape["weight"]))


@frozen
class Failure:
    """One thing that does not hold. `clause` names the rule, `reproduce` is the command that shows it again.

    `trace` is the JSON of a `stateful_tests.trace.Trace`, or `{"kind": "kill", …}` for a kill trial.
    """

    trace: JSON
    title: str
    clause: str
    reproduce: str

    def to_json(self) -> dict[str, JSON]:
        return {
            "trace": self.trace,
            "title": self.title,
            "clause": self.clause,
            "reproduce": self.reproduce,
        }

    @classmethod
    def from_json(cls, data: object) -> "Failure":
        kinds = {"trace": object, "title": str, "clause": str, "reproduce": str}
        shape = _closed(data, "failure", kinds)
        return cls(shape["trace"], shape["title"], shape["clause"], shape["reproduce"])


@frozen
class JobResult:
    """What a job saw: counts by flat key (`rule/reserve/accepted`), failures, figures, and its seconds.

    Counts of several results are summed by key; figures are not, so a runner names them for itself.
    `details` are what else it tells the report, by name: functions of the job's parameters alone, without a
    clock or a machine in them. `explorations` is a list of objects; those of all jobs are joined.
    """

    job: Job
    counts: Mapping[str, int] = field(factory=dict)
    failures: tuple[Failure, ...] = ()
    figures: Mapping[str, float] = field(factory=dict)
    seconds: float = 0.0
    details: Mapping[str, JSON] = field(factory=dict)

    def to_json(self) -> dict[str, JSON]:
        return {
            "job": self.job.to_json(),
            "counts": dict(sorted(self.counts.items())),
            "failures": [failure.to_json() for failure in self.failures],
            "figures": dict(sorted(self.figures.items())),
            "seconds": self.seconds,
            "details": dict(sorted(self.details.items())),
        }

    @classmethod
    def from_json(cls, data: object) -> "JobResult":
        kinds = {"job": dict, "counts": dict, "failures": list, "figures": dict, "details": dict}
        shape = _closed(data, "job result", {**kinds, "seconds": (int, float)})
        explored = shape["details"].get("explorations", [])
        if not isinstance(explored, list) or not all(isinstance(each, dict) for each in explored):
            raise ValueError("job result.details.explorations: a list of objects is expected")
        return cls(
            Job.from_json(shape["job"]),
            _numbers(shape["counts"], "job result.counts", int),
            tuple(Failure.from_json(failure) for failure in shape["failures"]),
            _numbers(shape["figures"], "job result.figures", (int, float)),
            float(shape["seconds"]),
            shape["details"],
        )


@frozen
class Plan:
    """The jobs of a phase, and its floors: each key's least count, summed over the jobs.

    A key below its floor makes the run inconclusive: it was not checked enough.
    """

    jobs: tuple[Job, ...]
    floors: Mapping[str, int] = field(factory=dict)

    def to_json(self) -> dict[str, JSON]:
        return {"jobs": [job.to_json() for job in self.jobs], "floors": dict(sorted(self.floors.items()))}

    @classmethod
    def from_json(cls, data: object) -> "Plan":
        shape = _closed(data, "plan", {"jobs": list, "floors": dict})
        jobs = tuple(Job.from_json(job) for job in shape["jobs"])
        return cls(jobs, _numbers(shape["floors"], "plan.floors", int))


def joined(*plans: Plan) -> Plan:
    """One plan of several; their floors have no key in common."""
    floors = {key: floor for each in plans for key, floor in each.floors.items()}
    assert len(floors) == sum(len(each.floors) for each in plans)
    return Plan(tuple(job for each in plans for job in each.jobs), floors)


def total(results: "list[JobResult] | tuple[JobResult, ...]") -> dict[str, int]:
    """The counts of all `results`, summed by key, in key order."""
    counts: dict[str, int] = {}
    for result in results:
        for key, count in result.counts.items():
            counts[key] = counts.get(key, 0) + count
    return dict(sorted(counts.items()))


def below_floor(counts: Mapping[str, int], floors: Mapping[str, int]) -> tuple[tuple[str, int, int], ...]:
    """(key, seen, floor) for each floor that `counts` do not reach, in key order."""
    return tuple(
        (key, counts.get(key, 0), floor)
        for key, floor in sorted(floors.items())
        if counts.get(key, 0) < floor
    )


def resolve(runner: str) -> Callable[[Mapping[str, JSON]], JobResult]:
    """The function that `runner` (`package.module:function`) names. `ValueError` if there is none."""
    module, colon, name = runner.partition(":")
    if not colon or not module or not name:
        raise ValueError(f"runner {runner!r} is not of the form 'package.module:function'")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"runner {runner!r} can't be found: {error}") from error
    return found  # type: ignore[no-any-return]  # the form of a runner is a convention, checked when it runs


def run_job(job: Job) -> JobResult:
    """Runs `job` here and now; the result names this job, and the seconds are measured here."""
    started = time.monotonic()
    result = resolve(job.runner)(job.params)
    return evolve(result, job=job, seconds=time.monotonic() - started)


def _closed(data: object, what: str, kinds: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise ValueError(f"{what}: a JSON object is expected, not {type(data).__name__}")
    unknown, missing = sorted(set(data) - set(kinds)), sorted(set(kinds) - set(data))
    if unknown or missing:
        raise ValueError(f"{what}: unknown fields {unknown}, missing fields {missing}")
    for key, kind in kinds.items():
        if not isinstance(data[key], kind) or (kind is not object and isinstance(data[key], bool)):
            raise ValueError(f"{what}.{key}: {data[key]!r} is not of the right kind")
    return data


def _numbers(data: dict[str, Any], what: str, kind: Any) -> dict[str, Any]:
    for key, value in data.items():
        if not isinstance(value, kind) or isinstance(value, bool):
            raise ValueError(f"{what}.{key}: {value!r} is not a number of the right kind")
    return data
