"""The phase `kills`: what `holdtrue check` has to run, and the functions that run it.

Planning reads tables only. Its floors are the points written down in `paths`, not those that a store
happens to pass today: a step that got lost leaves its points below their floor, and the run inconclusive.

The jobs of one plan are independent of each other and of the order in which they run.
"""

import traceback
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from attrs import asdict, evolve

import impl
from crash_tests import pinned
from crash_tests.campaign import ENOUGH, Campaign, Reach
from crash_tests.faults import faults, strike
from crash_tests.gated import jobs as ledger
from crash_tests.ground import ground
from crash_tests.holders import HOLDERS
from crash_tests.moments import MOMENTS
from crash_tests.openings import OPENINGS
from crash_tests.paths import PASSED, points
from crash_tests.processes import RACES
from crash_tests.races import Place, Race
from crash_tests.rates import FoundError, measure
from crash_tests.scenarios import SCENARIOS
from crash_tests.stories import REPRODUCE, Story, diverged
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
EVERY_RACE: tuple[Race, ...] = (*RACES, *HOLDERS, *MOMENTS, *OPENINGS)
POINTS_A_JOB: Mapping[str, int] = {"quick": 90, "ci": 60, "deep": 1}
"""How many points a job kills at, or more if a single scenario has more."""


def plan_kills(profile: str, seed: int) -> Plan:
    """The jobs of the phase under `profile` (quick, ci or deep). Raises `KeyError` for any other."""
    reach: dict[str, JSON] = asdict(REACHES[profile])
    every = profile != "quick"
    jobs = [_job("run_rates", {}, 60)]
    for names, weight in _bundles(POINTS_A_JOB[profile]):
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
        for some in _slices(range(tortures), 10)
    ]
    if kept := pinned.names():
        jobs.append(_job("run_pinned", {"names": list(kept)}, 8.0 * len(kept)))
    floors = {f"kill/{name}/{key}": 1 for name, steps in PASSED.items() for key in points(steps)}
    floors |= {f"pinned/{name}": 1 for name in kept}
    floors |= {f"point/{point}": 1 for point in disk.COORDINATOR_POINTS}
    floors |= {f"recovery/{name}": 1 for name in SCENARIOS}
    floors |= {f"fault/{name}": 1 for name in SCENARIOS}
    floors |= {f"race/{race.name}": times for race in EVERY_RACE}
    floors["race/killed-anywhere"] = tortures
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


def _bundles(enough: int) -> Iterator[tuple[tuple[str, ...], float]]:
    """Scenarios in bundles of about equal work, with their number of points."""
    names: list[str] = []
    weight = 0
    for name in SCENARIOS:
        names.append(name)
        weight += len(points(PASSED[name]))
        if weight >= enough:
            yield tuple(names), weight
            names, weight = [], 0
    if names:
        yield tuple(names), weight


def _slices(numbers: range, size: int) -> Iterator[range]:
    for start in range(0, len(numbers), size):
        yield numbers[start : start + size]


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
    counts: Counter[str] = Counter()
    failures: list[Failure] = []
    for name in params["names"]:
        race = race_named(name)
        for _ in range(int(params["times"])):
            wrong = once(race)
            counts[f"race/{race.name}"] += 1
            if wrong:
                failures.append(_race_failure(race, wrong))
                break
    return _result("run_races", params, counts, failures)


def run_tortures(params: Mapping[str, Any]) -> JobResult:
    """Several processes killed anywhere, once for each of the seeds."""
    counts: Counter[str] = Counter()
    failures: list[Failure] = []
    for seed in params["seeds"]:
        race = torture(int(seed))
        wrong = once(race)
        counts["race/killed-anywhere"] += 1
        if wrong:
            failures.append(_race_failure(race, wrong))
            break
    return _result("run_tortures", params, counts, failures)


def run_rates(params: Mapping[str, Any]) -> JobResult:
    """Measures what a trial costs. Of a broken store there is nothing to measure: that is a failure found."""
    try:
        return evolve(_result("run_rates", params, {}, []), figures=measure())
    except FoundError as found:
        return _result("run_rates", params, {}, [found.story.failure()])


def once(race: Race) -> list[str]:
    """Runs `race` in a fresh place; what was wrong. A refusal that no race expects is wrong, too."""
    with ground(missing=True) as place:
        try:
            return race.run(Place(place.root))
        except impl.CoordinatorError as error:
            return [f"refused where nothing may be: {error.code}: {error.message}"]
        except AssertionError as error:
            return [f"what leads up to the race was refused: {line_of(error)}"]
        except UNREADABLE as error:
            return [unreadable(error)]


UNREADABLE = (ValueError, KeyError, TypeError)
"""What comes of reading files that are not what a store may leave."""


def unreadable(error: Exception) -> str:
    """What to say of a race whose files could not be read."""
    return f"what the race left can't be read: {type(error).__name__}, in: {line_of(error)}"


def line_of(error: Exception) -> str:
    """The line of ours that failed, as its source says it."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "crash_tests" in frame.filename] or frames
    return f"{ours[-1].line}" if ours else "an assertion"


def torture(seed: int) -> Race:
    name = f"killed-anywhere#{seed}"
    return Race(
        name, "several processes, each killed somewhere", "crash-matrix", partial(killed_anywhere, seed)
    )


def race_named(name: str) -> Race:
    """Raises `KeyError` if there is no such race."""
    if name.startswith("killed-anywhere#"):
        return torture(int(name.partition("#")[2]))
    return {race.name: race for race in EVERY_RACE}[name]


def _race_failure(race: Race, wrong: list[str]) -> Failure:
    trace: JSON = {
        "kind": "kill",
        "trial": "race",
        "schema_version": 1,
        "name": race.name,
        "why": race.why,
        "clause": race.clause,
        "steps": list(race.steps),
        "wrong": list(wrong),
    }
    return Failure(trace, f"{race.name}: {wrong[0]}", race.clause, REPRODUCE)


def _result(
    runner: str, params: Mapping[str, Any], counts: Mapping[str, int], failures: list[Failure]
) -> JobResult:
    return JobResult(_job(runner, params, 1.0), dict(counts), tuple(failures))
