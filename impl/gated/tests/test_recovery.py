"""What opening does about every state that the two files may be in."""

import contextlib
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from impl.gated import RecoveryReport, open_ledger
from impl.gated.tests.bench import (
    adding,
    failing,
    mirrored,
    photograph,
    plain_text,
    refused,
    reopened,
    sha256,
    with_events,
)

INTEGRITY = "LEDGER_INTEGRITY_FAILED"
SIDES = ("", "-wal", "-shm")


def lines_of(directory: Path) -> list[bytes]:
    return (directory / "ledger.jsonl").read_bytes().splitlines(keepends=True)


def put(directory: Path, lines: list[bytes]) -> None:
    (directory / "ledger.jsonl").write_bytes(b"".join(lines))


def take_mirror(directory: Path) -> bytes:
    return (directory / "mirror.sqlite").read_bytes()


def put_mirror(directory: Path, content: bytes) -> None:
    for side in SIDES:
        (directory / f"mirror.sqlite{side}").unlink(missing_ok=True)
    (directory / "mirror.sqlite").write_bytes(content)
    (directory / "mirror.sqlite").chmod(0o600)


def lose_mirror(directory: Path) -> None:
    (directory / "mirror.sqlite").unlink()


def spoil_mirror(directory: Path) -> None:
    put_mirror(directory, b"no database" * 1000)


def report_of(directory: Path) -> RecoveryReport:
    ledger, _ = reopened(directory)
    return ledger.recovery


def refuses_and_changes_nothing(directory: Path) -> str:
    """Opening is LEDGER_INTEGRITY_FAILED, the ledger's bytes and the mirror's rows stay; answers why."""
    path = directory / "ledger.jsonl"
    before = path.read_bytes() if path.exists() else None
    rows = mirrored(directory) if (directory / "mirror.sqlite").exists() else None
    error = refused(lambda: open_ledger(directory), INTEGRITY, "operator")
    assert (path.read_bytes() if path.exists() else None) == before
    assert (mirrored(directory) if (directory / "mirror.sqlite").exists() else None) == rows
    return error.message


# --- the ledger's tail -------------------------------------------------------------------------------


