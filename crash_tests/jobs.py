"""The phase `kills`: what `holdtrue check` has to run, and the functions that run it.

Planning reads tables only. Its floors are the points written down in `paths`, not those that a store
happens to pass today: a step that got lost leaves its points below their floor, and the run inconclusive.

The jobs of one plan are independent of each other and of the order in which they run.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from attrs import asdict, evolve

from crash_tests import pinned
from crash_tests.arena import Arena, bundles, slices
from crash_tests.arena import once as once
from crash_tests.campaign import ENOUGH, Campaign, Reach
from crash_tests.faults import faults, strike
from crash_tests.gated import jobs as ledger
from crash_tests.ground import ground
from crash_tests.holders import HOLDERS
from crash_tests.moments import MOMENTS
from crash_tests.openings import OPENINGS
from crash_tests.paths import PASSED, points
from crash_tests.processes import RACES
from crash_tests.rates import FoundError, measure
from crash_tests.scenarios import SCENARIOS
from crash_tests.stories import Story, diverged
from crash_tests.torture import killed_anywhere
from crash_tests.trial import prepared, record
from impl import disk
from model.values import JSON
from stateful_tests.lockstep import DivergedError
from stateful_tests.results import Failure, Job, JobResult, Plan, joined

PHASE = "kills"

REACHES: Mapping[str, Reach] = {
    "quick": Reach(again=1, share=0.35, newer=0.2, survivors=0.3),
    "ci": Reach(again=100, newer=1.0, survivors=1.0),
    "deep": Reach(again=1000, depth=3, newer=1.0, survivors=1.0),
}
TORTURES: Mapping[str, int] = {"quick": 1, "ci": 20, "deep": 300}
RACES_EACH: Mapping[str, int] = {"quick": 1, "ci": 5, "deep": 50}
ARENA = Arena(
    (*RACES, *HOLDERS, *MOMENTS, *OPENINGS),
    "killed-anywhere",
    killed_anywhere,
    "several processes, each killed somewhere",
    "crash-matrix",
)
EVERY_RACE, race_named, torture = ARENA.races, ARENA.named, ARENA.tortured
POINTS_A_JOB: Mapping[str, int] = {"quick": 90, "ci": 60, "deep": 1}
"""How many points a job kills at, or more if a single scenario has more."""


def plan_kills(profile: str, seed: int) -> Plan:
    """The jobs of the phase under `profile` (quick, ci or deep). Raises `KeyError` for any other."""
    reach: dict[str, JSON] = asdict(REACHES[profile])
    every = profile != "quick"
    jobs = [_job("run_rates", {}, 60)]
    sizes = {name: len(points(PASSED[name])) for name in SCENARIOS}
    for names, weight in bundles(sizes, POINTS_A_JOB[profile]):
        scale = 1 + 2 * every
        params: dict[str, JSON] = {"scenarios": list(names), "reach": reach, "seed": seed}
        jobs.append(_job("run_kills", params, weight * scale))
        jobs.append(_job("run_faults", {"scenarios": list(names), "every_error": every}, weight / 3))
    times = RACES_EACH[profile]
    for race in EVERY_RACE:
        jobs.append(_job("run_races", {"names": [race.name], "times": times}, 8.0 * times))
    tortures = TORTURES[profile]
    jobs += [
        _job("run_tortures", {"seeds": [seed * 1_000_000 + one for one in some]}, 8.0 * len(some))
        for some in slices(range(tortures), 10)
    ]
    if kept := pinned.names():
        jobs.append(_job("run_pinned", {"names": list(kept)}, 8.0 * len(kept)))
    floors = {f"kill/{name}/{key}": 1 for name, steps in PASSED.items() for key in points(steps)}
    floors |= {f"pinned/{name}": 1 for name in kept}
    floors |= {f"point/{point}": 1 for point in disk.COORDINATOR_POINTS}
    floors |= {f"recovery/{name}": 1 for name in SCENARIOS}
    floors |= {f"fault/{name}": 1 for name in SCENARIOS}
    floors |= ARENA.floors(times=times, tortures=tortures)
    for name, steps in PASSED.items():
        floors |= _floor(f"newer/{name}", len(points(steps)), REACHES[profile].newer)
        if not name.startswith("genesis"):  # where nobody had the store open yet
            floors |= _floor(f"survivor/{name}", len(points(steps)), REACHES[profile].survivors)
    return joined(Plan(tuple(jobs), floors), ledger.plan(profile, seed))


def _floor(key: str, kills: int, share: float) -> dict[str, int]:
    """What is drawn for a share of the kills is spread evenly, give or take one."""
    least = kills if share >= 1 else int(kills * share) - 1
    return {key: least} if least > 0 else {}


def _job(runner: str, params: Mapping[str, JSON], weight: float) -> Job:
    return Job(PHASE, f"crash_tests.jobs:{runner}", params, weight)


def run_kills(params: Mapping[str, Any]) -> JobResult:
    """Kills the scenarios that `params` names, as far as its `reach` says."""
    campaign = Campaign(Reach(**params["reach"]), int(params["seed"]))
    for name in params["scenarios"]:
        campaign.run(SCENARIOS[name])
    return _result("run_kills", params, campaign.counts, campaign.failures)


def run_faults(params: Mapping[str, Any]) -> JobResult:
    """Makes each disk step of the scenarios fail."""
    counts: Counter[str] = Counter()
    failures: list[Failure] = []
    for name in params["scenarios"]:
        found = _faults_of(name, counts, every_error=bool(params["every_error"]))
        failures += [story.failure() for story in found]
    return _result("run_faults", params, counts, failures)


def _faults_of(name: str, counts: Counter[str], *, every_error: bool) -> list[Story]:
    scenario = SCENARIOS[name]
    found: list[Story] = []
    with ground(missing=scenario.layout == "missing") as place:
        try:
            with prepared(scenario, place) as situation:
                for fault in faults(record(situation), every_error=every_error):
                    violation = strike(situation, fault)
                    counts[f"fault/{name}"] += 1
                    counts[f"fault-at/{fault.point}"] += 1
                    if violation is not None:
                        found.append(
                            Story(
                                scenario, (), (), violation, fault=evolve(fault, left=situation.left or None)
                            )
                        )
                    if len(found) >= ENOUGH:
                        break
        except DivergedError as error:
            found.append(Story(scenario, (), (), diverged(error)))
    return found


def run_pinned(params: Mapping[str, Any]) -> JobResult:
    """Performs pinned traces again; each counts as `pinned/<name>`."""
    counts: Counter[str] = Counter()
    failures: list[Failure] = []
    for name in params["names"]:
        failure = pinned.checked(name)
        counts[f"pinned/{name}"] += 1
        failures += [] if failure is None else [failure]
    return _result("run_pinned", params, counts, failures)


def run_races(params: Mapping[str, Any]) -> JobResult:
    """Runs each race that `params` names, `times` over, or until it goes wrong."""
    return _result("run_races", params, *ARENA.run(params))


def run_tortures(params: Mapping[str, Any]) -> JobResult:
    """Several processes killed anywhere, once for each of the seeds."""
    return _result("run_tortures", params, *ARENA.run_tortures(params))


def run_rates(params: Mapping[str, Any]) -> JobResult:
    """Measures what a trial costs. Of a broken store there is nothing to measure: that is a failure found."""
    try:
        return evolve(_result("run_rates", params, {}, []), figures=measure())
    except FoundError as found:
        return _result("run_rates", params, {}, [found.story.failure()])


def _result(
    runner: str, params: Mapping[str, Any], counts: Mapping[str, int], failures: list[Failure]
) -> JobResult:
    return JobResult(_job(runner, params, 1.0), dict(counts), tuple(failures))
