"""`replay --step`: each step with what was expected, seen and left on disk; by a terminal or a pipe."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from holdtrue.exits import Exit, UsageError
from holdtrue.out import Printer
from holdtrue.stepping import PROMPT, step_file
from holdtrue.tests.planted import SOUND, run, save, trace_of
from reports.plain import COLUMNS

CORPUS = Path(__file__).resolve().parents[2] / "stateful_tests" / "corpus"
TRACE = CORPUS / "reserve-the-same-again.json"
LENGTH = len(json.loads(TRACE.read_text("utf-8"))["steps"])


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def stepped(path: Path, given: str, *, terminal: bool = False) -> tuple[int, list[str]]:
    stream = io.StringIO()
    commands = Terminal(given) if terminal else io.StringIO(given)
    code = step_file(path, Printer(stream), commands=commands)
    return code, stream.getvalue().splitlines()


def seen(lines: list[str]) -> int:
    return sum(line.startswith("step ") for line in lines)


def test_enter_goes_on_and_the_last_line_says_how_the_trace_stands() -> None:
    code, lines = stepped(TRACE, "\n" * LENGTH)
    assert (code, seen(lines)) == (Exit.PASSED, LENGTH)
    assert lines[-1].startswith("FIXED  reserve-the-same-again")
    assert f"step 1 of {LENGTH}" in lines
    for label in ("  action    ", "  expected  ", "  observed  ", "  on disk   commit 1"):
        assert any(line.startswith(label) for line in lines), label
    assert max(map(len, lines[:-1])) <= COLUMNS


@pytest.mark.parametrize(
    ("given", "steps", "code"),
    [("q\n", 1, 3), ("\nQUIT\n", 2, 3), ("", LENGTH, 0), ("c\n", LENGTH, 0), ("n\nfoo\nq\n", 2, 3)],
)
def test_q_quits_without_a_verdict_and_the_end_of_input_shows_the_rest(
    given: str, steps: int, code: int
) -> None:
    ended, lines = stepped(TRACE, given)
    assert (ended, seen(lines)) == (code, steps)
    if code:
        assert lines[-1].startswith("QUIT  ")


def test_a_person_is_asked_and_a_pipe_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    stepped(TRACE, "\nlevitate\x1b[2J\nq\n", terminal=True)
    asked = capsys.readouterr().err
    assert asked.count(PROMPT) == 3
    assert "no command here" in asked
    assert "\x1b" not in asked
    stepped(TRACE, "q\n")
    assert capsys.readouterr().err == ""


def test_the_store_stands_where_it_is_said_to_between_two_steps(tmp_path: Path) -> None:
    stood: list[bool] = []

    class Looking(io.StringIO):
        def readline(self, *_: Any) -> str:  # type: ignore[override]  # typeshed's IOBase is one of bytes
            place = next(
                line for line in output.getvalue().splitlines() if line.startswith("the store stands in")
            )
            stood.append(Path(place.split()[4], "coordinator.json").exists())
            return "\n"

    output = io.StringIO()
    step_file(TRACE, Printer(output), commands=Looking())
    assert stood[-1]
    assert not Path(output.getvalue().split("the store stands in ")[1].split()[0]).parent.exists()
    assert list(tmp_path.iterdir()) == []


def test_a_kill_is_walked_through_too(tmp_path: Path) -> None:
    trace = trace_of("in-place-write", "kill")
    name = save(trace, tmp_path / "kill.json").name
    ended = run("in-place-write", "replay", "--step", name, cwd=tmp_path, given="\n\n\n\n\n\n")
    lines = ended.stdout.splitlines()
    assert ended.returncode == 1, ended.stderr
    assert any(line.startswith("  ends      KILLED at state-create-after") for line in lines)
    assert any(line.startswith("  on disk   ") for line in lines)
    assert any(line.startswith("  DIFFERS   ") for line in lines)
    assert max(map(len, lines[:-1])) <= COLUMNS
    assert run(SOUND, "replay", "--step", name, cwd=tmp_path, given="q").returncode == 3


def test_options_that_go_with_others_are_refused_alone(tmp_path: Path) -> None:
    assert run(SOUND, "replay", "-o", "x", str(TRACE), cwd=tmp_path).returncode == 2
    assert run(SOUND, "replay", "--step", "--shrink", str(TRACE), cwd=tmp_path).returncode == 2
    with pytest.raises(UsageError, match="can't be opened"):
        stepped(tmp_path / "missing.json", "")