@pytest.mark.parametrize("mirror", [lambda _: None, lose_mirror, spoil_mirror])
def test_a_tail_torn_anywhere_is_cut_off_and_told(directory: Path, mirror: Callable[[Path], None]) -> None:
    with_events(directory, 2)
    old = take_mirror(directory)
    with_events(directory, 3)
    whole = lines_of(directory)
    for length in (1, 2, len(whole[2]) // 2, len(whole[2]) - 2, len(whole[2]) - 1):
        put(directory, [*whole[:2], whole[2][:length]])
        put_mirror(directory, old)
        mirror(directory)
        with open_ledger(directory) as ledger:
            assert ledger.recovery.cut_bytes == length
            assert any(str(length) in note for note in ledger.recovery.notes)
            assert ledger.state() == {"count": 1}
            ledger.transact(adding("next", 10))
        assert lines_of(directory)[:2] == whole[:2]
        assert reopened(directory)[1] == {"count": 11}, "the record after a torn line was swallowed by it"


def test_a_tail_torn_inside_a_character_of_several_bytes_is_cut_off(directory: Path) -> None:
    with open_ledger(directory) as ledger:
        ledger.transact(adding("k1"))
    old = take_mirror(directory)
    with open_ledger(directory) as ledger:
        ledger.transact(adding("\U0001f600"))
    first, second = lines_of(directory)
    start = second.index("\U0001f600".encode())
    for length in range(start + 1, start + 4):
        put(directory, [first, second[:length]])
        put_mirror(directory, old)
        assert report_of(directory).cut_bytes == length
        assert lines_of(directory) == [first]


def test_a_torn_tail_that_the_mirror_has_seen_is_refused(directory: Path) -> None:
    with_events(directory, 3)
    whole = lines_of(directory)
    for length in (1, len(whole[2]) - 1):
        put(directory, [*whole[:2], whole[2][:length]])
        assert "3 events" in refuses_and_changes_nothing(directory)


def test_zeros_at_the_end_are_a_torn_tail(directory: Path) -> None:
    with_events(directory, 2)
    with (directory / "ledger.jsonl").open("ab") as ledger:
        ledger.write(bytes(5000))
    assert report_of(directory).cut_bytes == 5000


def bad_last_lines(line: bytes) -> list[bytes]:
    return [
        b"\n",
        b"{}\n",
        bytes(100) + b"\n",
        line[:50] + b"\0" * 20 + line[70:],
        line.replace(b"op", b"oq"),
    ]


@pytest.mark.parametrize("kind", range(5))
def test_a_whole_last_line_that_is_none_is_cut_if_a_sound_mirror_ends_just_before_it(
    directory: Path, kind: int
) -> None:
    with_events(directory, 2)
    old = take_mirror(directory)
    with_events(directory, 3)
    whole = lines_of(directory)
    bad = bad_last_lines(whole[2])[kind]
    put(directory, [*whole[:2], bad])
    put_mirror(directory, old)
    assert report_of(directory).cut_bytes == len(bad)
    assert lines_of(directory) == whole[:2]


@pytest.mark.parametrize("kind", range(5))
def test_a_whole_last_line_that_is_none_is_refused_otherwise(directory: Path, kind: int) -> None:
    with_events(directory, 1)
    behind = take_mirror(directory)
    with_events(directory, 3)
    seen = take_mirror(directory)
    whole = lines_of(directory)
    bad = bad_last_lines(whole[2])[kind]
    for mirror in (seen, behind, b"no database" * 1000, None):
        put(directory, [*whole[:2], bad])
        put_mirror(directory, mirror or b"")
        if mirror is None:
            lose_mirror(directory)
        before = photograph(directory)
        refused(lambda: open_ledger(directory), INTEGRITY, "operator")
        assert (directory / "ledger.jsonl").read_bytes() == before["ledger.jsonl"]
        assert not list(directory.glob("*.aside-*"))


def test_a_bad_line_before_a_torn_tail_is_not_the_last(directory: Path) -> None:
    with_events(directory, 2)
    old = take_mirror(directory)
    put(directory, [*lines_of(directory), b"{}\n", b'{"torn'])
    put_mirror(directory, old)
    refuses_and_changes_nothing(directory)


# --- the ledger's body -------------------------------------------------------------------------------


def flipped(line: bytes) -> bytes:
    return line.replace(b'"node"', b'"nude"')


DAMAGES: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "a line flipped": lambda lines: [lines[0], flipped(lines[1]), *lines[2:]],
    "the first line flipped": lambda lines: [flipped(lines[0]), *lines[1:]],
    "the last line flipped": lambda lines: [*lines[:-1], flipped(lines[-1])],
    "a line missing": lambda lines: [lines[0], *lines[2:]],
    "the first line missing": lambda lines: lines[1:],
    "two lines swapped": lambda lines: [lines[0], lines[2], lines[1], *lines[3:]],
    "a line repeated": lambda lines: [*lines[:2], lines[1], *lines[2:]],
    "the last line repeated": lambda lines: [*lines, lines[-1]],
    "the first line appended": lambda lines: [*lines, lines[0]],
    "an empty line": lambda lines: [*lines[:2], b"\n", *lines[2:]],
    "a space": lambda lines: [b" " + lines[0], *lines[1:]],
    "carriage returns": lambda lines: [line.replace(b"\n", b"\r\n") for line in lines],
    "a byte order mark": lambda lines: [b"\xef\xbb\xbf" + lines[0], *lines[1:]],
    "the last line cut off": lambda lines: lines[:-1],
    "all lines cut off": lambda _: [],
    "two lines glued": lambda lines: [lines[0][:-1] + lines[1], *lines[2:]],
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_whatever_else_is_wrong_is_refused_with_nothing_changed(
    directory: Path, damage: Callable[[list[bytes]], list[bytes]]
) -> None:
    with_events(directory, 4)
    put(directory, damage(lines_of(directory)))
    refuses_and_changes_nothing(directory)


@pytest.mark.parametrize("mirror", [lose_mirror, spoil_mirror])
@pytest.mark.parametrize(
    "name", [name for name in DAMAGES if name not in ("the last line cut off", "all lines cut off")]
)
def test_a_ledger_that_is_wrong_is_refused_without_a_mirror_as_well(
    directory: Path, name: str, mirror: Callable[[Path], None]
) -> None:
    with_events(directory, 4)
    mirror(directory)
    put(directory, DAMAGES[name](lines_of(directory)))
    before = photograph(directory)
    refused(lambda: open_ledger(directory), INTEGRITY, "operator")
    after = photograph(directory)
    assert {name: after.get(name) for name in before} == before


def edited(line: bytes, previous_hash: str | None, edit: Callable[[dict[str, Any]], None]) -> bytes:
    """A line with other content and hashes that are right for it."""
    shown: dict[str, Any] = json.loads(line)
    edit(shown)
    shown["previousHash"] = previous_hash or shown["previousHash"]
    record = {name: value for name, value in shown["record"].items() if name != "eventHash"}
    shown["record"]["eventHash"] = sha256(plain_text({"attemptId": None} | record))
    shown["hash"] = sha256(plain_text({name: value for name, value in shown.items() if name != "hash"}))
    return (plain_text(shown) + "\n").encode()


def test_a_history_that_was_written_anew_with_right_hashes_is_on_another_chain(directory: Path) -> None:
    with_events(directory, 2)
    first, second = lines_of(directory)
    first = edited(first, None, lambda line: line["change"]["set"].update(count=1000))
    hash_ = json.loads(first)["hash"]
    put(directory, [first, edited(second, hash_, lambda _: None)])
    assert "another hash" in refuses_and_changes_nothing(directory)


def test_one_key_twice_is_refused(directory: Path) -> None:
    with_events(directory, 2)
    first, second = lines_of(directory)
    again = edited(second, None, lambda line: line["record"].update(idempotencyKey="k0"))
    put(directory, [first, again])
    lose_mirror(directory)
    before = (directory / "ledger.jsonl").read_bytes()
    assert "same key" in refused(lambda: open_ledger(directory), INTEGRITY, "operator").message
    assert (directory / "ledger.jsonl").read_bytes() == before


def test_a_ledger_that_is_gone_is_refused_while_the_mirror_knows_of_it(directory: Path) -> None:
    with_events(directory, 2)
    (directory / "ledger.jsonl").unlink()
    refuses_and_changes_nothing(directory)
    assert not (directory / "ledger.jsonl").exists()


def test_whole_records_cut_off_with_the_mirror_gone_as_well_can_t_be_noticed(directory: Path) -> None:
    """So the documents say, and an audit takes an anchor."""
    with_events(directory, 3)
    put(directory, lines_of(directory)[:2])
    lose_mirror(directory)
    assert report_of(directory).mirror == "rebuilt"


# --- the mirror --------------------------------------------------------------------------------------


def test_a_mirror_that_is_behind_is_caught_up(directory: Path) -> None:
    mirrors = []
    for count in range(5):
        with_events(directory, count)
        mirrors.append(take_mirror(directory))
    for behind, mirror in enumerate(mirrors):
        put_mirror(directory, mirror)
        with failing() as passed:
            report = report_of(directory)
        how = "intact" if behind == 4 else "caught-up"
        assert (report.mirror, report.replayed_events) == (how, 4 - behind)
        assert (report.set_aside, report.cut_bytes) == ((), 0)
        assert passed.count("mirror-replay-commit-before") == (behind != 4), "one SQLite transaction"
        assert mirrored(directory) == (4, {"count": 6})


def test_what_the_mirror_lacks_is_synced_before_it_is_replayed(directory: Path) -> None:
    with_events(directory, 1)
    behind = take_mirror(directory)
    with_events(directory, 3)
    put_mirror(directory, behind)
    with failing() as passed:
        report_of(directory)
    assert passed.index("ledger-renew-fsync-after") < passed.index("mirror-replay-before")
    put_mirror(directory, behind)
    with failing("ledger-renew-fsync-before"):
        refused(lambda: open_ledger(directory), "LEDGER_APPEND_REQUIRED_FAILED", "retry")
    assert mirrored(directory)[0] == 1


def test_a_mirror_that_is_missing_is_built(directory: Path) -> None:
    with_events(directory, 3)
    lose_mirror(directory)
    report = report_of(directory)
    assert (report.mirror, report.replayed_events, report.set_aside) == ("rebuilt", 3, ())
    assert mirrored(directory) == (3, {"count": 3})
    assert not list(directory.glob("*.new*"))


def other_schema(directory: Path, statement: str) -> None:
    with contextlib.closing(sqlite3.connect(directory / "mirror.sqlite")) as connection:
        connection.executescript(statement)


def flip_mirror(directory: Path, at: int) -> None:
    content = bytearray(take_mirror(directory))
    content[at] ^= 4
    put_mirror(directory, bytes(content))


UNUSABLE: dict[str, Callable[[Path], object]] = {
    "empty": lambda directory: put_mirror(directory, b""),
    "no database": spoil_mirror,
    "half of it": lambda directory: put_mirror(directory, take_mirror(directory)[:9000]),
    "another version": lambda directory: other_schema(directory, "PRAGMA user_version=2"),
    "one table more": lambda directory: other_schema(directory, "CREATE TABLE more (x)"),
    "one table less": lambda directory: other_schema(directory, "DROP TABLE rows"),
    "another database": lambda directory: other_schema(
        directory, "DROP TABLE rows; DROP TABLE head; DROP TABLE keys; DROP TABLE events"
    ),
    "a row too many": lambda directory: other_schema(directory, "INSERT INTO rows VALUES ('x', '1')"),
    "a row too few": lambda directory: other_schema(directory, "DELETE FROM rows"),
    "a row another": lambda directory: other_schema(directory, "UPDATE rows SET value = '7'"),
    "an event too few": lambda directory: other_schema(directory, "DELETE FROM events WHERE sequence = 2"),
    "the last event missing": lambda directory: other_schema(
        directory, "DELETE FROM events WHERE sequence = 3"
    ),
    "an event too many": lambda directory: other_schema(directory, "INSERT INTO events VALUES (9, 'x')"),
    "an event another": lambda directory: other_schema(directory, "UPDATE events SET line = line || ' '"),
    "a key too few": lambda directory: other_schema(directory, "DELETE FROM keys WHERE key = 'k1'"),
    "a key too many": lambda directory: other_schema(directory, "INSERT INTO keys VALUES ('', 'x', 1)"),
    "a key another": lambda directory: other_schema(
        directory, "UPDATE keys SET sequence = 4 - sequence WHERE sequence <> 2"
    ),
    "a key no number": lambda directory: other_schema(
        directory, "UPDATE keys SET sequence = 'x' WHERE sequence = 2"
    ),
    "a head unsealed": lambda directory: other_schema(directory, "UPDATE head SET sequence = 2"),
    "a head gone": lambda directory: other_schema(directory, "DELETE FROM head"),
    "read-only by its header": lambda directory: flip_mirror(directory, 18),
    "auto-vacuum by its header": lambda directory: flip_mirror(directory, 52),
    "a mode for all": lambda directory: (directory / "mirror.sqlite").chmod(0o644),
    "a second name": lambda directory: (directory / "more").hardlink_to(directory / "mirror.sqlite"),
}


@pytest.mark.parametrize("damage", UNUSABLE.values(), ids=UNUSABLE)
def test_a_mirror_that_is_unusable_is_set_aside_and_built_anew(
    directory: Path, damage: Callable[[Path], object]
) -> None:
    with_events(directory, 3)
    damage(directory)
    spoiled = photograph(directory)["mirror.sqlite"]
    with open_ledger(directory) as ledger:
        report = ledger.recovery
        assert ledger.transact(adding("k1", 1)).status == "noop"
        assert ledger.transact(adding("k9", 1)).state == {"count": 4}
    assert (report.mirror, report.replayed_events, report.cut_bytes) == ("rebuilt", 3, 0)
    assert any("set aside" in note for note in report.notes)
    assert report.set_aside[0].startswith("mirror.sqlite.aside-")
    aside = (directory / report.set_aside[0]).read_bytes()
    assert len(aside) == len(spoiled) or not spoiled
    assert mirrored(directory) == (4, {"count": 4})
    assert report_of(directory).mirror == "intact"


def test_wal_and_shared_memory_are_set_aside_too(directory: Path) -> None:
    with_events(directory, 3)
    spoil_mirror(directory)
    for side in ("-wal", "-shm"):
        (directory / f"mirror.sqlite{side}").write_bytes(b"left behind" * 4000)
        (directory / f"mirror.sqlite{side}").chmod(0o600)
    report = report_of(directory)
    base = report.set_aside[0]
    assert report.set_aside == (base, f"{base}-wal", f"{base}-shm")
    assert (directory / f"{base}-wal").read_bytes() == b"left behind" * 4000
    assert sorted(path.name for path in directory.glob("mirror.sqlite-*")) == []


def test_a_wal_without_its_database_is_set_aside_before_another_is_built(directory: Path) -> None:
    with_events(directory, 3)
    lose_mirror(directory)
    (directory / "mirror.sqlite-wal").write_bytes(b"left behind" * 4000)
    (directory / "mirror.sqlite-wal").chmod(0o600)
    report = report_of(directory)
    assert report.mirror == "rebuilt"
    assert [name[-4:] for name in report.set_aside] == ["-wal"]


def test_the_mirror_of_another_ledger_is_refused(directory: Path) -> None:
    with_events(directory, 2)
    foreign = take_mirror(directory)
    for path in directory.iterdir():
        path.unlink()
    with open_ledger(directory) as ledger:
        for number in range(3):
            ledger.transact(adding(f"other {number}"))
    put_mirror(directory, foreign)
    assert "another hash" in refuses_and_changes_nothing(directory)


def test_a_mirror_ahead_of_its_ledger_is_refused(directory: Path) -> None:
    with_events(directory, 3)
    whole = lines_of(directory)
    for count in (0, 1, 2):
        put(directory, whole[:count])
        refuses_and_changes_nothing(directory)
    put(directory, whole)
    assert report_of(directory).mirror == "intact"


@pytest.mark.parametrize("name", ["mirror.sqlite", "mirror.sqlite-wal", "ledger.jsonl", "ledger.lock"])
def test_a_symlink_in_place_of_a_file_is_refused(directory: Path, name: str) -> None:
    with_events(directory, 1)
    (directory / name).unlink(missing_ok=True)
    (directory / name).symlink_to(directory.parent / "elsewhere")
    refused(lambda: open_ledger(directory), INTEGRITY, "operator")
    assert (directory / name).is_symlink()
    assert not (directory.parent / "elsewhere").exists()


@pytest.mark.parametrize("name", ["ledger.jsonl", "ledger.lock"])
def test_a_ledger_or_lock_that_others_may_touch_is_refused(directory: Path, name: str) -> None:
    with_events(directory, 1)
    (directory / name).chmod(0o640)
    assert "chmod 600" in refused(lambda: open_ledger(directory), INTEGRITY, "operator").message


def test_leftovers_of_killed_recoveries_are_removed_and_foreign_files_are_not(directory: Path) -> None:
    with_events(directory, 1)
    ours = [directory / f"mirror.sqlite.{'0' * 32}.new{side}" for side in ("", "-wal", "-shm", "-journal")]
    others = [directory / name for name in ("notes.txt", f"mirror.sqlite.{'0' * 31}.new")]
    for path in [*ours, *others]:
        path.touch()
    report_of(directory)
    assert not any(path.exists() for path in ours)
    assert all(path.exists() for path in others)
