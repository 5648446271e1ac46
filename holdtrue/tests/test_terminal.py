"""On a terminal: a bar while it runs, the same lines afterwards, colour only where it is wanted."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from holdtrue.tests.planted import RUN, save, trace_of
from holdtrue.tests.processes import ROOT, RUNNER

COLOUR = re.compile(r"\x1b\[[0-9;]*[34][0-7][0-9;]*m")
ANY_SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def read_terminal(command: list[str], **environment: str) -> tuple[int, str]:
    """The exit code of a command, and what it writes to a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", **environment},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        told = b""
        while True:
            try:
                chunk = os.read(ours, 65536)
            except OSError:  # how Linux says that the other side is closed
                break
            if not chunk:
                break
            told += chunk
        os.close(ours)
        return process.wait(timeout=30), told.decode("utf-8")


def on_a_terminal(out: Path, **environment: str) -> str:
    """What a check that finds something writes to a terminal."""
    code, told = read_terminal([sys.executable, "-c", RUNNER, str(out), ""], **environment)
    assert code == 1
    return told


def test_a_terminal_shows_a_bar_and_ends_with_the_verdict(tmp_path: Path) -> None:
    told = on_a_terminal(tmp_path / "out", NO_COLOR="")
    assert "4/4 jobs" in told
    assert COLOUR.search(told)
    lines = ANY_SEQUENCE.sub("", told).splitlines()
    assert lines[-1].startswith("VIOLATED  quick, seed 0: 4 jobs, ")


def test_no_color_is_honoured(tmp_path: Path) -> None:
    assert not COLOUR.search(on_a_terminal(tmp_path / "out", NO_COLOR="1"))


@pytest.mark.parametrize("term", ["dumb", ""])
def test_a_terminal_that_can_not_redraw_gets_plain_lines(tmp_path: Path, term: str) -> None:
    told = on_a_terminal(tmp_path / "out", TERM=term)
    assert "\x1b" not in told
    assert "corpus: 4 of 4 jobs, " in told


def test_what_a_story_marks_stands_out_on_a_terminal_alone(tmp_path: Path) -> None:
    path = save(trace_of("capacity-off-by-one", "walk"), tmp_path / "trace.json")
    catalogue = "crash_tests.planted.catalogue"
    command = [sys.executable, "-P", "-c", RUN, catalogue, "capacity-off-by-one", "replay", str(path)]
    places = {"PYTHONPATH": str(ROOT)}
    code, told = read_terminal(command, NO_COLOR="", **places)
    assert code == 1
    assert "\x1b[1;31m4 >   root via h1: reserve r2" in told
    assert (
        ANY_SEQUENCE.sub("", told).splitlines()
        == read_terminal(command, NO_COLOR="1", **places)[1].splitlines()
    )
    piped = subprocess.run(
        command, env={**os.environ, **places, "NO_COLOR": ""}, capture_output=True, text=True, check=False
    )
    assert "\x1b" not in piped.stdout
    assert ANY_SEQUENCE.sub("", told).splitlines() == piped.stdout.splitlines()
