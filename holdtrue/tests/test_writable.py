"""What can't be written is told before anything begins, by each command that takes a while."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from holdtrue import explore, mutants, mutation, shrinking
from holdtrue.cli import main
from holdtrue.detection import FILE
from holdtrue.exits import Exit, UsageError
from holdtrue.writable import file_for, folder_for


@pytest.fixture
def places(tmp_path: Path) -> Mapping[str, Path]:
    """Folders in which nothing can be kept, by why; whoever is root may write wherever modes forbid it."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    (tmp_path / "taken" / FILE).mkdir(parents=True)
    return {
        "it is no directory": tmp_path / "file",
        "Not a directory": tmp_path / "file" / "out",
        "No such file or directory": Path("/proc/nothing"),
        "in it 'detection.json' is a directory": tmp_path / "taken",
        "embedded null byte": Path("a\0b"),
    }


WHYS = (
    *("it is no directory", "Not a directory", "No such file or directory"),
    *("in it 'detection.json' is a directory", "embedded null byte"),
)


def begun(*_: object, **__: object) -> None:
    pytest.fail("it had begun")


@pytest.mark.parametrize("why", WHYS)
@pytest.mark.parametrize("source", [False, True])
def test_hunts_do_not_begin_where_nothing_can_be_kept(
    why: str,
    source: bool,
    places: Mapping[str, Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mutants, "run_jobs", begun)
    monkeypatch.setattr(mutation, "run", begun)
    more = ["--source", "3", "--tool", "true"] if source else []
    assert main(["mutants", *more, "--out", str(places[why])]) == Exit.USAGE
    said = capsys.readouterr()
    assert said.out == ""
    assert f"can't be written: {why}" in said.err
    assert "; choose another" in said.err


def test_a_hunt_of_a_few_faults_keeps_nothing_and_asks_for_no_folder(
    places: Mapping[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutants, "_hunt", begun)
    with pytest.raises(pytest.fail.Exception, match="it had begun"):
        mutants.mutants(mutants.Options(("capacity-off-by-one",), out=places["it is no directory"]))


def test_an_empty_folder_is_no_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mutants", "--out", ""]) == Exit.USAGE
    assert "--out is empty" in capsys.readouterr().err


def test_looking_leaves_nothing_behind(tmp_path: Path) -> None:
    folder_for(tmp_path / "new" / "out", FILE)
    file_for(tmp_path / "trace.json", "-o")
    (tmp_path / "there").write_text("as it was", encoding="utf-8")
    for replaced in (False, True):
        file_for(tmp_path / "there", "-o", replaced=replaced)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["new", "out", "there"]
    assert (tmp_path / "there").read_text("utf-8") == "as it was"


@pytest.mark.parametrize("option", ["--graph", "--itf"])
def test_an_exploration_does_not_begin_if_its_files_can_not_be_written(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explore, "explore", begun)
    for name in ("/proc/nothing", "/proc/nothing.svg", str(tmp_path / ("a" * 300)), "a\0b"):
        assert main(["explore", option, name]) == Exit.USAGE
        assert "can't be written: " in capsys.readouterr().err
    (tmp_path / "g.svg").mkdir()
    if option == "--graph":
        assert main(["explore", option, str(tmp_path / "g")]) == Exit.USAGE
        assert "names no file" in capsys.readouterr().err


def test_no_trace_is_shrunk_into_a_file_that_can_not_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shrinking, "read_and_perform", begun)
    trace = tmp_path / "t.json"
    trace.write_text(json.dumps({}), encoding="utf-8")
    assert main(["replay", "--shrink", "-o", "/proc/shorter.json", str(trace)]) == Exit.USAGE
    assert "-o '/proc/shorter.json' can't be written: " in capsys.readouterr().err


def test_what_is_no_file_is_told_by_its_option(tmp_path: Path) -> None:
    for path, why in (
        (tmp_path, "names no file"),
        (tmp_path / "a" / "b", "there is no directory .*; make it first"),
        (tmp_path / ("a" * 300), "File name too long"),
    ):
        with pytest.raises(UsageError, match=f"^-o .* ?{why}"):
            file_for(path, "-o")
