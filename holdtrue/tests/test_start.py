"""What starting a command costs and imports."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from holdtrue.tests.processes import ROOT

HEAVY = ("hypothesis", "networkx", "rich")
RUNS = 7


def imported_by(*arguments: str) -> set[str]:
    """The modules imported by `holdtrue ARGUMENTS` by the time it ends."""
    code = (
        "import sys; from holdtrue.cli import main; code = main(sys.argv[1:]);"
        "sys.stderr.write('\\n' + ' '.join(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.splitlines()[-1].split())


def test_help_imports_nothing_but_the_front_door() -> None:
    ours = {"attrs", "cattrs", "model", "impl", "stateful_tests", "crash_tests", "reports", *HEAVY}
    assert imported_by("--help") & ours == set()
    assert imported_by("replay", "--help") & ours == set()


def test_audit_imports_neither_the_model_nor_anything_heavy(tmp_path: Path) -> None:
    heavy = {"stateful_tests", "crash_tests", "model", *HEAVY}
    assert imported_by("audit", str(tmp_path)) & heavy == set()


def test_replay_imports_nothing_heavy() -> None:
    for trace in sorted((ROOT / "stateful_tests" / "corpus").glob("*.json"))[:1]:
        assert imported_by("replay", str(trace)) & set(HEAVY) == set()


def test_planning_every_phase_imports_nothing_heavy() -> None:
    code = (
        "import sys; from holdtrue.phases import PHASES;"
        "plans = [phase.plan('quick', 0) for phase in PHASES]; assert all(plan.jobs for plan in plans);"
        f"sys.exit(any(name in sys.modules for name in {HEAVY!r}))"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


@pytest.mark.parametrize("arguments", [("--help",), ("check", "--help"), ("audit", "--help")])
def test_help_costs_at_most_150_ms_more_than_a_bare_interpreter(arguments: tuple[str, ...]) -> None:
    # Processor time, since other tests keep the cores busy; the least of several runs, the two in turn.
    bare, ours = [], []
    for _ in range(RUNS):
        bare.append(seconds("-c", "pass"))
        ours.append(seconds("-m", "holdtrue", *arguments))
    assert min(ours) - min(bare) <= 0.150


def seconds(*arguments: str) -> float:
    """The processor time that an interpreter with these arguments takes, in seconds."""
    process = subprocess.Popen([sys.executable, *arguments], cwd=ROOT, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return used.ru_utime + used.ru_stime
