"""Mutation testing: the sample, the judge's reading of what changed, the score's interval, a missing tool."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from crash_tests.planted.explained import EXPLAINED, argument_for
from crash_tests.planted.judge import changed_files, main, notices, parts
from crash_tests.planted.mutation import MutationError, _sampled, run
from crash_tests.planted.score import Mutant, Score, wilson

SOURCE = "def half(number: int | None) -> int | None:\n    return number and number // 2\n"


def copies(place: Path, changed: str) -> tuple[Path, Path]:
    for name, text in (("pristine", SOURCE), ("here", changed)):
        (place / name / "impl").mkdir(parents=True)
        (place / name / "impl" / "half.py").write_text(text, encoding="utf-8")
    return place / "pristine", place / "here"


def test_the_judge_finds_the_file_that_was_changed(tmp_path: Path) -> None:
    pristine, here = copies(tmp_path, SOURCE.replace("//", "*"))
    assert changed_files(pristine, here) == [Path("impl/half.py")]


def test_the_judge_refuses_a_copy_in_which_nothing_was_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pristine, here = copies(tmp_path, SOURCE)
    monkeypatch.chdir(here)
    assert main([str(pristine)]) == 2


def test_a_file_of_the_ledger_is_judged_by_the_ledger_alone_and_any_other_by_both() -> None:
    assert {name.partition(":")[0] for name, _ in parts(Path("impl/gated/lines.py"))} == {"ledger"}
    assert {name.partition(":")[0] for name, _ in parts(Path("impl/disk.py"))} == {"coordinator", "ledger"}


def test_a_hunt_that_finds_nothing_notices_nothing_and_anything_else_is_told() -> None:
    hunt = ["sh", "-c", "crash_tests.planted.hunt"]
    assert notices("corpus", ["env", "-", "sh", "-c", "exit 3"]).startswith("corpus: exit 3")
    assert notices("tests", ["sh", "-c", "true"]) == ""
    assert "exit" in notices("checks", hunt)


def test_annotations_are_not_sampled(tmp_path: Path) -> None:
    pristine, _ = copies(tmp_path, SOURCE)
    session = tmp_path / "session.sqlite"
    with closing(sqlite3.connect(session)) as database, database:
        database.execute(
            "create table mutation_specs "
            "(module_path, start_pos_row, start_pos_col, operator_name, occurrence, job_id)"
        )
        places = [(1, 21, "hint"), (1, 37, "answer"), (2, 22, "and"), (2, 30, "half")]
        rows = [
            ("impl/half.py", row, column, "op", at, name) for at, (row, column, name) in enumerate(places)
        ]
        database.executemany("insert into mutation_specs values (?, ?, ?, ?, ?, ?)", rows)
    chosen, of = _sampled(session, pristine, sample=10, seed=0)
    assert (chosen, of) == (
        {"and": ("impl/half.py", 2, 22, "op", 2), "half": ("impl/half.py", 2, 30, "op", 3)},
        2,
    )


def test_the_interval_is_wilsons() -> None:
    low, high = wilson(270, 300)
    assert (round(low, 4), round(high, 4)) == (0.8608, 0.9291)
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(300, 300)[1] == 1.0


def test_a_score_counts_survivors_and_those_that_are_explained() -> None:
    noticed = Mutant("impl/half.py", 2, "op", "-a\n+b", "tests: exit 1")
    score = Score("8", 0, 900, (noticed, Mutant("impl/half.py", 2, "op", "-a\n+c", "")))
    told = score.to_json(lambda mutant: "same" if "+c" in mutant.diff else "")
    assert (told["killed"], told["survived"], told["explained"], told["of"]) == (1, 1, 1, 900)


def test_an_argument_holds_for_its_lines_alone() -> None:
    for (file, gone, come), argument in EXPLAINED.items():
        diff = f"--- a\n+++ b\n@@ -1 +1 @@\n-    {gone}\n+    {come}\n"
        assert argument_for(Mutant(file, 1, "op", diff, "")) == argument
        assert argument_for(Mutant(file, 1, "op", diff.replace(come, f"{come} or 1"), "")) == ""
    assert argument_for(Mutant("impl/half.py", 1, "op", "-x\n+y", "")) == ""


def test_a_missing_tool_is_named_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(MutationError, match="no-such-tool is not installed: 'pip install cosmic-ray'"):
        run(tmp_path, tmp_path, sample=1, seed=0, tool="no-such-tool", before={}, tell=lambda _: None)
