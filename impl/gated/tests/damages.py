"""Damages of the two files, by name, and what opening must refuse.

Doesn't: check anything by itself.
"""

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path

from impl.gated import RecoveryReport, open_ledger
from impl.gated.tests.bench import (
    mirrored,
    refused,
    reopened,
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
