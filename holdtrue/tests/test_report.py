"""`report`: any format again, from the run's folder alone, of this version or an older one."""

import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from holdtrue.cli import main
from holdtrue.exits import Exit, UsageError
from holdtrue.options import FORMATS
from holdtrue.out import Printer
from holdtrue.rendering import FORMS, OTHERS, PER_TRACE
from holdtrue.report import report
from holdtrue.tests.fakes import job, phase
from holdtrue.tests.runs import check_run, write_run
from reports.tests.examples import EXAMPLES
from reports.tests.test_results import OLD


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run with a counterexample."""
    _, folder, _ = check_run(tmp_path_factory.mktemp("out"), phase("corpus", job("finds"), job("fine")))
    return folder


def test_the_command_line_knows_every_format() -> None:
    assert set(FORMATS) == {*FORMS, *PER_TRACE, *OTHERS}


@pytest.mark.parametrize("form", FORMS)
def test_what_the_run_wrote_is_rendered_again_byte_for_byte(checked: Path, form: str, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere"
    shutil.copytree(checked, moved)
    for made in FORMS.values():
        (moved / made.file).unlink()
    assert report(str(moved), form, str(tmp_path / "again")) == Exit.PASSED
    assert (tmp_path / "again").read_bytes() == (checked / FORMS[form].file).read_bytes()


def test_json_is_the_run_s_own(checked: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["report", str(checked), "--format", "json"]) == Exit.PASSED
    assert capfdbinary.readouterr().out == (checked / "results.json").read_bytes()


def test_text_is_what_the_check_printed_at_its_end(tmp_path: Path) -> None:
    _, folder, printed = check_run(tmp_path, phase("corpus", job("finds")))
    stream = io.StringIO()
    report(str(folder), "text", None, printer=Printer(stream))
    again = stream.getvalue().splitlines()
    assert again[-1] == printed[-1]
    start = printed.index("What was covered")
    assert again[:-1] == printed[start : start + len(again) - 1]


def test_each_trace_has_its_files_in_the_formats_of_traces(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", "violated")
    assert report(str(folder), "itf", str(tmp_path / "itf")) == Exit.PASSED
    assert sorted(path.name for path in (tmp_path / "itf").iterdir()) == [
        "conformance-001-1-Operations.itf.json",
        "conformance-004-1-answers.itf.json",
        "kills-002-1-C6.itf.json",
    ]
    with pytest.raises(UsageError, match="name a directory for them with -o DIR"):
        report(str(folder), "itf", None)
    with pytest.raises(UsageError, match="name another directory"):
        report(str(folder), "itf", str(folder / "results.json"))


def test_a_run_can_be_named_by_its_results_file(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", "passed")
    assert report(str(folder / "results.json"), "html", str(tmp_path / "x")) == Exit.PASSED


@pytest.mark.parametrize("form", [form for form in FORMATS if form not in PER_TRACE])
def test_a_run_of_version_1_is_rendered(form: str, tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(json.dumps(OLD), "ascii")
    assert report(str(tmp_path), form, str(tmp_path / "x")) == Exit.PASSED
    assert (tmp_path / "x").stat().st_size > 500


@pytest.mark.parametrize("form", [form for form in FORMATS if form not in PER_TRACE])
@pytest.mark.parametrize("spoil", ["gone", "no JSON", "not a trace", "a folder"])
def test_a_trace_that_cannot_be_read_is_left_out(form: str, spoil: str, tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", "violated")
    path = folder / "traces" / "conformance-001-1-Operations.json"
    path.unlink()
    if spoil == "a folder":
        path.mkdir()
    elif spoil != "gone":
        path.write_text("[1, 2]" if spoil == "not a trace" else "{", "ascii")
    assert report(str(folder), form, str(tmp_path / "x")) == Exit.PASSED


def test_a_trace_outside_of_the_run_is_not_read(tmp_path: Path) -> None:
    example = EXAMPLES["violated"]
    failure = {**example.results["failures"][0], "trace": "../secret.json"}
    folder = write_run(tmp_path / "run", "violated")
    (tmp_path / "secret.json").write_text('{"why": "a secret", "steps": []}', "ascii")
    results = {**example.results, "failures": [failure]}
    (folder / "results.json").write_text(json.dumps(results), "ascii")
    assert report(str(folder), "text", str(tmp_path / "x")) == Exit.PASSED
    assert "a secret" not in (tmp_path / "x").read_text("utf-8")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "can't be opened"),
        ("{", "is no JSON: line 1"),
        ('{"verdict": {"word": "VIOLATED", "word": "PASSED"}}', "is broken: the key 'word' stands twice"),
        ("{}", "this is no results.json of a run"),
        ('{"schema_version": 9, "phases": [], "verdict": {}}', "use the version of holdtrue that wrote it"),
        ('{"schema_version": 2, "phases": [], "verdict": {}}', "it was damaged or edited"),
    ],
)
def test_what_is_no_run_is_a_usage_error(content: str | None, said: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "results.json").write_text(content, "ascii")
    with pytest.raises(UsageError, match=said):
        report(str(tmp_path), "text", None)


@pytest.mark.parametrize("named", ["", "/nowhere/at/all", "a\0b"])
def test_a_run_that_is_not_there_is_a_usage_error(named: str) -> None:
    with pytest.raises(UsageError, match=r"no run|can't be looked at"):
        report(named, "text", None)


def test_an_output_that_cannot_be_written_is_a_usage_error(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", "passed")
    with pytest.raises(UsageError, match="name another file with -o"):
        report(str(folder), "json", str(tmp_path / "no" / "such" / "folder"))


@pytest.mark.parametrize("form", ["text", "html"])
def test_what_does_not_fit_on_standard_output_is_an_error_and_no_pass(form: str, checked: Path) -> None:
    command = [sys.executable, "-m", "holdtrue", "report", str(checked), "--format", form]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == Exit.USAGE
    assert b"standard output can't be written" in done.stderr
    assert b"harness" not in done.stderr
    gone, kept = os.pipe()
    os.close(gone)
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=kept, stderr=subprocess.PIPE, check=False)
    os.close(kept)
    assert (done.returncode, done.stderr) == (Exit.PASSED, b"")
