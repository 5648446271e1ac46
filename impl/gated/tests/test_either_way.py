"""What differs is told from what is the same, whichever of the two is the greater.

Guarantees: another place, owner, hash or kind of event, and a mirror whose head is another, are noticed where
they would sort before what they should be and where after.

Doesn't: list all damages. `damages` does, for `test_recovery` and the others that go through them.
"""

import contextlib
import sqlite3
from pathlib import Path

import pytest
from attrs import evolve

from impl import disk
from impl.gated import Ledger, audit_ledger
from impl.gated.errors import LedgerError
from impl.gated.events import Place, event, same_kind
from impl.gated.journal import Journal
from impl.gated.lines import Position
from impl.gated.mirror import Mirror, seal_of
from impl.gated.place import LedgerPlace, is_own_regular
from impl.gated.tests.bench import HASH, adding, refused, with_events
from impl.gated.tests.damages import INTEGRITY, lines_of, report_of

ASIDE = [(0, -1), (0, 1), (-1, 0), (1, 0)]


@pytest.mark.parametrize(("device", "inode"), ASIDE)
def test_another_directory_or_file_is_noticed(directory: Path, device: int, inode: int) -> None:
    with_events(directory, 1)
    found = directory.stat()
    place = LedgerPlace(str(directory), found.st_dev, found.st_ino)
    place.check()
    other = evolve(place, dev=place.dev + device, ino=place.ino + inode)
    assert "another directory" in refused(other.check, INTEGRITY, "operator").message
    journal = Journal.open(place.ledger_path)
    assert journal is not None
    journal.check()
    journal.file = (journal.file[0] + device, journal.file[1] + inode)
    assert "another file" in refused(journal.check, INTEGRITY, "operator").message
    journal.close()
    mirror = Mirror(place.mirror_path)
    assert mirror.is_in_place()
    mirror.connect()
    assert mirror.is_in_place()
    assert mirror.file is not None
    right, mirror.file = mirror.file, (mirror.file[0] + device, mirror.file[1] + inode)
    assert not mirror.is_in_place()
    mirror.file = right
    mirror.disconnect()


@pytest.mark.parametrize("own", [-1, 1], ids=["a greater user's", "a smaller user's"])
def test_what_is_not_ones_own_is_not_given_another_name(
    directory: Path, monkeypatch: pytest.MonkeyPatch, own: int
) -> None:
    with_events(directory, 1)
    found = (directory / "mirror.sqlite").stat()
    assert is_own_regular(found)
    assert not is_own_regular(directory.stat())
    monkeypatch.setattr(disk, "own_uid", lambda: found.st_uid + own)
    assert not is_own_regular(found)
    told = [fault.message for fault in audit_ledger(directory).faults]
    assert told
    assert all(f"belongs to user {found.st_uid}" in message for message in told)


def moved_head(directory: Path, **more: int) -> None:
    """The mirror says of itself that it has come to another place, under a right seal."""
    with contextlib.closing(sqlite3.connect(directory / "mirror.sqlite")) as connection, connection:
        (row,) = connection.execute("SELECT sequence, hash, length, last FROM head")
        at = Position(*row)
        at = at._replace(**{name: getattr(at, name) + by for name, by in more.items()})
        values = (at.sequence, at.hash, at.length, at.last, seal_of(at))
        connection.execute("UPDATE head SET sequence=?, hash=?, length=?, last=?, seal=?", values)


@pytest.mark.parametrize("events", [0, 1, 3])
@pytest.mark.parametrize("more", [{"length": -1}, {"length": 1}, {"last": -1}, {"last": 1}], ids=str)
def test_a_mirror_whose_head_names_other_bytes_is_set_aside(
    directory: Path, events: int, more: dict[str, int]
) -> None:
    with_events(directory, events)
    assert report_of(directory).mirror == "intact"
    moved_head(directory, **more)
    assert [fault.message for fault in audit_ledger(directory).faults] == [
        "its head names other bytes of the ledger"
    ]
    report = report_of(directory)
    assert (report.mirror, report.replayed_events, len(report.set_aside)) == ("rebuilt", events, 1)
    assert "its head names other bytes of the ledger" in str(report.notes)
    assert report_of(directory).mirror == "intact"


@pytest.mark.parametrize("more", [{"sequence": -1}, {"sequence": 1}, {"last": -1}, {"last": 1}], ids=str)
def test_a_head_that_moves_while_the_store_is_open_is_noticed(
    ledger: Ledger, directory: Path, more: dict[str, int]
) -> None:
    """The bytes of the ledger may be those of before: the head isn't."""
    for number in range(3):
        ledger.transact(adding(f"k{number}"))
    assert ledger.state() == {"count": 3}
    moved_head(directory, **more)
    refused(ledger.state, INTEGRITY, "operator")
    moved_head(directory, **{name: -by for name, by in more.items()})
    assert ledger.state() == {"count": 3}


@pytest.mark.parametrize("at", [0, 1, 2, -3, -2])
def test_a_last_line_broken_in_two_is_told(ledger: Ledger, directory: Path, at: int) -> None:
    ledger.transact(adding("k1"))
    ledger.transact(adding("k2"))
    path = directory / "ledger.jsonl"
    good = path.read_bytes()
    first, last = lines_of(directory)
    broken = bytearray(last)
    broken[at] = ord("\n")
    path.write_bytes(first + broken)
    assert "no single line" in refused(ledger.state, INTEGRITY, "operator").message
    path.write_bytes(good)
    assert ledger.state() == {"count": 2}


def test_the_head_of_a_new_mirror_is_the_ledgers_beginning(directory: Path) -> None:
    with_events(directory, 0)
    with contextlib.closing(sqlite3.connect(directory / "mirror.sqlite")) as connection:
        assert connection.execute("SELECT * FROM head").fetchall() == [
            (1, 0, "0" * 64, 0, 0, seal_of(Position()))
        ]
    assert report_of(directory).replayed_events == 0


def a_place(phase: str, kind: str = "type") -> Place:
    return Place("run", "node", "op", None, kind, phase)


@pytest.mark.parametrize("phase", ["start", "receipt", "compensate"])
def test_an_event_is_of_a_kind_by_its_phase_and_a_compensation_by_its_type_too(phase: str) -> None:
    wanted = event(a_place("".join(phase)), "k", HASH, HASH)
    for other in ("start", "receipt", "compensate"):
        found = event(a_place(other), "k", HASH, HASH)
        if other == phase:
            assert same_kind(found, wanted, exactly=True) is found
        else:
            with pytest.raises(LedgerError, match="another event"):
                same_kind(found, wanted)
    for kind in ("typd", "typf"):
        found = event(a_place(phase, kind), "k", HASH, HASH)
        if phase == "compensate":
            with pytest.raises(LedgerError, match="another event"):
                same_kind(found, wanted)
        else:
            assert same_kind(found, wanted) is found


@pytest.mark.parametrize("mark", ["0", "f"])
def test_exactly_the_same_event_has_the_same_hash(mark: str) -> None:
    found = event(a_place("compensate"), "k", HASH, HASH)
    other = evolve(found, event_hash=mark * 64)
    assert same_kind(other, found) is other
    with pytest.raises(LedgerError, match="another event"):
        same_kind(other, found, exactly=True)
