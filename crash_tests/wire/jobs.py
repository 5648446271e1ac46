"""The kills of a target: which situations, which ways to die, and how many of each a profile tries.

Counted by `kill/<situation>/<place>`, and by the kind of place under `killed/…`. A kill that never came to
its place is counted as `missed/…`: nothing was learned from it. Kinds that can't be had here or with this
target are counted as `beyond/…`, so that the report says so.
"""

import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import define, field, frozen

import model
from crash_tests.ground import memory
from crash_tests.oracle import Violation
from crash_tests.scenarios import SCENARIOS, Scenario, reserve
from crash_tests.wire import calls, stories
from crash_tests.wire.racing import plan_races
from crash_tests.wire.trial import CALL, MOMENT, POINT, REPLY, Trial, Way
from model.values import JSON
from stateful_tests.lockstep import DivergedError
from stateful_tests.removing import remove
from stateful_tests.results import Failure, Job, JobResult, Plan, joined
from stateful_tests.wire.capabilities import Capabilities
from stateful_tests.wire.faults import CLAUSES, TargetFaultError
from stateful_tests.wire.reach import Reach
from stateful_tests.wire.runners import Aim

PHASE: Final = "kills"
ENOUGH: Final = 2
"""Failures after which a situation is left."""
KINDS: Final = {
    POINT: "killed/at a marked point",
    CALL: "killed/at a system call",
    MOMENT: "killed/at a random moment",
    REPLY: "killed/right after the reply",
}
RECOVERING: Final = "killed/while it recovered from a kill"
NO_POINTS: Final = "beyond/kills at marked points of the target's own"
_QUICK: Final = (
    *("genesis", "reserve", "commit", "force-release", "sweep-both-ways", "burst"),
    *("dispatch", "normal-release", "set-max-active-runs", "open-newer-epoch"),
)


@frozen
class Budget:
    """How many of each kind a situation gets; `None` is all there are."""

    scenarios: tuple[str, ...] | None
    points: int | None
    calls: int | None
    moments: int
    again: int
    """How often the process that recovers is killed in its turn."""


BUDGETS: Final[Mapping[str, Budget]] = {
    "quick": Budget(_QUICK, 2, 5, 1, 1),
    "ci": Budget(None, 6, 12, 3, 2),
    "deep": Budget(None, None, None, 20, 10),
}


def plan_kills(profile: str, seed: int, *, aim: Aim, capabilities: Capabilities, strace: str | None) -> Plan:
    """One job for each situation in reach, and the races. `strace` says why system calls can't be killed at,
    if so."""
    budget = BUDGETS[profile]
    names = [
        name
        for name in budget.scenarios or tuple(SCENARIOS)
        if beyond(SCENARIOS[name], Reach(capabilities, aim.policy)) is None
    ]
    params: dict[str, JSON] = {"profile": profile, "seed": seed, "strace": strace, **aim.to_json()}
    params["points"] = list(capabilities.crash_points)
    jobs = [Job(PHASE, "crash_tests.wire.jobs:run_kills", {**params, "scenario": name}) for name in names]
    kinds = (
        {MOMENT, REPLY}
        | ({CALL} if strace is None else set())
        | ({POINT} if capabilities.crash_points else set())
    )
    deaths = Plan(tuple(jobs), {**{KINDS[kind]: 1 for kind in sorted(kinds)}, RECOVERING: 1})
    return joined(deaths, plan_races(profile, seed, aim=aim, capabilities=capabilities, strace=strace))


def beyond(scenario: Scenario, reach: Reach) -> str | None:
    """Why this situation can't be brought about with the target."""
    if scenario.broken_off is not None:
        return "beyond/kills of a host that completes an interrupted genesis"
    world = model.initial_world()
    for action in (*scenario.history, *scenario.flight, reserve(99)):
        why = reach.beyond(action, world)
        if why is not None:
            return why
        world = model.step(world, action)[0]
    return None


def run_kills(params: Mapping[str, Any]) -> JobResult:
    """Kills the target in the situation that `params` names."""
    campaign = Campaign(Aim.of(params), SCENARIOS[params["scenario"]], params)
    root = Path(tempfile.mkdtemp(prefix="holdtrue-kills-", dir=memory())).resolve()
    try:
        campaign.run(root)
    finally:
        remove(root)
    job = Job(PHASE, "crash_tests.wire.jobs", params)
    told: dict[str, JSON] = {"target": {"command": params["command"], "policy": params["policy"]}}
    return JobResult(job, dict(campaign.counts), tuple(campaign.failures), details=told)


