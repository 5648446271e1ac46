"""`verify`: a run's folder is what the run wrote, or the difference is named."""

import hashlib
import io
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from holdtrue.exits import Exit, UsageError
from holdtrue.out import Printer
from holdtrue.tests.fakes import job, phase
from holdtrue.tests.runs import check_run
from holdtrue.verify import verify
from reports.manifest import NAME, ManifestError, manifest, parse


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    _, folder, _ = check_run(tmp_path_factory.mktemp("out"), phase("corpus", job("finds")))
    return folder


@pytest.fixture
def run(checked: Path, tmp_path: Path) -> Path:
    """A copy of a run's folder, to be spoilt."""
    copy = tmp_path / "run"
    shutil.copytree(checked, copy)
    return copy


def verified(folder: Path) -> tuple[int, list[str]]:
    stream = io.StringIO()
    return verify(str(folder), Printer(stream)), stream.getvalue().splitlines()


def test_a_run_is_whole_when_it_ends_also_after_it_was_moved(checked: Path, run: Path) -> None:
    for folder in (checked, run):
        code, lines = verified(folder)
        assert code == Exit.PASSED
        assert lines[-1].startswith(f"OK  {folder}: ")


def test_the_manifest_is_one_that_sha256sum_checks(run: Path) -> None:
    command = ["sha256sum", "--strict", "--quiet", "--check", NAME]
    subprocess.run(command, cwd=run, check=True, stdin=subprocess.DEVNULL)
    (run / "summary.md").write_text("changed", "ascii")
    done = subprocess.run(command, cwd=run, check=False, stdin=subprocess.DEVNULL, capture_output=True)
    assert done.returncode == 1


def test_every_file_is_listed(run: Path) -> None:
    listed = parse((run / NAME).read_text("utf-8"))
    there = {path.relative_to(run).as_posix() for path in run.rglob("*") if path.is_file()}
    assert set(listed) == there - {NAME}
    assert {
        "results.json",
        "audit.html",
        "junit.xml",
        "results.sarif",
        "summary.md",
        "attestation.json",
    } < there


def test_a_file_that_no_run_writes_is_refused_though_the_manifest_was_made_anew(run: Path) -> None:
    text = (run / "results.json").read_text("utf-8")
    for wrong in (text.replace('"word":', '"word":"PASSED","word":', 1), text[:-9]):
        (run / "results.json").write_text(wrong, encoding="utf-8")
        listed = parse((run / NAME).read_text("utf-8"))
        listed["results.json"] = hashlib.sha256(wrong.encode()).hexdigest()
        (run / NAME).write_text(manifest(listed), encoding="utf-8")
        with pytest.raises(UsageError, match=r"the key 'word' stands twice|is no JSON"):
            verified(run)


SPOILT: dict[str, Callable[[Path], object]] = {
    "missing": lambda run: (run / "junit.xml").unlink(),
    "changed": lambda run: (run / "results.json").write_bytes((run / "results.json").read_bytes() + b" "),
    "surplus": lambda run: (run / "traces" / "more.json").write_text("{}", "ascii"),
    "changed, no regular file any more": lambda run: _replaced_by_link(run / "audit.html"),
    "surplus, a link to a folder": lambda run: (run / "more").symlink_to(run / "traces"),
}


def _replaced_by_link(path: Path) -> None:
    aside = path.parent.parent / "aside"
    path.rename(aside)
    path.symlink_to(aside)


@pytest.mark.parametrize("how", SPOILT)
def test_whatever_differs_is_named_and_the_exit_code_is_1(how: str, run: Path) -> None:
    SPOILT[how](run)
    code, lines = verified(run)
    assert code == Exit.VIOLATED
    kind = how.partition(",")[0]
    assert lines[0].startswith(kind)
    assert lines[-1].startswith(f"CHANGED  {run}: 1 {kind}, of ")


def test_a_manifest_that_names_a_file_outside_is_not_followed(run: Path) -> None:
    listed = (run / NAME).read_text("utf-8")
    (run / NAME).write_text(f"{listed}{'0' * 64}  ../outside\n{'0' * 64}  /etc/passwd\n", "utf-8")
    code, lines = verified(run)
    assert code == Exit.VIOLATED
    assert sum("outside of the folder" in line for line in lines) == 2


def test_many_differences_are_counted_and_some_are_shown(run: Path) -> None:
    for number in range(50):
        (run / f"{number}\x1b[31m").touch()
    _, lines = verified(run)
    assert len(lines) < 25
    assert lines[-2] == "... and 30 more"
    assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize("content", ["x", "0" * 64, f"{'0' * 64}  a\n{'1' * 64}  a\n", f"{'G' * 64}  a\n"])
def test_a_damaged_manifest_is_a_usage_error(content: str, run: Path) -> None:
    (run / NAME).write_text(content, "ascii")
    with pytest.raises(UsageError, match="is damaged: line"):
        verified(run)


def test_a_folder_without_a_manifest_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no such file"):
        verified(tmp_path)


@pytest.mark.parametrize("name", ["a", "with space", "back\\slash", "new\nline", "re\rturn", "é", "\\n"])
def test_any_name_survives_the_manifest_as_sha256sum_writes_it(name: str, tmp_path: Path) -> None:
    digests = {name: "0" * 64}
    assert parse(manifest(digests)) == digests
    (tmp_path / name).touch()
    done = subprocess.run(
        ["sha256sum", "--", name], cwd=tmp_path, check=True, stdin=subprocess.DEVNULL, capture_output=True
    )
    assert set(parse(done.stdout.decode())) == {name}


def test_a_name_that_occurs_twice_is_refused() -> None:
    with pytest.raises(ManifestError, match="line 2 names 'a' a second time"):
        parse(f"{'0' * 64}  a\n{'0' * 64}  a\n")
