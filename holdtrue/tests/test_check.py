"""`check`: what it prints, keeps and returns, with phases of our own."""

import errno
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from holdtrue import provenance
from holdtrue.check import Options, check
from holdtrue.exits import Exit, UsageError
from holdtrue.out import Printer
from holdtrue.phases import Phase
from holdtrue.provenance import invocation
from holdtrue.tests.fakes import job, phase
from reports.commands import reproduce


def ran(out: Path, *phases: Phase, **options: Any) -> tuple[int, list[str], Mapping[str, Any]]:
    """The exit code, the lines printed, and results.json."""
    stream = io.StringIO()
    code = check(Options(out=out, workers=2, **options), phases=phases, printer=Printer(stream))
    folder = run_folder(out)
    return code, stream.getvalue().splitlines(), json.loads((folder / "results.json").read_text("utf-8"))


def run_folder(out: Path) -> Path:
    """The only run in `out`."""
    (folder,) = (path for path in out.iterdir() if not path.is_symlink())
    return folder


def test_the_verdict_is_the_last_line_and_stands_in_the_results(tmp_path: Path) -> None:
    code, lines, results = ran(tmp_path, phase("corpus", job("fine")))
    assert code == Exit.PASSED
    assert results["verdict"]["line"] == "PASSED  quick, seed 0: 1 job, 2 actions"
    assert lines[-1] == f"{results['verdict']['line']}, {results['times']['seconds']:.1f} s"


def test_no_line_before_the_verdict_is_wider_than_80_columns_but_paths(tmp_path: Path) -> None:
    _, lines, _ = ran(
        tmp_path, phase("corpus", job("fine"), job("finds"), job("raises"), floors={"witness/S8": 3})
    )
    # A lost job's last words stand as they are, and hold paths, too.
    said = ("  | ", "as a test ", "reproduce: ", "results: ")
    wide = [line for line in lines[1:-1] if len(line) > 80 and not line.startswith(said)]
    assert wide == []


def test_phases_run_in_order_and_each_says_when_it_begins_and_ends(tmp_path: Path) -> None:
    _, lines, _ = ran(tmp_path, phase("corpus", job("fine")), phase("kills", job("fine"), job("fine", n=1)))
    told = [line for line in lines if line.startswith(("corpus:", "kills:"))]
    assert told[0] == "corpus: about corpus"
    assert told[1].startswith("corpus: 1 of 1 jobs, ")
    assert told[2] == "kills: about kills"
    assert told[3].startswith("kills: 2 of 2 jobs, ")


def test_each_counterexample_is_a_file_and_comes_with_the_command_that_replays_it(tmp_path: Path) -> None:
    code, lines, results = ran(tmp_path, phase("corpus", job("finds", n=1), job("finds", n=2)))
    assert code == Exit.VIOLATED
    folder = run_folder(tmp_path)
    assert [failure["trace"] for failure in results["failures"]] == [
        "traces/corpus-001-1-S10.json",
        "traces/corpus-002-1-S10.json",
    ]
    for failure in results["failures"]:
        path = folder / failure["trace"]
        assert json.loads(path.read_text("utf-8"))["steps"]
        command = reproduce(results, failure)
        assert command == f"{results['environment']['invocation']} replay {path}"
        assert f"reproduce:  {command}" in lines


def test_the_command_that_replays_is_one_that_the_shell_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = tmp_path / "some bin" / "holdtrue"
    ours.parent.mkdir()
    ours.touch(mode=0o755)
    monkeypatch.setattr("sys.executable", str(ours.with_name("python")))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/nowhere")
    assert invocation("some bin/holdtrue") == "'some bin/holdtrue'"
    monkeypatch.setenv("PATH", str(ours.parent))
    assert invocation("some bin/holdtrue") == "holdtrue"


def test_a_full_disk_takes_nothing_from_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    for runner, code, word in (
        ("finds", Exit.VIOLATED, "VIOLATED"),
        ("fine", Exit.HARNESS_FAILED, "HARNESS"),
    ):
        stream = io.StringIO()
        phases = [phase("corpus", job(runner))]
        assert check(Options(out=tmp_path / runner), phases=phases, printer=Printer(stream)) == code
        told = stream.getvalue()
        assert told.splitlines()[-1].startswith(word)
        assert ("evil \\x1b" in told) == ("reproduce:  (no trace file" in told) == (runner == "finds")
        assert "can't be written: " in told.splitlines()[-1]
        assert "No space left on device" in told.splitlines()[-1]
        folder = run_folder(tmp_path / runner)
        assert [path.name for path in folder.rglob("*")] == ["traces"]


