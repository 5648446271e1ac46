"""What starting a command costs and imports."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
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


@pytest.mark.parametrize("arguments", [("--help",), ("check", "--help"), ("audit", "--help")])
def test_help_costs_at_most_150_ms_more_than_a_bare_interpreter(arguments: tuple[str, ...]) -> None:
    # The least of several runs, the two kinds in turn: a busy machine slows some of them, not all.
    bare, ours = [], []
    for _ in range(RUNS):
        bare.append(seconds("-c", "pass"))
        ours.append(seconds("-m", "holdtrue", *arguments))
    assert min(ours) - min(bare) <= 0.150


def seconds(*arguments: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, *arguments], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started
