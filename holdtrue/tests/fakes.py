"""Runners for tests of the front door: each does one thing that a worker may be found doing.

Workers import them by name (`holdtrue.tests.fakes:fine`), as they import real ones.
"""

import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

from holdtrue.phases import Phase
from model.values import JSON
from stateful_tests.results import Failure, Job, JobResult, Plan

Params = Mapping[str, JSON]
HERE = "holdtrue.tests.fakes"


def fine(params: Params) -> JobResult:
    counts = {"rule/reserve/accepted": 2, f"seen/{params.get('n', 0)}": 1}
    return JobResult(Job("", ""), counts, (), {"checked rate / bare rate": 0.75})


def finds(params: Params) -> JobResult:
    """A failure whose trace is hostile."""
    trace: JSON = {"why": "evil \x1b[31m\u202e", "steps": [{"action": {"do": "close", "host": "h\x07"}}]}
    return JobResult(Job("", ""), {}, (Failure(trace, f"title {params.get('n', 0)}", "S10", "again"),))


def tells(params: Params) -> JobResult:
    """A result with these details."""
    details = params["details"]
    assert isinstance(details, dict)
    return JobResult(Job("", ""), details=details)


def raises(params: Params) -> JobResult:
    raise RuntimeError(f"no luck with {params}")


def leaves(_: Params) -> JobResult:
    sys.exit("a runner that exits")


def dies(_: Params) -> JobResult:
    print("my last words", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("unreachable")


def ends(_: Params) -> JobResult:
    os._exit(7)


def hangs(params: Params) -> JobResult:
    """Hangs, with a child that hangs too and whose pid stands in the file `pid`."""
    child = os.fork()
    if child == 0:
        signal.pause()
    pid = params.get("pid")
    if isinstance(pid, str):
        with open(pid + ".new", "w", encoding="ascii") as file:  # noqa: PTH123  # a test's file, once
            file.write(f"{os.getpid()} {child}")
        os.rename(pid + ".new", pid)  # noqa: PTH104  # so that it appears whole
    signal.pause()
    raise AssertionError("unreachable")


def floods(params: Params) -> JobResult:
    """Far more output than any pipe holds, on both streams, then a good result."""
    for _ in range(200):
        os.write(1, b"o" * 65536)
        os.write(2, b"e" * 65536)
    return fine(params)


def babbles(params: Params) -> JobResult:
    """Writes nonsense where answers go."""
    os.write(int(sys.argv[1]), b"this is no JSON\n")
    return fine(params)


def escapes(params: Params) -> JobResult:
    """Forks a child that returns to the worker's loop as if it were the worker."""
    child = os.fork()
    if child != 0:
        os.waitpid(child, 0)
    return fine(params)


def environment(_: Params) -> JobResult:
    """Tells, as counts, what the worker's surroundings are like."""
    told = {
        "hypothesis": int("hypothesis" in sys.modules),
        "networkx": int("networkx" in sys.modules),
        "crash": int("HOLDTRUE_CRASH_AT" in os.environ),
        "input": len(os.read(0, 10)),
        "here": int("" in sys.path or str(Path.cwd()) in sys.path),
    }
    return JobResult(Job("", ""), told)


def job(runner: str, **params: JSON) -> Job:
    """A job for the runner of that name in this module."""
    return Job("fake", f"{HERE}:{runner}", params)


def phase(name: str, *jobs: Job, floors: Mapping[str, int] | None = None) -> Phase:
    return Phase(name, f"about {name}", lambda _profile, _seed: Plan(jobs, floors or {}))
