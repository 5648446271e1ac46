"""What is written down of judged mutants, and what of it is taken for known."""

import json
from pathlib import Path

import pytest
from attrs import asdict, evolve

from crash_tests.planted.judge import NO_END
from crash_tests.planted.judged import FILE, digest_of_impl, settled_before, write_down
from crash_tests.planted.score import Mutant

NOTICED = Mutant("impl/half.py", 2, "op", "-a\n+b", "tests: exit 1", 22, 2)
IMPL = "d" * 64


def test_what_was_noticed_in_the_same_source_is_known(tmp_path: Path) -> None:
    journal = tmp_path / "deep" / FILE
    write_down(journal, IMPL, NOTICED)
    assert settled_before(journal, IMPL) == {NOTICED.key: NOTICED}
    assert settled_before(journal, "e" * 64) == {}


def test_survivors_and_what_only_took_too_long_are_judged_again(tmp_path: Path) -> None:
    journal = tmp_path / FILE
    write_down(journal, IMPL, evolve(NOTICED, line=3))
    write_down(journal, IMPL, evolve(NOTICED, noticed="", line=3))
    write_down(journal, IMPL, evolve(NOTICED, noticed=f"ledger: tests: {NO_END} 240 s", line=4))
    write_down(journal, IMPL, NOTICED)
    assert settled_before(journal, IMPL) == {NOTICED.key: NOTICED}


def test_a_survivor_that_is_explained_by_now_stays_one_and_is_not_judged_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    explained = evolve(NOTICED, noticed="")
    write_down(tmp_path / FILE, IMPL, explained)
    monkeypatch.setattr("crash_tests.planted.explained.EXPLAINED", {(explained.file, "a", "b"): "The same."})
    assert settled_before(tmp_path / FILE, IMPL) == {explained.key: explained}


WHOLE = json.dumps({"impl": IMPL, **asdict(NOTICED)}).encode()


@pytest.mark.parametrize(
    "line",
    [
        WHOLE[:40],
        WHOLE[:-9],
        b"[]",
        b"null",
        b"\xff",
        b"[" * 200_000,
        b'{"impl": "%s"}' % IMPL.encode(),
        WHOLE.replace(b'"tests: exit 1"', b"5"),
        WHOLE.replace(b'"tests: exit 1"', b"true"),
        WHOLE.replace(b'"tests: exit 1"', b"null"),
        WHOLE.replace(b'"tests: exit 1"', b'" "'),
        WHOLE.replace(b'"tests: exit 1"', b'"", "noticed": "x"'),
        WHOLE.replace(b'"impl/half.py"', b"[]"),
        WHOLE.replace(b"22", b"22.0"),
    ],
)
def test_a_line_without_sense_is_passed_over(tmp_path: Path, line: bytes) -> None:
    assert line != WHOLE
    journal = tmp_path / FILE
    journal.write_bytes(line + b"\n")
    assert settled_before(journal, IMPL) == {}
    journal.write_bytes(b"\n".join((line, WHOLE, line)))
    assert settled_before(journal, IMPL) == {NOTICED.key: NOTICED}


def test_nothing_is_known_where_nothing_was_written(tmp_path: Path) -> None:
    assert settled_before(tmp_path / "missing", IMPL) == {}


def test_what_follows_half_a_line_is_a_line_of_its_own(tmp_path: Path) -> None:
    journal = tmp_path / FILE
    journal.write_bytes(WHOLE[:40])
    write_down(journal, IMPL, NOTICED)
    write_down(journal, IMPL, evolve(NOTICED, line=3))
    assert set(settled_before(journal, IMPL)) == {NOTICED.key, evolve(NOTICED, line=3).key}


def test_the_digest_is_of_the_source_and_not_of_its_tests(tmp_path: Path) -> None:
    tests = tmp_path / "impl" / "tests"
    tests.mkdir(parents=True)
    source = tmp_path / "impl" / "half.py"
    source.write_text("half = 2")
    first = digest_of_impl(tmp_path)
    (tests / "test_half.py").write_text("assert True")
    assert digest_of_impl(tmp_path) == first
    source.write_text("half = 3")
    assert digest_of_impl(tmp_path) != first
