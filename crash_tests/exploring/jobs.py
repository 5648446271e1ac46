"""The runner of kills along the graph; `stateful_tests.exploring.jobs` plans them.

A part counts as done (`along/<facet>`) when every transition of it was killed at every point that it passes.
"""

from collections.abc import Mapping
from typing import Any

from crash_tests.exploring.along import KillingDrive
from crash_tests.exploring.ledger import LedgerKillingDrive
from model.values import JSON
from stateful_tests import replay
from stateful_tests.exploring.charts import charted
from stateful_tests.exploring.jobs import PHASE
from stateful_tests.exploring.places import rewinder
from stateful_tests.exploring.route import Part, Tour
from stateful_tests.exploring.runners import told
from stateful_tests.exploring.share import share
from stateful_tests.results import Job, JobResult
from stateful_tests.system import COORDINATOR, system_named


def run_kills_along(params: Mapping[str, Any]) -> JobResult:
    """Kills in part `part` of `parts` of a facet's transitions, of states `depth` deep at most."""
    system, name = system_named(params["system"]), params["facet"]
    chart = charted(params["system"], name).chart
    part = Part(chart, share(chart, params["part"], params["parts"], depth=params["depth"]))
    with replay.workspace() as root:
        kind: Any = KillingDrive if params["system"] == COORDINATOR else LedgerKillingDrive
        drive = kind(chart, system, root / "tour", rewinder(params["system"]), part=part)
        tour = Tour(part, drive)
        try:
            tour.run()
        finally:
            drive.end()
    stories = sorted(drive.stories, key=lambda story: len(story.scenario.history))
    failures = [story.failure() for story in stories]
    if drive.divergence is not None:
        failures.append(told(drive.records, params, system))
    prefix = system.prefix
    counts = {f"{prefix}kill/along {name}/{point}#1": many for point, many in drive.points.items()}
    counts |= {f"{prefix}point/{point}": many for point, many in drive.points.items()}
    counts[f"{prefix}actions"] = drive.actions
    counts[f"{prefix}along/{name}"] = int(tour.finished and not failures)
    kills: dict[str, JSON] = {
        "transitions": chart.edges, "planned": part.size, "classes": drive.classes, "points": drive.kills,
    }  # fmt: skip
    of: dict[str, JSON] = {"system": params["system"], "space": name, "kills": kills}
    job = Job(PHASE, "crash_tests.exploring.jobs", params)  # `results.run_job` puts the real one in its place
    return JobResult(job, counts, tuple(failures), details={"explorations": [of]})
