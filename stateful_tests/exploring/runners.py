"""The runners behind `jobs`: explore a facet with its properties; tour a part of it on the real store.

A tour stops at the first difference, which becomes a failure like any other: its story from the very start,
shrunk, as a trace that replays. A difference of the abstraction is told apart: it says that the explorer is
wrong, not the store, and can't be shrunk by replaying.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve

from model.values import JSON
from stateful_tests import replay
from stateful_tests.exploring import rate
from stateful_tests.exploring.charts import charted
from stateful_tests.exploring.drive import ABSTRACTION, Drive
from stateful_tests.exploring.findings import explored
from stateful_tests.exploring.jobs import PHASE
from stateful_tests.exploring.places import facet_named, rewinder
from stateful_tests.exploring.route import Part, Tour
from stateful_tests.exploring.share import share
from stateful_tests.failures import failure
from stateful_tests.pair import StepRecord
from stateful_tests.results import Failure, Job, JobResult
from stateful_tests.system import System, system_named
from stateful_tests.trace import record


def run_explored(params: Mapping[str, Any]) -> JobResult:
    """Explores a facet with all its properties; each must hold, and nothing may be left out."""
    system, name, profile = params["system"], params["facet"], params["profile"]
    facet = facet_named(system, name)
    # The graph of a world that nobody walks is not kept: it may be large.
    walked = facet.toured.get(profile) or facet.killed.get(profile)
    found = charted(system, name).found if walked else explored(system, name)[2]
    counts = Counter({f"{system_named(system).prefix}explored/{name}": int(found.complete)})
    return _result(params, counts, found.failures, explorations=[dict(found.told)])


def run_tour(params: Mapping[str, Any]) -> JobResult:
    """Takes part `part` of `parts` of a facet's transitions, of states `depth` deep at most."""
    system, name = system_named(params["system"]), params["facet"]
    chart = charted(params["system"], name).chart
    coverage = system.coverage()
    part = Part(chart, share(chart, params["part"], params["parts"], depth=params["depth"]))
    failed: list[Failure] = []
    with replay.workspace() as root:
        drive = Drive(chart, system, root / "tour", rewinder(params["system"]), coverage=coverage)
        tour = Tour(part, drive)
        try:
            tour.run()
        finally:
            drive.end()
    if drive.divergence is not None:
        failed.append(told(drive.records, params, system))
    counts, prefix = coverage.counts, system.prefix
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
    return _result(params, counts, failed, explorations=[{**_of(params), "tours": tours}])


def told(records: Sequence[StepRecord], params: Mapping[str, Any], system: System) -> Failure:
    """The failure at the end of `records`."""
    found = records[-1].divergence
    assert found is not None
    seen = {"seed": params["seed"], "profile": params["profile"], "system": system}
    if found.kind != ABSTRACTION:
        one = failure(records, **seen)
        return evolve(one, title=f"{one.title} (on the tour of {params['facet']})")
    why = f"a tour of {params['facet']}: the graph had foretold something else"
    trace = record(f"{found.name}-{found.kind}", why, records, **seen)
    return Failure(trace.to_json(), found.title, found.clause, "holdtrue replay TRACE")


def run_rate(params: Mapping[str, Any]) -> JobResult:
    """Measures how fast a facet is explored without the help of symmetry, beside the calibration loop."""
    figures = rate.measured(params["system"], params["facet"])
    return evolve(_result(params, Counter(), ()), figures=figures)


def _of(params: Mapping[str, Any]) -> dict[str, JSON]:
    return {"system": params["system"], "space": params["facet"]}


def _result(
    params: Mapping[str, Any], counts: Mapping[str, int], failed: Sequence[Failure], **details: JSON
) -> JobResult:
    job = Job(PHASE, "stateful_tests.exploring.runners", params)  # `results.run_job` puts the real one here
    return JobResult(job, dict(counts), tuple(failed), details=details)
