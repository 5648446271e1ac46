"""What a run saw, gathered as it goes, and its JSON form: `results.json`.

The JSON is all that `reports.summary` and the verdict look at, so that an old run can be judged and shown
again. What depends on the clock or the machine stands under `times` and `environment` and nowhere else; the
rest is the same for the same seed, code and phases.
"""

import math
import platform
import statistics
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

from attrs import define, field, frozen

from holdtrue import __version__
from holdtrue.pool import Lost
from model.values import JSON
from stateful_tests.results import Failure, JobResult, Plan, below_floor, total

SCHEMA_VERSION = 1


@frozen
class Found:
    """A failure, with its phase and the file (within the run's folder) that holds its trace."""

    phase: str
    failure: Failure
    file: str

    @property
    def steps(self) -> int:
        """How long the story is: its actions, or those of a kill's before, during and after."""
        trace = self.failure.trace
        parts = (
            [trace.get(name) for name in ("steps", "history", "flight", "after")]
            if isinstance(trace, dict)
            else []
        )
        return sum(len(part) for part in parts if isinstance(part, list))

    def to_json(self) -> dict[str, JSON]:
        return {
            "phase": self.phase,
            "title": self.failure.title,
            "clause": self.failure.clause,
            "steps": self.steps,
            "trace": self.file,
            "reproduce": self.failure.reproduce,
        }


@define
class PhaseRecord:
    """One phase: its plan, and what has come of each job by now, by the job's index."""

    name: str
    about: str
    plan: Plan
    results: dict[int, JobResult] = field(factory=dict)
    lost: dict[int, Lost] = field(factory=dict)
    out_of_time: int = 0
    given_up: int = 0
    seconds: float = 0.0

    @property
    def counts(self) -> dict[str, int]:
        return total(list(self.results.values()))

    @property
    def below_floor(self) -> tuple[tuple[str, int, int], ...]:
        """(key, seen, floor) of all that was seen too rarely."""
        return below_floor(self.counts, self.plan.floors)

    def to_json(self) -> dict[str, JSON]:
        return {
            "name": self.name,
            "about": self.about,
            "planned": len(self.plan.jobs),
            "done": len(self.results),
            "out_of_time": self.out_of_time,
            "given_up": self.given_up,
            "lost": [_lost_json(self.lost[index]) for index in sorted(self.lost)],
            "counts": dict(self.counts),
            "floors": dict(sorted(self.plan.floors.items())),
            "below_floor": [list(short) for short in self.below_floor],
            "failures": sum(len(result.failures) for result in self.results.values()),
        }

    def figures(self) -> dict[str, float]:
        """Each figure's median over the jobs that measured it, under the phase's name."""
        measured: dict[str, list[float]] = {}
        for index in sorted(self.results):
            for name, value in self.results[index].figures.items():
                measured.setdefault(name, []).append(value)
        return {
            f"{self.name}: {name}": statistics.median(values) for name, values in sorted(measured.items())
        }


@define
class Record:
    """The whole run. `left_out` names the phases that `--only` left out; `unwritable` says why the run's
    folder is incomplete, if it is."""

    profile: str
    seed: int
    left_out: tuple[str, ...]
    time_budget: float | None
    workers: int
    started: datetime
    phases: list[PhaseRecord] = field(factory=list)
    found: list[Found] = field(factory=list)
    not_begun: tuple[str, ...] = ()
    interrupted: bool = False
    unwritable: str = ""
    seconds: float = 0.0

    def figures(self) -> dict[str, float]:
        """All phases' figures."""
        return {name: value for phase in self.phases for name, value in phase.figures().items()}

    def to_json(self) -> dict[str, JSON]:
        return {
            "schema_version": SCHEMA_VERSION,
            "profile": self.profile,
            "seed": self.seed,
            "left_out": list(self.left_out),
            "not_begun": list(self.not_begun),
            "interrupted": self.interrupted,
            "time_budget_s": self.time_budget,
            "phases": [phase.to_json() for phase in self.phases],
            "failures": [found.to_json() for found in sorted(self.found, key=worst_first)],
            "times": {
                "started_at": self.started.astimezone(UTC).isoformat(timespec="seconds"),
                "seconds": round(self.seconds, 3),
                "phases": {phase.name: round(phase.seconds, 3) for phase in self.phases},
                "figures": dict(self.figures()),
            },
            "environment": {"workers": self.workers, **versions()},
        }


def worst_first(found: Found) -> tuple[object, ...]:
    """Sorts failures: first what a real process' death did, then by length, since the shortest story is the
    one to read first; then by name, so that the order is the same each time."""
    order = {"kills": 0, "conformance": 1, "corpus": 2}
    length = found.steps or math.inf  # a race has no steps: harder to grasp than any story
    return (order.get(found.phase, 3), length, found.failure.clause, found.failure.title, found.file)


def versions() -> dict[str, JSON]:
    """What ran: holdtrue, Python, the system, and the packages that the checks rest on."""
    told: dict[str, JSON] = {
        "holdtrue": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }
    for name in ("attrs", "cattrs", "hypothesis", "networkx"):
        try:
            told[name] = version(name)
        except PackageNotFoundError:
            told[name] = None
    return told


def _lost_json(lost: Lost) -> dict[str, JSON]:
    params: dict[str, JSON] = dict(lost.job.params)
    return {
        "runner": lost.job.runner,
        "params": params,
        "why": lost.why.value,
        "told": lost.told,
        "details": lost.details,
    }
