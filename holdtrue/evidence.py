"""Gathers the evidence of a run's counterexamples: each is replayed once in a worker, which keeps the files.

The first of each kind of failure is replayed, worst first, up to a bound; the others' traces can be replayed
by hand. Evidence is no part of the verdict: what can't be had in time, or at all, is missing, and the run
goes on. What is kept stands in `evidence/<trace>/` (see `holdtrue.keeping`).
"""

import shutil
import time
from collections.abc import Mapping
from pathlib import PurePosixPath

from holdtrue.pool import Limits, Lost, run_jobs
from holdtrue.record import Record, worst_first
from holdtrue.runfolder import RunFolder
from model.values import JSON
from reports.fingerprint import fingerprint
from stateful_tests.results import Job, JobResult

MOST_TRACES = 20
REPLAY_S = 60.0
ALTOGETHER_S = 180.0
"""Bounds that an honest replay of a shrunk story, which takes well below a second, does not come near."""

RUNNER = "holdtrue.keeping:keep_evidence"


def gather(record: Record, folder: RunFolder, *, workers: int, environment: Mapping[str, str]) -> None:
    """Keeps evidence in `folder`, and notes it in `record`."""
    chosen = _first_of_each_kind(record)
    if not chosen:
        return
    names = [f"evidence/{PurePosixPath(record.found[index].file).stem}" for index in chosen]
    jobs = []
    for index, name in zip(chosen, names, strict=True):
        params: dict[str, JSON] = {
            "trace": record.found[index].failure.trace,
            "into": str(folder.inside(name).resolve()),
        }
        jobs.append(Job("evidence", RUNNER, params))

    def tell(at: int, ended: JobResult | Lost | None) -> None:
        if isinstance(ended, JobResult) and ended.counts.get("moments"):
            record.tell(chosen[at], evidence=names[at])

    limits = Limits(REPLAY_S, time.monotonic() + ALTOGETHER_S)
    run_jobs(jobs, workers=workers, limits=limits, environment=environment, tell=tell)
    for index, name in zip(chosen, names, strict=True):
        if "evidence" not in record.found[index].more:  # half of it, or nothing
            shutil.rmtree(folder.inside(name), ignore_errors=True)


def _first_of_each_kind(record: Record) -> list[int]:
    """Indexes in `record.found`: one of each kind that a replay can show, worst first."""
    kinds: dict[str, int] = {}
    for index in sorted(range(len(record.found)), key=lambda at: worst_first(record.found[at])):
        found = record.found[index]
        trace = found.failure.trace
        if not found.kept or not found.file or not isinstance(trace, dict):
            continue
        if trace.get("trial") in ("race", "tampering"):
            continue
        kinds.setdefault(fingerprint(found.failure.clause, found.failure.title, trace), index)
    return list(kinds.values())[:MOST_TRACES]
