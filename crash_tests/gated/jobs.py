"""The ledger's part of the phase `kills`: what `holdtrue check` has to run, and the functions that run it.

All keys begin with `ledger/`. Floors are written down: every marked point that only this system passes must
have been killed at, every scenario at the points in `PASSED`, everything tampered with that is to be.
"""

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import asdict, evolve, frozen

from crash_tests.arena import Arena, bundles, slices
from crash_tests.arena import once as once
from crash_tests.campaign import ENOUGH, Reach
from crash_tests.gated import changes, tamper
from crash_tests.gated.campaign import Campaign
from crash_tests.gated.faults import faults, strike
from crash_tests.gated.holders import HOLDERS
from crash_tests.gated.intruders import INTRUDERS
from crash_tests.gated.paths import PASSED
from crash_tests.gated.processes import RACES
from crash_tests.gated.scenarios import SCENARIOS
from crash_tests.gated.stories import Story, diverged
from crash_tests.gated.torture import killed_anywhere
from crash_tests.gated.trial import prepared, record
from crash_tests.ground import ground
from impl.points import LEDGER_POINTS
from model.values import JSON
from stateful_tests.gated.observe import LEDGER, MIRROR
from stateful_tests.pair import DivergedError
from stateful_tests.results import Failure, Job, JobResult, Plan

PHASE = "kills"


@frozen
class Budget:
    """How much a profile does. `strikes` is the part of the steps that are made to fail, `flips` how many
    bytes of a file are changed (all, if there is no number)."""

    reach: Reach
    strikes: float
    flips: int | None
    races: int
    tortures: int
    points_a_job: int


BUDGETS: Mapping[str, Budget] = {
    "quick": Budget(Reach(again=1, share=0.35, depth=3, survivors=0.2), 0.4, 200, 1, 2, 130),
    "ci": Budget(Reach(again=4, share=0.5, depth=3, survivors=0.5), 1.0, 1_000, 5, 20, 60),
    "deep": Budget(Reach(again=12, depth=3, survivors=1.0), 1.0, None, 50, 300, 1),
}
ARENA = Arena(
    (*RACES, *HOLDERS, *INTRUDERS),
    "ledger-killed-anywhere",
    killed_anywhere,
    "several clients, each killed somewhere",
    "The promise",
    prefix="ledger/",
    system="ledger",
)
EVERY_RACE, race_named = ARENA.races, ARENA.named


def plan(profile: str, seed: int) -> Plan:
    """The jobs under `profile` (quick, ci or deep). Raises `KeyError` for any other."""
    budget = BUDGETS[profile]
    reach: dict[str, JSON] = asdict(budget.reach)
    every = profile != "quick"
    jobs = []
    for names, weight in bundles({name: len(PASSED[name]) for name in SCENARIOS}, budget.points_a_job):
        params: dict[str, JSON] = {"scenarios": list(names), "seed": seed}
        jobs.append(_job("run_kills", {**params, "reach": reach}, weight * (2 + 4 * every)))
        jobs.append(_job("run_faults", {**params, "share": budget.strikes, "every": every}, weight))
    for name in ("pristine", "unseen"):
        for file in ("lines", LEDGER, MIRROR, f"{MIRROR}-wal"):
            if (name, file) != ("pristine", f"{MIRROR}-wal"):
                params = {"victim": name, "file": file, "sample": budget.flips, "seed": seed}
                jobs.append(_job("run_tampering", params, 20.0))
    for some in slices(EVERY_RACE, 5 if profile == "quick" else 1):
        params = {"names": [race.name for race in some], "times": budget.races}
        jobs.append(_job("run_races", params, 8.0 * len(some) * budget.races))
    for numbers in slices(range(budget.tortures), 10):
        params = {"seeds": [seed * 1_000_000 + one for one in numbers]}
        jobs.append(_job("run_tortures", params, 8.0 * len(numbers)))
    return Plan(tuple(jobs), _floors(budget))


