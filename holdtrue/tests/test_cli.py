"""The command line as a stranger meets it: nonsense, exit codes, signals, pipes; never a traceback."""

import contextlib
import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

import holdtrue
from holdtrue import cli
from holdtrue.exits import Exit
from holdtrue.options import PHASE_NAMES
from holdtrue.phases import PHASES
from holdtrue.tests.processes import ROOT, RUNNER, started, wait_until_gone


def ran(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "holdtrue", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("chekc",),
        ("check", "--seed", "-1"),
        ("check", "--seed", "1e3"),
        ("check", "--seed", "٣"),
        ("check", "--seed", "9" * 40),
        ("check", "--jobs", "0"),
        ("check", "--jobs", "many"),
        ("check", "--time-budget", "nan"),
        ("check", "--time-budget", "-5"),
        ("check", "--profile", "thorough"),
        ("check", "--only", "everything"),
        ("check", "--pro", "quick"),
        ("check", "extra"),
        ("replay",),
        ("replay", "a", "b"),
        ("audit",),
        ("audit", "--deep", "."),
        ("--verison",),
        ("check", "--out", "/proc/no/such"),
        ("check", "--out", ""),
        ("replay", ""),
        ("audit", ""),
        ("replay", "\x1b[31mred"),
        ("check", "--only", "\x1b[31mred"),
        ("\x1b[31m", "\u202e"),
    ],
)
def test_nonsense_is_a_usage_error_without_a_traceback(arguments: tuple[str, ...], tmp_path: Path) -> None:
    done = ran(*arguments, cwd=tmp_path)
    assert done.returncode == Exit.USAGE
    assert "holdtrue" in done.stderr
    assert "Traceback" not in done.stderr
    assert "\x1b" not in done.stderr
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_help_and_version_succeed() -> None:
    assert "check" in ran("--help").stdout
    assert ran("--version").stdout == f"holdtrue {holdtrue.__version__}\n"
    for command in ("check", "replay", "audit"):
        assert ran(command, "--help").returncode == 0


def test_help_fits_80_columns() -> None:
    for arguments in (("--help",), ("check", "--help"), ("replay", "--help"), ("audit", "--help")):
        assert max(map(len, ran(*arguments).stdout.splitlines())) <= 80


def test_the_version_is_the_projects() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["version"] == holdtrue.__version__


def test_the_phases_offered_are_the_phases_there_are() -> None:
    assert tuple(phase.name for phase in PHASES) == PHASE_NAMES


def test_what_is_unexpected_ends_as_a_harness_failure_with_its_details_in_a_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def broken(_options: object) -> int:
        raise ValueError("quite unexpected \x1b[31m")

    monkeypatch.setattr(cli, "_run", broken)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert cli.main(["audit", "x"]) == Exit.HARNESS_FAILED
    told = capsys.readouterr()
    assert told.out == ""
    assert "the harness itself failed" in told.err
    assert "\x1b" not in told.err
    (file,) = tmp_path.iterdir()
    assert str(file) in told.err.replace("\n", "")
    assert "Traceback" in file.read_text("utf-8")


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_an_interrupted_check_says_so_ends_its_children_and_keeps_what_it_has(
    number: signal.Signals, code: int, tmp_path: Path
) -> None:
    pid = tmp_path / "pid"
    process = started(tmp_path / "out", pid)
    while not pid.exists():
        assert process.poll() is None
        os.sched_yield()
    process.send_signal(number)
    with contextlib.suppress(ProcessLookupError):
        for _ in range(20):  # an impatient user does not keep it from cleaning up
            process.send_signal(number)
            time.sleep(0.01)
    out, err = process.communicate(timeout=30)
    assert process.returncode == code
    assert out.splitlines()[-1].startswith("INTERRUPTED  quick, seed 0: 0 jobs")
    assert err == ""
    wait_until_gone(*map(int, pid.read_text(encoding="ascii").split()))
    folder = (tmp_path / "out" / "latest").resolve()
    assert (folder / "results.json").exists()


def test_workers_die_with_a_check_that_is_killed(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    process = started(tmp_path / "out", pid)
    while not pid.exists():
        assert process.poll() is None
        os.sched_yield()
    worker, child = map(int, pid.read_text(encoding="ascii").split())
    process.kill()
    process.communicate(timeout=30)
    wait_until_gone(worker)
    os.kill(child, signal.SIGKILL)  # a runner's own child outlives that; ours to clean up


def test_a_pipe_whose_reader_leaves_is_harmless(tmp_path: Path) -> None:
    process = started(tmp_path / "out", None)
    assert process.stdout is not None
    assert process.stdout.readline().startswith("holdtrue check:")
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    assert process.wait(timeout=30) == Exit.VIOLATED
    process.stderr.close()


@pytest.mark.parametrize("how", [">&-", "> /dev/full", ">&- 2>&-"])
def test_an_output_that_can_not_be_written_changes_no_exit_code(how: str, tmp_path: Path) -> None:
    command = f'"$0" -c "$1" "$2" "" {how}'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable, RUNNER, str(tmp_path / "out")],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == Exit.VIOLATED
    assert (done.stdout, done.stderr.count("\n")) == ("", int("full" in how))
    assert ("No space left on device" in done.stderr) == ("full" in how)
    folder = (tmp_path / "out" / "latest").resolve()
    assert (folder / "results.json").exists()


def test_output_survives_a_stream_that_knows_only_ascii(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "holdtrue", "replay", str(tmp_path / "é")],
        cwd=ROOT,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == Exit.USAGE
    assert b"Traceback" not in done.stderr
