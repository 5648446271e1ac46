"""`mutants --source`: what it prints, keeps and returns, with a tool that judges as it is told."""

import io
import json
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from crash_tests.planted import fake_cosmic_ray, mutation
from crash_tests.planted.judge import NO_END
from holdtrue.detection import known
from holdtrue.exits import Exit, UsageError
from holdtrue.mutation import Options
from holdtrue.mutation import mutation as mutate
from holdtrue.out import Printer


@pytest.fixture
def judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str]]:
    """Mutation testing with a tool that judges three mutants as it is told; exit code and what was said."""
    tool = tmp_path / "cosmic-ray"
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{fake_cosmic_ray.__file__}" "$@"\n')
    tool.chmod(0o755)
    judgements = tmp_path / "judgements.json"
    monkeypatch.setenv(fake_cosmic_ray.JUDGEMENTS, str(judgements))
    monkeypatch.setattr(mutation, "_check_sound", lambda *_: None)

    def run(*said: str, resume: bool = False) -> tuple[int, str]:
        judgements.write_text(json.dumps(dict(enumerate(said))))
        written = io.StringIO()
        options = Options(3, 0, str(tool), tmp_path / "out", 2, resume)
        try:
            code = mutate(options, printer=Printer(written))
        except KeyboardInterrupt:
            code = -1
        return code, written.getvalue()

    return run


def test_what_was_judged_of_mutants_is_told_and_kept(
    judged: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    code, said = judged("survived", "tests: exit 1", f"tests: {NO_END} 240 s")
    assert code == Exit.VIOLATED
    assert "SURVIVED  66.7% of 3 mutants noticed, 1 survivors without an argument" in said
    assert "1 only took too long" in said
    found = known(tmp_path / "out")
    assert found is not None
    assert (found["mutation"]["killed"], found["mutation"]["hung"]) == (2, 1)


def test_a_resumed_run_judges_only_what_was_not_noticed(judged: Callable[..., tuple[int, str]]) -> None:
    judged("survived", "tests: exit 1", f"tests: {NO_END} 240 s")
    code, said = judged("tests: exit 1", "survived", "checks: exit 1", resume=True)
    assert (code, "NOTICED  100.0% of 3 mutants noticed" in said) == (Exit.PASSED, True)
    code, said = judged("survived", "survived", "survived", resume=True)
    assert (code, "NOTICED  100.0% of 3 mutants noticed" in said) == (Exit.PASSED, True)
    assert judged("survived", "survived", "survived")[0] == Exit.VIOLATED


def test_mutants_that_the_tool_fails_to_make_count_as_nothing_unless_they_are_many(
    judged: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match=r"impl/epoch.py:1: cosmic-ray could not make this mutant"):
        judged("tests: exit 1", "tests: exit 1", "unmade")
    monkeypatch.setattr(mutation, "MOST_UNMADE", 0.5)
    code, said = judged("tests: exit 1", "tests: exit 1", "unmade", resume=True)
    assert (code, "NOTICED  100.0% of 2 mutants noticed" in said) == (Exit.PASSED, True)
    assert "The tool failed to make 1 more" in said


def test_a_program_that_is_another_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutation, "_check_sound", lambda *_: None)
    with pytest.raises(UsageError, match="true has made no session of cosmic-ray's"):
        mutate(Options(3, 0, "true", tmp_path), printer=Printer(io.StringIO()))


def test_an_interrupted_run_says_where_its_judgements_are_and_leaves_nobody(
    judged: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    journal = tmp_path / "out" / "mutation.jsonl"

    def interrupt() -> None:
        until = time.monotonic() + 60.0
        while time.monotonic() < until and not (journal.exists() and journal.read_text().count("\n") == 2):
            time.sleep(0.05)
        signal.raise_signal(signal.SIGINT)

    # A run that was started in the background ignores SIGINT, and so would this test of what it does.
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    interrupting = threading.Thread(target=interrupt)
    interrupting.start()
    try:
        code, said = judged("tests: exit 1", "tests: exit 1", "never")
    finally:
        interrupting.join()
        signal.signal(signal.SIGINT, former)
    assert code == -1
    assert f"--resume goes on from what was judged, which stands in:\n{tmp_path / 'out'}" in said
    assert journal.read_text().count("\n") == 2
    assert not [one for one in Path("/proc").glob("[0-9]*/cmdline") if b"fake_cosmic_ray" in _bytes(one)]
    assert judged("survived", "survived", "checks: exit 1", resume=True)[0] == Exit.PASSED


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # it has ended since
        return b""
