"""Processes in tests: a check that runs in one of its own, and whether a process has gone."""

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Tests that run under nohup, or in the background of a script, hand down signals that are ignored; a check
# rightly goes on ignoring those.
RUNNER = """
import signal
import sys
from pathlib import Path
from holdtrue import cli
from holdtrue.check import Options, check
from holdtrue.tests.fakes import job, phase

signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

def run(_options):
    jobs = [job("hangs", pid=sys.argv[2])] if sys.argv[2] else [job("finds", n=n) for n in range(4)]
    return check(Options(out=Path(sys.argv[1])), phases=[phase("corpus", *jobs)])

cli._run = run
sys.exit(cli.main(["check"]))
"""


def started(out: Path, pid: Path | None) -> subprocess.Popen[str]:
    """A check in a process of its own whose one job hangs, or (no `pid`) whose jobs find something."""
    return subprocess.Popen(
        [sys.executable, "-c", RUNNER, str(out), str(pid or "")],
        cwd=ROOT,
        env={
            **os.environ,
            "TMPDIR": str(out.parent),
        },  # a check that is killed leaves its scratch folder behind
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def gone(pid: int) -> bool:
    """Whether no process of that number runs any more; a zombie that init has yet to reap does not run."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    return state == "Z"


def wait_until_gone(*pids: int) -> None:
    deadline = time.monotonic() + 10
    while not all(gone(pid) for pid in pids):
        assert time.monotonic() < deadline, f"one of {pids} is still there"
        os.sched_yield()
