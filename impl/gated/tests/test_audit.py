"""audit_ledger: sound stores, every kind of damage, the anchor; and that it changes nothing."""

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from impl.gated import LedgerAuditReport, audit_ledger, open_ledger
from impl.gated.tests.bench import adding, photograph, with_events
from impl.gated.tests.damages import (
    DAMAGES,
    UNUSABLE,
    lines_of,
    lose_mirror,
    put,
    put_mirror,
    take_mirror,
)


def looked_at(directory: Path, anchor: str | None = None) -> LedgerAuditReport:
    """The report of an audit that must leave every byte and every name as it was."""
    before = photograph(directory)
    report = audit_ledger(directory, anchor=anchor)
    assert photograph(directory) == before
    return report


def test_a_sound_store_has_no_fault(directory: Path) -> None:
    with_events(directory, 4)
    report = looked_at(directory)
    assert report.faults == ()
    assert (report.commit_seq, report.rows, report.mirror, report.mirrored) == (4, 1, "intact", 4)
    assert report.directory == str(directory)


def test_a_store_that_is_open_is_audited_with_what_its_wal_holds(directory: Path) -> None:
    with open_ledger(directory) as ledger:
        for number in range(3):
            ledger.transact(adding(f"k{number}"))
        report = audit_ledger(directory)
        assert (report.faults, report.mirror, report.mirrored) == ((), "intact", 3)
        assert f"{report.commit_seq}:{report.head}" == "{}:{}".format(*ledger.head)
        assert ledger.transact(adding("k3")).status == "committed"
    assert looked_at(directory).faults == ()


def test_a_wal_that_a_killed_writer_left_is_read_and_stays(directory: Path) -> None:
    with open_ledger(directory) as ledger:
        ledger.transact(adding("k"))
        left = photograph(directory)
    for name, content in left.items():
        (directory / name).write_bytes(content)
        (directory / name).chmod(0o600)
    (directory / "mirror.sqlite-shm").unlink()
    assert len(left["mirror.sqlite-wal"]) > 0
    report = looked_at(directory)
    assert (report.faults, report.mirrored) == ((), 1)


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_every_damage_of_the_ledger_is_a_fault(
    directory: Path, damage: Callable[[list[bytes]], list[bytes]]
) -> None:
    with_events(directory, 4)
    put(directory, damage(lines_of(directory)))
    report = looked_at(directory)
    assert report.faults
    assert {fault.code for fault in report.faults} == {"LEDGER_INTEGRITY_FAILED"}
    assert {fault.clause for fault in report.faults} <= {"LEDGER", "MIRROR"}


@pytest.mark.parametrize("damage", UNUSABLE.values(), ids=UNUSABLE)
def test_every_unusable_mirror_is_a_fault(directory: Path, damage: Callable[[Path], Any]) -> None:
    with_events(directory, 3)
    damage(directory)
    report = looked_at(directory)
    assert {fault.clause for fault in report.faults} == {"MIRROR"}
    assert "MIRROR mirror.sqlite" in str(report.faults[0])
    assert report.commit_seq == 3


def test_what_the_next_opening_mends_is_no_fault(directory: Path) -> None:
    with_events(directory, 2)
    behind = take_mirror(directory)
    with_events(directory, 4)
    put_mirror(directory, behind)
    with (directory / "ledger.jsonl").open("ab") as ledger:
        ledger.write(b'{"torn')
    (directory / f"mirror.sqlite.{'0' * 32}.new").touch(mode=0o600)
    report = looked_at(directory)
    assert (report.faults, report.mirror, report.mirrored) == ((), "behind", 2)
    assert (report.torn_bytes, report.leftovers) == (6, 1)
    lose_mirror(directory)
    report = looked_at(directory)
    assert (report.faults, report.mirror, report.mirrored) == ((), "missing", None)


def test_a_last_line_that_is_none_is_a_fault_unless_a_sound_mirror_ends_before_it(directory: Path) -> None:
    with_events(directory, 2)
    with (directory / "ledger.jsonl").open("ab") as ledger:
        ledger.write(b"{}\n")
    report = looked_at(directory)
    assert (report.faults, report.torn_bytes) == ((), 3)
    lose_mirror(directory)
    assert [fault.clause for fault in looked_at(directory).faults] == ["LEDGER"]


def test_an_anchor_notices_records_cut_off_with_the_mirror_gone_as_well(directory: Path) -> None:
    with open_ledger(directory) as ledger:
        ledger.transact(adding("k1"))
        early = "{}:{}".format(*ledger.head)
        ledger.transact(adding("k2"))
        late = "{}:{}".format(*ledger.head)
    for anchor in (early, late, f"0:{'0' * 64}"):
        assert looked_at(directory, anchor).faults == ()
    (fault,) = looked_at(directory, f"1:{'ab' * 32}").faults
    assert "another event 1" in fault.message
    put(directory, lines_of(directory)[:1])
    lose_mirror(directory)
    assert looked_at(directory).faults == ()
    assert looked_at(directory, early).faults == ()
    (fault,) = looked_at(directory, late).faults
    assert (fault.clause, fault.where) == ("ANCHOR", "ledger.jsonl")
    assert "cut off" in fault.message
    (fault,) = looked_at(directory, f"1:{'ab' * 32}").faults
    assert "another event 1" in fault.message


@pytest.mark.parametrize(
    "anchor", ["", "3", "3:", "x:" + "0" * 64, "3:" + "A" * 64, "03:" + "a" * 64, "-1:" + "a" * 64]
)
def test_what_is_no_anchor_is_a_value_error(directory: Path, anchor: str) -> None:
    with pytest.raises(ValueError, match="sequence:hash"):
        audit_ledger(directory, anchor=anchor)


def test_what_is_no_path_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="path"):
        audit_ledger("")


def test_a_directory_without_a_store_and_none_at_all_are_faults(directory: Path) -> None:
    (fault,) = audit_ledger(directory).faults
    assert "no such directory" in fault.message
    directory.mkdir(mode=0o700)
    (fault,) = looked_at(directory).faults
    assert (fault.clause, fault.where) == ("FILES", "ledger.jsonl")


def test_modes_links_and_kinds_of_files_are_faults(directory: Path) -> None:
    with_events(directory, 1)
    directory.chmod(0o755)
    (directory / "ledger.jsonl").chmod(0o644)
    (directory / "ledger.lock").chmod(0o666)
    report = looked_at(directory)
    assert [fault.clause for fault in report.faults] == ["FILES"] * 3
    (directory / "ledger.jsonl").unlink()
    (directory / "ledger.jsonl").mkdir()
    assert audit_ledger(directory).faults


def test_a_directory_in_place_of_the_mirror_is_a_fault(directory: Path) -> None:
    with_events(directory, 1)
    lose_mirror(directory)
    (directory / "mirror.sqlite").mkdir()
    assert {fault.clause for fault in audit_ledger(directory).faults} == {"MIRROR"}


def test_what_was_set_aside_is_counted(directory: Path) -> None:
    with_events(directory, 1)
    put_mirror(directory, b"")
    open_ledger(directory).close()
    assert looked_at(directory).set_aside == 1


def test_a_foreign_reader_of_the_mirror_is_no_hindrance(directory: Path) -> None:
    with_events(directory, 2)
    with contextlib.closing(sqlite3.connect(directory / "mirror.sqlite", isolation_level=None)) as foreign:
        foreign.execute("BEGIN IMMEDIATE")
        assert audit_ledger(directory).faults == ()
