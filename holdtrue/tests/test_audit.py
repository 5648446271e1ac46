"""`audit`: says what holds and what does not, and leaves no trace of having looked."""

import io
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdtrue.audit import audit
from holdtrue.exits import Exit, UsageError
from holdtrue.out import Printer
from holdtrue.tests.stores import ROW, make, picture, spoil


def audited(directory: Path) -> tuple[int, list[str]]:
    """The exit code and the lines; checks that nothing in the directory has changed."""
    before = picture(directory)
    stream = io.StringIO()
    code = audit(directory, Printer(stream))
    assert picture(directory) == before
    return code, stream.getvalue().splitlines()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return make(tmp_path / "store")


def faulty_clauses(lines: list[str]) -> list[str]:
    return [line.split()[0] for line in lines if line[7:14] == " FAULT "]


def test_a_good_store_passes_clause_by_clause(store: Path) -> None:
    code, lines = audited(store)
    assert code == Exit.PASSED
    assert lines == [
        f"directory   {store}",
        "commits     5, 5 audit entries, epoch 1",
        "rows        1 reserved, 1 committed",
        "commands    1",
        "slots       2 of 3 held",
        "",
        *(line for line in lines if line[8:10] == "ok"),
        "",
        f"OK  {store}: every clause holds",
    ]
    assert [line.split()[0] for line in lines if line[8:10] == "ok"] == [
        "FILES",
        *(f"S{number}" for number in range(1, 11)),
    ]


def held(state: dict[str, Any]) -> None:
    state["maxActiveRuns"] = 1


def reserved_committed(state: dict[str, Any]) -> None:
    state["reservations"][ROW]["reservation"]["reservedExpiresAt"] = 5


def bad_link(state: dict[str, Any]) -> None:
    state["audit"][1]["previousHash"] = "0" * 64


def unknown_key(state: dict[str, Any]) -> None:
    state["\x1b[31m\u202e"] = 1


@pytest.mark.parametrize(
    ("change", "clauses"), [(held, {"S2", "S4", "S10"}), (reserved_committed, {"S6"}), (bad_link, {"S3"})]
)
def test_a_tampered_state_names_the_clauses_that_fail(
    store: Path, change: Callable[[dict[str, Any]], None], clauses: set[str]
) -> None:
    spoil(store, change)
    code, lines = audited(store)
    assert code == Exit.VIOLATED
    assert clauses <= set(faulty_clauses(lines))
    assert lines[-1].startswith("FAULTY")


def test_a_state_of_another_shape_leaves_the_rest_unexamined(store: Path) -> None:
    spoil(store, unknown_key)
    code, lines = audited(store)
    assert code == Exit.VIOLATED
    assert faulty_clauses(lines) == ["S1"]
    assert sum(line[8:14] == "unread" for line in lines) == 9
    assert all(line.isprintable() for line in lines)


def test_modes_links_and_missing_files_are_faults_of_the_files(store: Path) -> None:
    (store / "coordinator.json").chmod(0o644)
    assert faulty_clauses(audited(store)[1]) == ["FILES"]
    (store / "coordinator.json").chmod(0o600)
    os.link(store / "coordinator.json", store.parent / "second")
    assert faulty_clauses(audited(store)[1]) == ["FILES"]
    (store.parent / "second").unlink()
    (store / "coordinator.identity.json").unlink()
    assert faulty_clauses(audited(store)[1]) == ["FILES"]


def test_a_fifo_in_place_of_the_state_is_told_at_once(store: Path) -> None:
    (store / "coordinator.json").unlink()
    os.mkfifo(store / "coordinator.json", 0o600)
    stream = io.StringIO()
    assert audit(store, Printer(stream)) == Exit.VIOLATED
    assert "FILES   FAULT" in stream.getvalue()


def test_a_copied_store_is_a_fault(store: Path) -> None:
    copy = store.parent / "copy"
    shutil.copytree(store, copy)
    code, lines = audited(copy)
    assert code == Exit.VIOLATED
    assert "copied or moved" in " ".join(" ".join(lines).split())


def test_an_empty_directory_is_a_fault_not_a_pass(tmp_path: Path) -> None:
    code, lines = audited(tmp_path)
    assert code == Exit.VIOLATED
    assert any("no store" in line for line in lines)


def test_of_a_directory_without_a_store_nothing_else_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    _, lines = audited(tmp_path)
    assert not any("chmod" in line for line in lines)
    assert lines[-1].endswith(": 1 fault")


@pytest.mark.parametrize("name", ["coordinator.json", "coordinator.identity.json", "writer.lock"])
@pytest.mark.parametrize("mode", [0o600, 0o666])
def test_a_fifo_in_place_of_a_file_is_one_fault(store: Path, name: str, mode: int) -> None:
    (store / name).unlink()
    os.mkfifo(store / name)
    (store / name).chmod(mode)
    code, lines = audited(store)
    assert code == Exit.VIOLATED
    assert lines[-1].endswith(": 1 fault")
    assert f"{name} is no regular file" in " ".join(" ".join(lines).split())


@pytest.mark.parametrize("name", ["missing", "file", "file/below", "\0"])
def test_what_is_no_directory_is_a_usage_error(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="ascii")
    with pytest.raises(UsageError):
        audit(tmp_path / name, Printer(io.StringIO()))


def test_a_leftover_is_no_fault(store: Path) -> None:
    (store / f"coordinator.json.{'a' * 32}.tmp").write_text("", encoding="ascii")
    code, lines = audited(store)
    assert code == Exit.PASSED
    assert any(line.startswith("leftovers   1 ") for line in lines)