@define
class Campaign:
    """One situation, killed in each way that the budget asks for."""

    aim: Aim
    scenario: Scenario
    params: Mapping[str, Any]
    counts: Counter[str] = field(factory=Counter)
    failures: list[Failure] = field(factory=list)
    _trials: int = 0

    def run(self, root: Path) -> None:
        budget = BUDGETS[self.params["profile"]]
        if not self.params["points"]:
            self.counts[NO_POINTS] += 1
        draw = random.Random(f"{self.params['seed']}/{self.scenario.name}")
        try:
            seconds, places = self._recorded(root)
        except (DivergedError, TargetFaultError) as error:
            self._fail((), (), _unkilled(error))
            return
        for way in (
            *self._reply(),
            *_some(draw, [Way(CALL, place.name, place.nth, place) for place in places], budget.calls),
            *_some(draw, [Way(POINT, point) for point in self.params["points"]], budget.points),
            *self._moments(draw, seconds, budget.moments),
        ):
            if len(self.failures) >= ENOUGH:
                return
            self.kill(way, root)
        for number in range(1, budget.again + 1):
            if len(self.failures) < ENOUGH:
                twice = (Way(MOMENT, MOMENT, number, delay_s=draw.uniform(0, seconds)) for _ in range(2))
                self.kill(next(twice), root, next(twice))

    def kill(self, way: Way, root: Path, then: Way | None = None) -> None:
        """One trial; with `then` the process that recovers is killed, too."""
        trial = self._trial(root)
        try:
            left = trial.kill(way)
            if left is None:
                self.counts[f"missed/{KINDS[way.kind].removeprefix('killed/')}"] += 1
                return
            self.counts[f"kill/{self.scenario.name}/{way.key}"] += 1
            self.counts[KINDS[way.kind]] += 1
            kills = [stories.killed(left.during, way)]
            again = None if then is None else trial.kill_recovering(left, then)
            if isinstance(again, Violation):
                self._fail(kills, (), again)
                return
            if again is not None and then is not None:
                self.counts[f"kill/{self.scenario.name}, recovering/{then.key}"] += 1
                self.counts[RECOVERING] += 1
                kills.append(stories.killed(again.during, then))
            violation, after = trial.recover(again or left)
        except (DivergedError, TargetFaultError) as error:
            self._fail((), (), _unkilled(error))
            return
        if violation is not None:
            self._fail(kills, after, violation)

    def _fail(self, kills: Sequence[Any], after: Sequence[Any], violation: Violation) -> None:
        self.failures.append(stories.failure(self.scenario, kills, after, violation))

    def _trial(self, root: Path) -> Trial:
        self._trials += 1
        return Trial(self.aim, self.scenario, root / f"{self._trials}" / "store")

    def _recorded(self, root: Path) -> tuple[float, tuple[calls.Place, ...]]:
        """How long the flight takes, and the system calls on the way."""
        why = self.params["strace"]
        trial = self._trial(root)
        if why is not None:
            self.counts[f"beyond/kills at system calls: {why}"] += 1
            return trial.record().seconds, ()
        seconds = trial.record().seconds
        trial, log = self._trial(root), root / "calls"
        recorded = trial.record(calls.recording(log), log)
        found = calls.places(log, recorded.log_start, trial.directory)
        changing = [place for place in found if place.changes]
        return seconds, tuple(changing or found)  # not the seconds under strace, which slows it down

    def _reply(self) -> Iterator[Way]:
        yield Way(REPLY, REPLY)

    def _moments(self, draw: random.Random, seconds: float, many: int) -> Iterator[Way]:
        for number in range(1, many + 1):
            yield Way(MOMENT, MOMENT, number, delay_s=draw.uniform(0, seconds))


def _some(draw: random.Random, ways: list[Way], most: int | None) -> list[Way]:
    if most is None or len(ways) <= most:
        return ways
    kept = sorted(draw.sample(range(len(ways)), most))
    return [ways[index] for index in kept]


def _unkilled(error: DivergedError | TargetFaultError) -> Violation:
    """What went wrong with the target before anybody was killed."""
    if isinstance(error, TargetFaultError):
        return Violation(CLAUSES[error.kind], f"the target {error}")
    found = error.record.divergence
    assert found is not None
    return Violation(found.clause, found.title, found.differences)
