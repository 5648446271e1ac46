"""`holdtrue` with a fault built into its store, as a process of its own, and traces of such faults.

A fault has to be in place before the store is imported, so it can't be planted in the tests' own process.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[2]
RUN = """
import sys
from crash_tests.planted.plant import plant
catalogue, fault, *arguments = sys.argv[1:]
if fault != "none":
    from importlib import import_module
    plant(import_module(catalogue).BY_ID[fault])
if arguments[0] == "pytest":
    import pytest
    sys.exit(pytest.main(arguments[1:]))
from holdtrue.cli import main
sys.exit(main(arguments))
"""
SOUND = "none"


def run(
    fault: str, *arguments: str, cwd: Path, ledger: bool = False, given: str = ""
) -> subprocess.CompletedProcess[str]:
    """What `holdtrue *arguments` does in `cwd` with `fault` in the store; or `pytest ...` with it."""
    catalogue = "crash_tests.planted.gated.catalogue" if ledger else "crash_tests.planted.catalogue"
    command = [sys.executable, "-P", "-c", RUN, catalogue, fault, *arguments]
    return subprocess.run(
        command,
        cwd=cwd,
        env={"PYTHONPATH": str(HERE), "PATH": "/usr/bin:/bin", "COLUMNS": "80"},
        input=given,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@cache
def _hunted(fault: str, ways: Sequence[str], ledger: bool) -> str:
    module = "crash_tests.planted.gated.hunt" if ledger else "crash_tests.planted.hunt"
    only = [word for way in ways for word in ("--only", way)]
    command = [sys.executable, "-m", module, fault, *only]
    ended = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def trace_of(fault: str, *ways: str, ledger: bool = False) -> dict[str, Any]:
    """The trace with which the checks catch `fault`, by one of `ways` (`crash_tests.planted.hunt.WAYS`)."""
    trace: dict[str, Any] = json.loads(_hunted(fault, ways, ledger))["trace"]
    return trace


def save(trace: Any, path: Path) -> Path:
    path.write_text(json.dumps(trace), encoding="utf-8")
    return path
