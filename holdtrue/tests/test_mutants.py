"""`mutants`: what it prints, keeps and returns, with hunts of our own."""

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from crash_tests.planted.matrix import FAULTS, Hunted
from holdtrue.cli import main
from holdtrue.detection import FILE, kept, known
from holdtrue.exits import Exit, UsageError
from holdtrue.mutants import Options, mutants
from holdtrue.out import Printer
from holdtrue.tests.fakes import HERE
from holdtrue.tests.processes import ROOT, wait_until_gone
from model.values import JSON
from stateful_tests.results import Job

NAMES = tuple(FAULTS["coordinator"])


def hunt(at: int, *, by: str | None = "walk", equivalent: str = "", **more: JSON) -> Job:
    told = Hunted("coordinator", NAMES[at], "It does wrong.", "S10", equivalent, by, actions=4, seconds=1.5)
    return Job("mutants", f"{HERE}:tells", {"details": told.to_json(), "fault": NAMES[at], **more})


def ran(out: Path, *jobs: Job, only: tuple[str, ...] = ()) -> tuple[int, list[str]]:
    stream = io.StringIO()
    code = mutants(Options(out=out, only=only, workers=1), jobs=jobs, printer=Printer(stream))
    return code, stream.getvalue().splitlines()


def test_faults_that_are_all_caught_are_green_and_kept(tmp_path: Path) -> None:
    code, lines = ran(tmp_path, hunt(0), hunt(1, by=None, equivalent="Nobody can tell."))
    assert code == Exit.PASSED
    assert lines[-1].startswith("CAUGHT  1 of 1 faults caught, 1 equivalent, ")
    assert any("Nobody can tell." in line for line in lines)
    found = known(tmp_path)
    assert found is not None
    assert [fault["id"] for fault in found["faults"]] == [NAMES[0], NAMES[1]]


def test_a_survivor_is_red_and_shown_first(tmp_path: Path) -> None:
    code, lines = ran(tmp_path, hunt(0), hunt(1, by=None))
    assert code == Exit.VIOLATED
    assert "SURVIVED" in lines[lines.index("Coordinator: 2 planted faults") + 4]
    assert any(line.startswith(f"- {NAMES[1]}: It does wrong.") for line in lines)


def test_an_equivalent_fault_that_is_caught_is_red_too(tmp_path: Path) -> None:
    code, lines = ran(tmp_path, hunt(0, equivalent="Nobody can tell."))
    assert code == Exit.VIOLATED
    assert "1 caught though said to be equivalent" in lines[-1]


def test_a_lost_hunt_is_the_harness_failing_and_nothing_is_kept(tmp_path: Path) -> None:
    code, lines = ran(tmp_path, hunt(0), Job("mutants", f"{HERE}:raises", {"fault": "other"}))
    assert code == Exit.HARNESS_FAILED
    assert any(line.startswith("- lost: other: ") for line in lines)
    assert not (tmp_path / FILE).exists()


def test_a_part_of_the_faults_is_not_kept(tmp_path: Path) -> None:
    assert ran(tmp_path, hunt(0), only=(NAMES[0],))[0] == Exit.PASSED
    assert not (tmp_path / FILE).exists()


INTERRUPTED = """
import signal
import sys
from pathlib import Path
from holdtrue import cli
from holdtrue.mutants import Options, mutants
from holdtrue.tests.fakes import job
from holdtrue.tests.test_mutants import hunt

signal.signal(signal.SIGINT, signal.default_int_handler)
out, pid, hunts = sys.argv[1:]
jobs = [*(hunt(at) for at in range(int(hunts))), job("hangs", pid=pid)]
cli._run = lambda _options: mutants(Options(out=Path(out)), jobs=jobs)
sys.exit(cli.main(["mutants"]))
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("hunts", [0, 2])
def test_hunts_that_are_interrupted_show_what_they_had_and_keep_nothing(
    number: signal.Signals, code: int, hunts: int, tmp_path: Path
) -> None:
    pid = tmp_path / "pid"
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path / "out"), str(pid), str(hunts)],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as hunting:
        while not pid.exists() and hunting.poll() is None:
            os.sched_yield()
        hunting.send_signal(number)
        said, errors = hunting.communicate(timeout=60)
    assert (hunting.returncode, errors) == (code, "")
    wait_until_gone(*map(int, pid.read_text("ascii").split()))
    *lines, last = said.splitlines()
    assert last.startswith(
        f"INTERRUPTED  {hunts} of {hunts + 1} faults hunted: {hunts} of {hunts} faults caught"
    )
    assert last.endswith("; a part, and not kept")
    told = " ".join(" ".join(lines).split())
    if hunts:
        assert "the hunts were interrupted when 2 of 3 had ended. It says nothing of the other faults" in told
        assert all(any(line.startswith(f"{name} ") for line in lines) for name in NAMES[:2])
    else:
        assert "Interrupted before any of the 1 hunts had ended" in told
        assert "By check" not in told
    assert not (tmp_path / "out" / FILE).exists()


def test_no_line_is_wider_than_80_columns_but_the_verdict(tmp_path: Path) -> None:
    _, lines = ran(tmp_path, hunt(0), hunt(1, by=None), hunt(2, by=None, equivalent="Nobody " * 40))
    assert [line for line in lines[:-1] if len(line) > 80 and not line.startswith("results: ")] == []


def test_an_unknown_fault_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mutants", "--only", "nonsense"]) == Exit.USAGE
    assert "no planted fault is called 'nonsense'; 'holdtrue mutants --list'" in capsys.readouterr().err


def test_the_list_names_every_fault_with_its_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mutants", "--list"]) == Exit.PASSED
    told = capsys.readouterr().out
    assert all(f"  {name}: " in told for faults in FAULTS.values() for name in faults)


@pytest.mark.parametrize("tool", ["no-such-tool", "/", __file__])
def test_a_tool_that_is_no_program_is_told_before_anything_begins(
    tool: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["mutants", "--source", "3", "--tool", tool, "--out", str(tmp_path)]) == Exit.USAGE
    said = capsys.readouterr()
    assert said.out == ""
    assert f"no program {tool!r}: 'pip install cosmic-ray'" in said.err


def test_what_is_for_planted_faults_does_not_go_with_mutation_testing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for more in (["--only", "capacity-off-by-one"], ["--without-corpus"]):
        assert main(["mutants", "--source", "3", *more]) == Exit.USAGE
        assert "--source plants none" in capsys.readouterr().err


def test_each_measurement_is_kept_when_the_other_is_made_again(tmp_path: Path) -> None:
    kept(tmp_path, mutation={"killed": 1})
    kept(tmp_path, faults=[{"id": "x"}], with_corpus=False, seed=3)
    found = known(tmp_path)
    assert found is not None
    assert (found["mutation"], found["faults"], found["with_corpus"]) == ({"killed": 1}, [{"id": "x"}], False)


@pytest.mark.parametrize("text", ["{", "[]", json.dumps({"commit": 1})])
def test_a_broken_file_is_told_and_replaced_by_the_next_measurement(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"detection\.json .*; remove it"):
        known(tmp_path)
    kept(tmp_path, mutation=None)
    assert known(tmp_path) is not None
