"""The folder that a run leaves: whole or not there, the newest one linked, and honest about what it lacks."""

import errno
import json
import os
import signal
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from holdtrue.exits import Exit
from holdtrue.runfolder import RunFolder
from holdtrue.tests.fakes import job, phase
from holdtrue.tests.runs import check_run
from holdtrue.verify import differences
from model.values import JSON
from reports.manifest import NAME, parse
from reports.results import parse as parse_results
from stateful_tests.results import Job

FILES = {"results.json", "audit.html", "junit.xml", "results.sarif", "summary.md", "attestation.json", NAME}


def test_a_run_leaves_all_its_files_and_nothing_unfinished(tmp_path: Path) -> None:
    _, folder, _ = check_run(tmp_path, phase("corpus", job("finds")))
    assert {path.name for path in folder.iterdir() if path.is_file()} == FILES
    assert sorted(path.name for path in tmp_path.iterdir()) == [folder.name, "latest"]
    results = parse_results(json.loads((folder / "results.json").read_text("utf-8")))
    assert results["environment"]["run"] == folder.name
    (failure,) = results["failures"]
    for kind in ("trace", "repro"):
        assert (folder / failure[kind]).is_file()


def test_a_long_clause_is_cut_between_its_words_in_a_trace_s_name(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, datetime(2030, 1, 1, tzinfo=UTC))
    cut = folder.add_trace("kills-001-1", "slots held never exceed maxActiveRuns (S10)", {})
    assert cut == "traces/kills-001-1-slots-held-never-exceed-maxActiveRuns.json"
    assert folder.add_trace("a", "x" * 60, {}) == f"traces/a-{'x' * 40}.json"
    assert folder.add_trace("a", "(\N{BLACK STAR})", {}) == "traces/a-trace.json"


def test_latest_points_to_the_newest_run_and_the_older_one_stays(tmp_path: Path) -> None:
    _, first, _ = check_run(tmp_path, phase("corpus", job("fine")))
    _, second, _ = check_run(tmp_path, phase("corpus", job("fine")))
    assert first != second
    assert (tmp_path / "latest").readlink() == Path(second.name)
    assert differences(first, parse((first / NAME).read_text("utf-8"))) == []


def test_a_latest_that_is_in_the_way_is_left_alone_and_said(tmp_path: Path) -> None:
    (tmp_path / "latest").mkdir()
    (tmp_path / "latest" / "mine").touch()
    code, _, lines = check_run(tmp_path, phase("corpus", job("fine")))
    assert code == Exit.PASSED
    assert (tmp_path / "latest" / "mine").exists()
    assert any("latest can't point to this run" in line for line in lines)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_the_previous_run_is_compared_with(tmp_path: Path) -> None:
    check_run(tmp_path, phase("corpus", job("finds"), job("fine")))
    _, folder, _ = check_run(tmp_path, phase("corpus", job("fine")))
    previous = json.loads((folder / "results.json").read_text("utf-8"))["environment"]["previous"]
    assert previous["verdict"] == "VIOLATED"
    assert [one["clause"] for one in previous["vanished"]] == ["S10"]


def test_previous_runs_that_cannot_be_read_are_passed_over(tmp_path: Path) -> None:
    _, first, _ = check_run(tmp_path, phase("corpus", job("fine")))
    (tmp_path / "99990101T000000Z-ffffff").mkdir()
    (tmp_path / "99980101T000000Z-ffffff").mkdir()
    (tmp_path / "99980101T000000Z-ffffff" / "results.json").write_text("{", "ascii")
    _, folder, _ = check_run(tmp_path, phase("corpus", job("fine")))
    previous = json.loads((folder / "results.json").read_text("utf-8"))["environment"]["previous"]
    assert previous["run"] == first.name


def test_a_renderer_that_fails_costs_no_verdict_but_the_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> str:
        raise ZeroDivisionError("a bug")

    for form in ("junit", "repro"):
        with monkeypatch.context() as patch:
            patch.setattr(f"reports.{form}.render", broken)
            code, folder, lines = check_run(tmp_path / form, phase("corpus", job("fine")))
            assert (code == Exit.HARNESS_FAILED) == (form == "junit")
            assert ("junit can't be rendered: ZeroDivisionError: a bug" in lines[-1]) == (form == "junit")
            code, folder, lines = check_run(tmp_path / form, phase("corpus", job("finds")))
            assert code == Exit.VIOLATED
            assert f"{form} can't be rendered" in lines[-1]
            assert (folder / "results.json").is_file()


@pytest.mark.parametrize("full", ["audit.html", "results.json", NAME, "traces/corpus-001-1-S10.json"])
def test_what_does_not_fit_is_missing_whole_and_the_verdict_says_so(
    full: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Path.write_bytes

    def written(path: Path, content: bytes) -> int:
        if path.as_posix().endswith(full):
            write(path, content[:10])
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(path, content)

    monkeypatch.setattr(Path, "write_bytes", written)
    code, folder, lines = check_run(tmp_path, phase("corpus", job("finds")))
    assert code == Exit.VIOLATED
    assert f"{full}: No space left on device" in lines[-1]
    assert not (folder / full).exists()


def test_an_interruption_while_the_files_are_written_comes_after_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def impatient(*_: object) -> str:
        os.kill(os.getpid(), signal.SIGINT)
        return "<xml/>"

    monkeypatch.setattr("reports.junit.render", impatient)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it comes ignored
    ended = threading.Event()
    another = threading.Thread(target=ended.wait)  # as a library may have it; it blocks no signal
    another.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            check_run(tmp_path, phase("corpus", job("fine")))
    finally:
        ended.set()
        another.join()
        signal.signal(signal.SIGINT, before)
    folder = (tmp_path / "latest").resolve()
    assert {path.name for path in folder.iterdir() if path.is_file()} == FILES


def test_what_jobs_tell_besides_stands_in_the_results(tmp_path: Path) -> None:
    def tells(number: int) -> Job:
        space: JSON = {"system": "coordinator", "space": f"space {number}", "verdict": "holds"}
        return job("tells", details={"told": number, "explorations": [space]})

    _, folder, _ = check_run(tmp_path, phase("corpus", tells(1), job("fine"), tells(2)))
    results = parse_results(json.loads((folder / "results.json").read_text("utf-8")))
    assert results["phases"][0]["details"] == {"told": [1, 2]}
    assert [each["space"] for each in results["explorations"]] == ["space 1", "space 2"]