def _floors(budget: Budget) -> dict[str, int]:
    floors = {f"ledger/kill/{name}/{key}": 1 for name, keys in PASSED.items() for key in keys}
    floors |= {f"ledger/point/{point}": 1 for point in LEDGER_POINTS}
    floors |= {f"ledger/recovery/{name}": 1 for name in SCENARIOS if name != "open-refused"}
    floors |= {f"ledger/fault/{name}": 1 for name in SCENARIOS}
    floors |= ARENA.floors(times=budget.races, tortures=budget.tortures)
    for file in (LEDGER, MIRROR, f"{MIRROR}-wal"):
        for kind in ("flip", "invert", "zero"):
            floors[f"ledger/tampered/{file}/{kind}"] = 10
    for kind in ("tail-cut", "tail-torn", "line-removed", "line-repeated", "line-appended", "line-swapped"):
        floors[f"ledger/tampered/{LEDGER}/{kind}"] = 5
    for kind in ("line-resealed", "key-repeated", "event-misnamed"):
        floors[f"ledger/tampered/{LEDGER}/{kind}"] = 5
    for kind in changes.STATEMENTS:
        floors[f"ledger/tampered/{MIRROR}/{kind}"] = 2
    floors["ledger/tampered/refused"] = floors["ledger/tampered/recovered"] = 100
    return floors


def _job(runner: str, params: Mapping[str, JSON], weight: float) -> Job:
    return Job(PHASE, f"crash_tests.gated.jobs:{runner}", params, weight)


def run_kills(params: Mapping[str, Any]) -> JobResult:
    """Kills the scenarios that `params` names, as far as its `reach` says."""
    campaign = Campaign(Reach(**params["reach"]), int(params["seed"]))
    for name in params["scenarios"]:
        campaign.run(SCENARIOS[name])
    return _result("run_kills", params, campaign.counts, campaign.failures)


def run_faults(params: Mapping[str, Any]) -> JobResult:
    """Makes steps of the scenarios fail."""
    counts: Counter[str] = Counter()
    failures: list[Failure] = []
    for name in params["scenarios"]:
        failures += [story.failure() for story in _struck(name, params, counts)]
    return _result("run_faults", params, counts, failures)


def _struck(name: str, params: Mapping[str, Any], counts: Counter[str]) -> list[Story]:
    scenario, found = SCENARIOS[name], list[Story]()
    draw = random.Random(f"{params['seed']}/ledger/faults/{name}")
    with ground() as place:
        try:
            with prepared(scenario, place) as situation:
                chosen = list(faults(record(situation), every_error=bool(params["every"])))
                if params["share"] < 1:
                    chosen = draw.sample(chosen, max(1, round(len(chosen) * params["share"])))
                for fault in chosen:
                    violation = strike(situation, fault)
                    counts[f"ledger/fault/{name}"] += 1
                    counts[f"ledger/fault-at/{fault.point}"] += 1
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


def run_tampering(params: Mapping[str, Any]) -> JobResult:
    """Tampers with one file of one store."""
    counts: Counter[str] = Counter()
    failures: list[Failure] = []
    with tamper.victim(params["victim"]) as store:
        for change in _changes(store, params):
            # A torn line that nobody was told of must not keep a store from opening.
            violation = tamper.judge(store, change, must_open=change.kind == "tail-torn")
            counts[f"ledger/tampered/{change.file}/{change.kind}"] += 1
            counts[f"ledger/tampered/{'recovered' if store.opened else 'refused'}"] += 1
            if violation is not None:
                failures.append(tamper.failure(params["victim"], change, violation))
            if len(failures) >= ENOUGH:
                break
    return _result("run_tampering", params, counts, failures)


def _changes(store: tamper.Victim, params: Mapping[str, Any]) -> Iterator[changes.Change]:
    draw = random.Random(f"{params['seed']}/{params['victim']}/{params['file']}")
    sample = params["sample"]
    if params["file"] != "lines":
        yield from changes.flips(len(store.content(params["file"])), params["file"], draw, sample=sample)
        return
    size = len(store.content(LEDGER))
    yield from changes.edits()
    yield from changes.line_changes(len(store.at_most))
    yield from changes.cuts(size, draw, sample=sample)
    yield from changes.torn_tails(size // len(store.at_most) // 2, draw, sample=sample)


def run_races(params: Mapping[str, Any]) -> JobResult:
    """Runs each race that `params` names, `times` over, or until it goes wrong."""
    return _result("run_races", params, *ARENA.run(params))


def run_tortures(params: Mapping[str, Any]) -> JobResult:
    """Several clients killed anywhere, once for each of the seeds."""
    return _result("run_tortures", params, *ARENA.run_tortures(params))


def _result(
    runner: str, params: Mapping[str, Any], counts: Mapping[str, int], failures: list[Failure]
) -> JobResult:
    return JobResult(_job(runner, params, 1.0), dict(counts), tuple(failures))
