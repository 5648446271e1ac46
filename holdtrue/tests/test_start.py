"""What starting a command costs and imports."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from holdtrue.options import FORMATS
from holdtrue.tests.fakes import job, phase
from holdtrue.tests.processes import ROOT
from holdtrue.tests.runs import check_run
from holdtrue.tests.stores import make

HEAVY = ("hypothesis", "networkx", "numpy", "rich")
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


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that was violated."""
    _, folder, _ = check_run(tmp_path_factory.mktemp("out"), phase("corpus", job("finds")))
    return folder


@pytest.mark.parametrize("form", [form for form in FORMATS if form not in ("itf", "repro")])
def test_report_and_verify_import_neither_checks_nor_anything_heavy(
    form: str, finished: Path, tmp_path: Path
) -> None:
    heavy = {"stateful_tests", "crash_tests", "impl", *HEAVY}
    command = ("report", str(finished), "--format", form, "-o", str(tmp_path / "x"))
    assert imported_by(*command) & heavy == set()
    assert imported_by("verify", str(finished)) & {*heavy, "model"} == set()


COMMANDS = (
    ("report", "RUN"),
    ("report", "RUN", "--format", "markdown"),
    ("report", "RUN", "--format", "html"),
    ("verify", "RUN"),
    ("replay", "TRACE"),
    ("audit", "STORE"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_commands_that_look_back_start_in_at_most_200_ms(
    command: tuple[str, ...], finished: Path, tmp_path: Path
) -> None:
    """Over a bare interpreter, in processor time, on a trace of one step, a small run and a small store.

    On a busy machine everything takes longer, the bare interpreter as well, which takes 10 ms on an idle one.
    """
    trace = json.loads((ROOT / "stateful_tests" / "corpus" / "admit-races-abandon.json").read_text("utf-8"))
    (tmp_path / "trace.json").write_text(json.dumps({**trace, "steps": trace["steps"][:1]}), "ascii")
    make(tmp_path / "store")
    places = {"RUN": str(finished), "TRACE": str(tmp_path / "trace.json"), "STORE": str(tmp_path / "store")}
    arguments = [places.get(word, word) for word in command]
    bare, ours = [], []
    for _ in range(RUNS):
        bare.append(seconds("-c", "pass"))
        ours.append(seconds("-m", "holdtrue", *arguments))
    assert min(ours) - min(bare) <= max(0.200, 20 * min(bare))


def seconds(*arguments: str) -> float:
    """The processor time that an interpreter with these arguments takes, in seconds."""
    process = subprocess.Popen([sys.executable, *arguments], cwd=ROOT, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return used.ru_utime + used.ru_stime
