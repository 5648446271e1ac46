"""`audit` of a ledger-gated store: recognised by its files, read-only, with an anchor if one was kept."""

import io
import os
import shutil
import sys
from pathlib import Path

import pytest

from holdtrue.audit import audit
from holdtrue.exits import Exit, UsageError
from holdtrue.out import Printer
from holdtrue.tests.test_audit import faulty_clauses
from holdtrue.tests.test_terminal import ANY_SEQUENCE, read_terminal
from impl import audit_ledger
from impl.gated import Request, open_ledger


def request(number: int) -> Request:
    return Request(
        operation_id="op",
        run_id="run",
        node_id="node",
        event_type="row.put",
        phase="apply",
        idempotency_key=f"k{number}",
        intent=number,
        mutate=lambda state: {**state, f"row-{number}": number},
    )


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with open_ledger(tmp_path / "store") as ledger:
        for number in range(3):
            ledger.transact(request(number))
    return tmp_path / "store"


def audited(directory: Path, anchor: str | None = None) -> tuple[int, list[str]]:
    stream = io.StringIO()
    code = audit(directory, Printer(stream), anchor=anchor)
    return code, stream.getvalue().splitlines()


def anchor_of(lines: list[str]) -> str:
    (told,) = [line.split()[1] for line in lines if line.startswith("anchor ")]
    return told


def test_a_sound_ledger_is_told_with_its_events_and_its_anchor(store: Path) -> None:
    code, lines = audited(store)
    assert code == Exit.PASSED
    assert lines[1:4] == ["events      3", "rows        3", "mirror      has seen all events"]
    assert anchor_of(lines).startswith("3:")
    assert lines[-1].startswith("OK  ")
    assert not any("ANCHOR" in line for line in lines)


def test_looking_changes_no_file(store: Path) -> None:
    before = {path.name: path.read_bytes() for path in store.iterdir()}
    audited(store)
    assert {path.name: path.read_bytes() for path in store.iterdir()} == before


def test_an_anchor_that_was_kept_notices_what_was_cut_off_both_files(store: Path) -> None:
    anchor = anchor_of(audited(store)[1])
    assert audited(store, anchor)[0] == Exit.PASSED
    path = store / "ledger.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))
    for mirror in store.glob("mirror.sqlite*"):
        mirror.unlink()
    assert audited(store)[0] == Exit.PASSED, "nobody can know, without the anchor"
    code, lines = audited(store, anchor)
    assert code == Exit.VIOLATED
    assert faulty_clauses(lines) == ["ANCHOR"]


def test_a_torn_line_is_said_to_be_no_fault_only_where_nothing_was_cut_off(store: Path) -> None:
    path = store / "ledger.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:40])
    code, lines = audited(store)
    assert code == Exit.PASSED
    assert "torn        40 bytes at the end were never acknowledged (no fault)" in lines
    path.write_bytes(whole[:-40])
    code, lines = audited(store)
    assert code == Exit.VIOLATED
    (torn,) = [line for line in lines if line.startswith("torn ")]
    assert torn.endswith(" bytes at the end are no whole line")


def test_each_kind_of_damage_is_told_under_its_clause(store: Path, tmp_path: Path) -> None:
    ledger = (store / "ledger.jsonl").read_bytes()
    damages = {
        "LEDGER": ("ledger.jsonl", ledger.replace(b'"n":', b'"m":').replace(b"row.put", b"row.pot", 1)),
        "MIRROR": ("mirror.sqlite", b"\xa5" * 4096),
    }
    for clause, (name, content) in damages.items():
        copy = tmp_path / clause
        shutil.copytree(store, copy)
        (copy / name).write_bytes(content)
        code, lines = audited(copy)
        assert code == Exit.VIOLATED
        assert clause in faulty_clauses(lines)
    (store / "ledger.jsonl").chmod(0o644)
    assert faulty_clauses(audited(store)[1]) == ["FILES"]


@pytest.mark.parametrize("name", ["ledger.jsonl", "mirror.sqlite", "ledger.lock"])
def test_a_fifo_in_place_of_a_file_is_one_fault(store: Path, name: str) -> None:
    (store / name).unlink()
    os.mkfifo(store / name)
    (store / name).chmod(0o644)
    code, lines = audited(store)
    assert code == Exit.VIOLATED
    assert lines[-1].endswith(": 1 fault")
    assert f"{name} is no regular file" in " ".join(" ".join(lines).split())
    unread = [line.split()[0] for line in lines if " unread " in line]
    assert unread == (["LEDGER", "KEYS", "MIRROR"] if name == "ledger.jsonl" else [])


def test_a_mirror_without_its_ledger_is_still_a_ledger_s_store(store: Path) -> None:
    (store / "ledger.jsonl").unlink()
    code, lines = audited(store)
    assert code == Exit.VIOLATED
    assert "FILES" in faulty_clauses(lines)
    assert any("unread" in line for line in lines)


@pytest.mark.parametrize("anchor", ["", "3", "3:abc", "-1:" + "0" * 64])
def test_what_is_no_anchor_is_a_usage_error(store: Path, anchor: str) -> None:
    with pytest.raises(UsageError, match="--anchor"):
        audited(store, anchor)


def test_an_anchor_is_for_ledgers_alone(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no ledger stands"):
        audited(tmp_path, "3:" + "0" * 64)


def test_an_audit_tells_how_far_it_is_up_to_the_end(store: Path) -> None:
    told: list[tuple[int, int]] = []
    audit_ledger(store, progress=lambda done, total: told.append((done, total)))
    size = (store / "ledger.jsonl").stat().st_size
    assert told == sorted(told)
    assert told[-1] == (2 * size, 2 * size)


def test_a_terminal_shows_how_far_the_reading_is(store: Path) -> None:
    code, told = read_terminal([sys.executable, "-m", "holdtrue", "audit", str(store)])
    assert code == Exit.PASSED
    assert "reading" in told
    lines = ANY_SEQUENCE.sub("", told).splitlines()
    assert lines[-1].startswith("OK  ")
