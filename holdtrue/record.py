"""What a run saw, gathered as it goes, and its JSON form: `results.json`.

The JSON is all that the reports look at, so that an old run can be shown again; its form is published as
`reports/results-2.schema.json`. What depends on the clock, the machine or a path stands under `times` and
`environment` and nowhere else; the rest is the same for the same seed, code and phases.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from attrs import define, evolve, field, frozen

from holdtrue.pool import Lost
from model.values import JSON
from reports.canonical import clean
from reports.explorations import merged
from reports.fingerprint import fingerprint
from reports.matrix import Known, broken_by, properties
from reports.results import SCHEMA_VERSION
from stateful_tests.results import Failure, JobResult, Plan, below_floor, total

EXPLORATIONS = "explorations"


@frozen
class Found:
    """A failure, with its phase and the files (within the run's folder) that tell more of it.

    `file` is its trace's, empty if it was one too many; `kept` whether it could be written; `more` has what
    was made of the trace, by what it is: `itf`, `evidence`, `repro`.
    """

    phase: str
    failure: Failure
    file: str
    kept: bool = True
    more: Mapping[str, str] = field(factory=dict)

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

    @property
    def system(self) -> str:
        """The system whose rule it breaks."""
        trace = self.failure.trace
        named = trace.get("system", "coordinator") if isinstance(trace, dict) else "coordinator"
        return str(named)

    @property
    def title(self) -> str:
        """What happened, in a line. What a race of real processes says differs each time, and holds times:
        that it went wrong is all that counts, and the rest stands in its trace."""
        trace = self.failure.trace
        if isinstance(trace, dict) and trace.get("trial") == "race":
            return f"{trace.get('name')}: a race of real processes went wrong"
        return self.failure.title

    @property
    def broken(self) -> Known:
        """The property that it breaks."""
        return broken_by(self.system, self.failure.clause, self.phase, self.failure.trace)

    def to_json(self) -> dict[str, JSON]:
        failure, broken = self.failure, self.broken
        return {
            "id": fingerprint(failure.clause, failure.title, failure.trace),
            "phase": self.phase,
            "system": self.system,
            "property": broken.id,
            "title": self.title,
            "clause": failure.clause,
            "sentence": broken.sentence,
            "source": broken.source,
            "steps": self.steps,
            "trace": self.file,
            "kept": self.kept,
            "itf": self.more.get("itf"),
            "evidence": self.more.get("evidence"),
            "repro": self.more.get("repro"),
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
            "details": {name: told for name, told in self.details().items() if name != EXPLORATIONS},
        }

    def details(self) -> dict[str, list[JSON]]:
        """What the jobs told besides, by name, in the plan's order; lists of explorations are joined."""
        told: dict[str, list[JSON]] = {}
        for index in sorted(self.results):
            for name, value in sorted(self.results[index].details.items()):
                joined = value if name == EXPLORATIONS and isinstance(value, list) else [value]
                told.setdefault(name, []).extend(joined)
        return told

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
    """The whole run. `code` and `environment` are those of `provenance`; `detection` is what was measured of
    the checks' own strength, if it was. `left_out` names the phases that `--only` left out; `unwritable` says
    why the run's folder is incomplete, if it is."""

    profile: str
    seed: int
    left_out: tuple[str, ...]
    time_budget: float | None
    started: datetime
    code: Mapping[str, JSON]
    environment: Mapping[str, JSON]
    detection: JSON = None
    phases: list[PhaseRecord] = field(factory=list)
    found: list[Found] = field(factory=list)
    not_begun: tuple[str, ...] = ()
    interrupted: bool = False
    unwritable: str = ""
    seconds: float = 0.0

    def figures(self) -> dict[str, float]:
        """All phases' figures."""
        return {name: value for phase in self.phases for name, value in phase.figures().items()}

    @property
    def explorations(self) -> list[dict[str, JSON]]:
        """What the jobs tell of their explorations, in the plans' order; one object for each space."""
        told = [each for phase in self.phases for each in phase.details().get(EXPLORATIONS, [])]
        return merged([each for each in told if isinstance(each, dict)])

    def tell(self, index: int, **more: str) -> None:
        """Notes files made of the failure at `index` in `found`."""
        self.found[index] = evolve(self.found[index], more={**self.found[index].more, **more})

    def to_json(self, verdict: Mapping[str, JSON]) -> dict[str, JSON]:
        """The whole of `results.json`, clean, in the form that the published schema describes."""
        phases = [phase.to_json() for phase in self.phases]
        failures = [found.to_json() for found in sorted(self.found, key=worst_first)]
        explorations = self.explorations
        cleaned: dict[str, JSON] = clean(
            {
                "schema_version": SCHEMA_VERSION,
                "verdict": verdict,
                "profile": self.profile,
                "seed": self.seed,
                "time_budget_s": self.time_budget,
                "interrupted": self.interrupted,
                "left_out": self.left_out,
                "not_begun": self.not_begun,
                "code": self.code,
                "phases": phases,
                "failures": failures,
                "properties": self._properties(failures, explorations),
                "explorations": explorations,
                "detection": self.detection,
                "suppressions": [],
                "flakes": [],
                "skips": [],
                "times": self._times(),
                "environment": self.environment,
            }
        )
        return cleaned

    def _properties(
        self, failures: Sequence[dict[str, JSON]], explorations: Sequence[dict[str, JSON]]
    ) -> list[JSON]:
        counts: dict[str, int] = {}
        floors: dict[str, int] = {}
        for phase in self.phases:
            floors |= phase.plan.floors
            for key, count in phase.counts.items():
                counts[key] = counts.get(key, 0) + count
        return list(properties(counts, floors, failures, explorations))

    def _times(self) -> dict[str, JSON]:
        return {
            "started_at": self.started.astimezone(UTC).isoformat(timespec="seconds"),
            "seconds": round(self.seconds, 3),
            "phases": {phase.name: round(phase.seconds, 3) for phase in self.phases},
            "figures": dict(self.figures()),
        }


def worst_first(found: Found) -> tuple[object, ...]:
    """Sorts failures: first what a real process' death did, then by length, since the shortest story is the
    one to read first; then by name, so that the order is the same each time."""
    order = {"kills": 0, "conformance": 1, "corpus": 2}
    length = found.steps or math.inf  # a race has no steps: harder to grasp than any story
    return (order.get(found.phase, 3), length, found.failure.clause, found.title, found.file)


def _lost_json(lost: Lost) -> dict[str, JSON]:
    params: dict[str, JSON] = dict(lost.job.params)
    return {
        "runner": lost.job.runner,
        "params": params,
        "why": lost.why.value,
        "told": lost.told,
        "details": lost.details,
    }