def test_hostile_text_in_a_trace_is_shown_harmlessly(tmp_path: Path) -> None:
    _, lines, _ = ran(tmp_path, phase("corpus", job("finds")))
    assert all(line.isprintable() for line in lines)
    assert "evil \\x1b[31m\\u202e" in lines


def test_only_leaves_other_phases_out_and_the_verdict_says_so(tmp_path: Path) -> None:
    code, lines, results = ran(
        tmp_path,
        phase("corpus", job("fine")),
        phase("kills", job("raises"), floors={"kill/reserve/x": 1}),
        only=("corpus",),
    )
    assert code == Exit.PASSED
    assert lines[-1].startswith("PASSED  only corpus; quick, seed 0:")
    assert results["left_out"] == ["kills"]
    assert "- The phase kills: it was not run." in lines


def test_a_floor_that_is_not_reached_makes_it_inconclusive(tmp_path: Path) -> None:
    code, lines, _ = ran(tmp_path, phase("corpus", job("fine"), floors={"witness/S8": 1}))
    assert code == Exit.INCONCLUSIVE
    assert lines[-1].endswith("corpus: seen too rarely: witness/S8 0/1")


def test_the_time_budget_ends_the_run_and_makes_it_inconclusive(tmp_path: Path) -> None:
    code, lines, results = ran(
        tmp_path, phase("corpus", job("hangs")), phase("kills", job("fine")), time_budget=1.0
    )
    assert code == Exit.INCONCLUSIVE
    assert results["not_begun"] == ["kills"]
    assert "the time budget cut 1 of 1 jobs; not begun: kills" in lines[-1]


def test_a_lost_job_fails_the_harness_and_shows_its_end(tmp_path: Path) -> None:
    code, lines, results = ran(tmp_path, phase("corpus", job("dies"), job("fine")))
    assert code == Exit.HARNESS_FAILED
    assert "  | my last words" in lines
    assert results["phases"][0]["lost"][0]["why"] == "died"


def test_the_same_seed_gives_the_same_results_times_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    same = provenance.code()  # somebody may be editing meanwhile
    monkeypatch.setattr("holdtrue.check.code", lambda: same)

    def results(at: str) -> object:
        _, _, found = ran(
            tmp_path / at, phase("corpus", *(job("fine", n=n) for n in range(5)), job("raises"))
        )
        return {**found, "times": None, "environment": None}

    assert results("a") == results("b")


def test_a_run_folder_is_complete_or_not_there(tmp_path: Path) -> None:
    def plan(_profile: str, _seed: int) -> Any:
        raise LookupError("no plan")

    with pytest.raises(LookupError):
        check(Options(out=tmp_path), phases=[Phase("corpus", "about", plan)], printer=Printer(io.StringIO()))
    assert list(tmp_path.iterdir()) == []


def test_an_out_that_is_no_directory_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="ascii")
    with pytest.raises(UsageError, match="choose another with --out"):
        check(Options(out=tmp_path / "file"), phases=[], printer=Printer(io.StringIO()))


def test_a_kill_point_in_the_environment_is_not_inherited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDTRUE_CRASH_AT", "state-rename-before")
    _, _, results = ran(tmp_path, phase("corpus", job("environment")))
    assert results["phases"][0]["counts"]["crash"] == 0


def test_the_scratch_folder_is_gone_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scratch").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    monkeypatch.setattr("tempfile.tempdir", None)
    ran(tmp_path / "out", phase("corpus", job("dies"), job("fine")))
    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_reader_that_goes_away_does_not_change_the_exit_code(tmp_path: Path) -> None:
    class Gone(io.StringIO):
        def write(self, _text: str) -> int:
            raise BrokenPipeError

    code = check(Options(out=tmp_path), phases=[phase("corpus", job("finds"))], printer=Printer(Gone()))
    assert code == Exit.VIOLATED
