"""The runners behind `jobs`: explore a facet with its properties; tour a part of it on the real store.

A tour stops at the first difference, which becomes a failure like any other: its story from the very start,
shrunk, as a trace that replays. A difference of the abstraction is told apart: it says that the explorer is
wrong, not the store, and can't be shrunk by replaying.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve

from model.explorer.budget import Budget
from model.explorer.facet import load
from model.explorer.packed import explore
from model.values import JSON
from stateful_tests import replay
from stateful_tests.exploring.charts import charted
from stateful_tests.exploring.drive import ABSTRACTION, Drive
from stateful_tests.exploring.jobs import PHASE
from stateful_tests.exploring.places import facet_named, rewinder
from stateful_tests.exploring.route import Part, Tour
from stateful_tests.exploring.share import share
from stateful_tests.failures import failure
from stateful_tests.pair import StepRecord
from stateful_tests.results import Failure, Job, JobResult
from stateful_tests.system import System, system_named
from stateful_tests.trace import record


def run_tour(params: Mapping[str, Any]) -> JobResult:
    """Takes part `part` of `parts` of a facet's transitions, of states `depth` deep at most."""
    system = system_named(params["system"])
    chart = charted(params["system"], params["facet"])
    coverage = system.coverage()
    sources = share(chart, params["part"], params["parts"], depth=params["depth"])
    part = Part(chart, sources)
    failed: list[Failure] = []
    with replay.workspace() as root:
        drive = Drive(chart, system, root, rewinder(params["system"]), coverage=coverage)
        tour = Tour(part, drive)
        try:
            tour.run()
        finally:
            drive.end()
    if drive.divergence is not None:
        failed.append(told(drive.records, params, system))
    prefix, name = system.prefix, params["facet"]
    counts = coverage.counts
    counts[f"{prefix}actions"] += drive.actions
    counts[f"{prefix}toured/{name}"] += tour.finished
    counts[f"{prefix}transitions/{name}"] += part.done
    tours: dict[str, JSON] = {
        "transitions": chart.edges,
        "planned": part.size,
        "taken": part.done,
        "actions": drive.actions,
        "back": tour.ways_back,
    }
    of: dict[str, JSON] = {"system": params["system"], "space": name, "tours": tours}
    return _result(params, counts, failed, explorations=[of])


def told(records: Sequence[StepRecord], params: Mapping[str, Any], system: System) -> Failure:
    """The failure at the end of `records`."""
    found = records[-1].divergence
    assert found is not None
    if found.kind != ABSTRACTION:
        one = failure(records, seed=params["seed"], profile=params["profile"], system=system)
        return evolve(one, title=f"{one.title} (on the tour of {params['facet']})")
    why = f"a tour of {params['facet']}: the graph had foretold something else"
    trace = record(
        f"{found.name}-{found.kind}", why, records, seed=params["seed"], profile=params["profile"],
        system=system,
    )  # fmt: skip
    return Failure(trace.to_json(), found.title, found.clause, "holdtrue replay TRACE")


def run_explored(params: Mapping[str, Any]) -> JobResult:
    """Explores a facet with all its properties; each must hold, and nothing may be left out."""
    facet = facet_named(params["system"], params["facet"])
    system = system_named(params["system"])
    space = load(facet.space)()
    properties = load(facet.properties)() if facet.properties else ()
    loop = calibration()
    found = explore(space, properties, reduce=True, budget=Budget(clock=time.process_time))
    counts = {f"{system.prefix}explored/{facet.name}": int(found.complete)}
    failed = [broken(space, verdict, facet.name, params, system) for verdict in found.violated]
    states = found.full_states / found.seconds if found.seconds else 0.0
    figures = {
        f"{system.prefix}{facet.name}: states per CPU second": round(states, 1),
        f"{system.prefix}{facet.name}: calibration loop, s": round(loop, 3),
        f"{system.prefix}{facet.name}: states per calibration loop": round(states * loop, 1),
    }
    verdicts = [each.verdict for each in found.verdicts]
    worst = next((each for each in ("violated", "inconclusive") if each in verdicts), "holds")
    told_of: dict[str, JSON] = {
        "system": params["system"],
        "space": facet.name,
        "about": facet.about,
        "bounds": dict(facet.bounds),
        "verdict": worst if found.complete or worst == "violated" else "inconclusive",
        "reason": found.reason,
        "states": found.full_states,
        "orbits": found.states,
        "transitions": found.full_transitions,
        "depth": found.depth,
        "properties": [
            {
                "id": each.id,
                "sentence": each.sentence,
                "kind": kinds.get(each.id, "step"),
                "verdict": each.verdict,
                "detail": each.reason or f"{each.cases} cases",
            }
            for kinds in [{one.id: _KINDS[type(one).__name__] for one in properties}]
            for each in found.verdicts
        ],
        "dead_rules": list(found.dead),
    }
    counts[f"{system.prefix}witnessed/{facet.name}"] = sum(each.verdict == "holds" for each in found.verdicts)
    return _result(params, counts, failed, figures, explorations=[told_of])


_KINDS = {"Always": "always", "Step": "step", "Sometimes": "sometimes", "EventuallyPossible": "eventually"}


def broken(space: Any, verdict: Any, facet: str, params: Mapping[str, Any], system: System) -> Failure:
    """A property that the model breaks: its shortest trace, told in the model's own actions."""
    records: list[StepRecord] = []
    world = system.initial({})
    actions = list(space.beginnings()[0])
    moves = verdict.trace.moves if verdict.trace is not None else ()
    for action in actions:
        world, outcome = system.step(world, action)
        records.append(StepRecord(len(records), action, outcome))
    for move in moves:
        action = space.action(move.label, world)
        world, outcome = system.step(world, action)
        records.append(StepRecord(len(records), action, outcome))
    why = f"the explorer's shortest way to break {verdict.id} within the bounds of {facet}"
    trace = record(
        f"explored-{verdict.id}", why, records, seed=params["seed"], profile=params["profile"], system=system
    )
    title = f"the model breaks {verdict.id} within the bounds of {facet}: {verdict.sentence}"
    trace = evolve(trace, clause=verdict.id)
    return Failure(trace.to_json(), title, verdict.id, "holdtrue replay TRACE")


def calibration(times: int = 2_000_000) -> float:
    """CPU seconds that ten million rounds of the notes' loop take here, from a fifth of them."""
    x, started = 0, time.process_time()
    for i in range(times):
        x += i
    return (time.process_time() - started) * 10_000_000 / times


def _result(
    params: Mapping[str, Any],
    counts: Mapping[str, int],
    failed: Sequence[Failure],
    figures: Mapping[str, float] | None = None,
    **details: JSON,
) -> JobResult:
    job = Job(PHASE, "stateful_tests.exploring.runners", params)  # `results.run_job` puts the real one here
    return JobResult(job, dict(counts), tuple(failed), figures or {}, details=details)
