"""The mirror: a SQLite database that holds what the ledger says, for looking up.

Guarantees: transactions are begun, committed and rolled back explicitly, each announced at its marked points.
`head` says how far the mirror has come: it is written with every event, in the same transaction, under a seal
of its own.

Doesn't: judge content; see `verdict`. Nor connect; see `connection`.
"""

import contextlib
import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from attrs import define, field

from impl import disk, lockfile
from impl.gated.connection import UnusableError, connect, disconnect, leak
from impl.gated.gate import Known
from impl.gated.lines import Line, Position, stored
from impl.gated.state import canonical
from impl.points import tell

SCHEMA_VERSION: Final = 1
SCHEMA: Final = (
    "CREATE TABLE head (id INTEGER PRIMARY KEY CHECK (id = 1), sequence INTEGER NOT NULL, hash TEXT NOT NULL,"
    " length INTEGER NOT NULL, last INTEGER NOT NULL, seal TEXT NOT NULL)",
    # Both without rowids: then what a look-up goes by is the content itself, so a scan that finds everything
    # in order proves that look-ups work.
    "CREATE TABLE rows (name TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE keys (scope TEXT NOT NULL, key TEXT NOT NULL, sequence INTEGER NOT NULL,"
    " PRIMARY KEY (scope, key)) WITHOUT ROWID",
    "CREATE TABLE events (sequence INTEGER PRIMARY KEY, line TEXT NOT NULL)",
)

_HEAD: Final = "SELECT sequence, hash, length, last, seal FROM head"
_FIND: Final = (
    "SELECT events.line FROM keys JOIN events USING (sequence) WHERE keys.scope = ? AND keys.key = ?"
)


def seal_of(at: Position) -> str:
    """What tells a head that was written whole from one with a flipped bit."""
    text = f"{at.sequence}:{at.hash}:{at.length}:{at.last}"
    return hashlib.sha256(text.encode()).hexdigest()


@define
class Mirror:
    """The mirror at `path`, connected when needed. For one process; callers hold the lock."""

    path: str
    timeout_s: float = 5.0
    """How long SQLite waits for a foreign process when it connects, in seconds."""
    connection: sqlite3.Connection | None = field(default=None, init=False)
    file: tuple[int, int] | None = field(default=None, init=False)
    """Device and inode of the database file that is connected."""
    _forks: int = field(factory=lockfile.forks, init=False)

    @property
    def open(self) -> sqlite3.Connection:
        """The connection, made if there is none. Raises sqlite3.Error, UnusableError."""
        if self.connection is None:
            self.connect()
        assert self.connection is not None
        return self.connection

    def connect(self) -> None:
        """Connect to an existing file. Raises MIRROR_ERRORS."""
        self.connection, self.file = connect(self.path, self.timeout_s)

    def is_in_place(self) -> bool:
        """Whether the path still names the file that is connected, or none is connected yet."""
        if self.connection is None:
            return True
        found = disk.lstat(self.path)
        return found is not None and (found.st_dev, found.st_ino) == self.file

    def disconnect(self) -> None:
        """Close the connection, which drops what wasn't committed. Never raises; in a forked child it does
        nothing, since what SQLite would tidy up is the parent's."""
        connection, self.connection = self.connection, None
        if connection is None:
            return
        if self._forks != lockfile.forks():
            leak(connection)
            return
        assert self.file is not None
        disconnect(connection, self.file)

    # --- reading -------------------------------------------------------------------------------------

    def head(self) -> Position:
        """How far the mirror has come. Raises sqlite3.Error, UnusableError."""
        found = self.open.execute(_HEAD).fetchall()
        if len(found) != 1 or [type(one) for one in found[0]] != [int, str, int, int, str]:
            raise UnusableError("the mirror's head is none")
        sequence, hash_, length, last, seal = found[0]
        at = Position(sequence, hash_, length, last)
        if seal_of(at) != seal:
            raise UnusableError("the mirror's head is not what was written")
        return at

    def find(self, scope: str, key: str) -> Known | None:
        """The event under a key. Raises sqlite3.Error, FormatError."""
        found = self.open.execute(_FIND, (scope, key)).fetchone()
        return None if found is None else Known(*stored(found[0]))

    def rows(self) -> dict[str, str]:
        """The state: canonical texts by name. Raises sqlite3.Error."""
        return dict(self.open.execute("SELECT name, value FROM rows"))

    # --- writing -------------------------------------------------------------------------------------

    def begin(self, timeout_s: float) -> None:
        """BEGIN IMMEDIATE, waiting for a foreign writer that long. Raises sqlite3.Error, OSError."""
        connection = self.open
        connection.execute(f"PRAGMA busy_timeout={max(0, int(timeout_s * 1000))}")
        tell("mirror", "begin-before")
        connection.execute("BEGIN IMMEDIATE")
        tell("mirror", "begin-after")

    def insert(self, line: Line) -> None:
        """Write one event, what it changed, and the head. Raises sqlite3.Error, OSError."""
        tell("mirror", "insert-before")
        self._insert([line])
        self._set_head(line.end)
        tell("mirror", "insert-after")

    def commit(self) -> None:
        """COMMIT. Raises sqlite3.Error, OSError."""
        tell("mirror", "commit-before")
        self.open.execute("COMMIT")
        tell("mirror", "commit-after")

    def rollback(self) -> None:
        """ROLLBACK, if anything is to be rolled back. If that fails the connection is dropped, which does
        it, and the error is raised."""
        if self._forks != lockfile.forks():
            self.disconnect()
            return
        try:
            tell("mirror", "rollback-before")
            if self.connection is not None and self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            tell("mirror", "rollback-after")
        except BaseException:
            self.disconnect()
            raise

    def replay(self, lines: Iterable[Line]) -> int:
        """Write lines that the mirror lacks, in one transaction; answers how many. Raises sqlite3.Error,
        OSError, and what `lines` raises: then nothing is written."""
        tell("mirror", "replay-before")
        connection = self.open
        connection.execute("BEGIN IMMEDIATE")
        try:
            count = self._fill(lines)
            tell("mirror", "replay-commit-before")
            connection.execute("COMMIT")
            tell("mirror", "replay-commit-after")
        except BaseException:
            self.disconnect()
            raise
        tell("mirror", "replay-after")
        return count

    def build(self, lines: Iterable[Line]) -> int:
        """Make the schema in an empty file, and write all lines, in one transaction. As `replay`."""
        tell("mirror", "replay-before")
        connection = self.open
        connection.execute("BEGIN IMMEDIATE")
        for statement in SCHEMA:
            connection.execute(statement)
        start = Position()
        connection.execute(
            "INSERT INTO head VALUES (1, ?, ?, ?, ?, ?)",
            (start.sequence, start.hash, start.length, start.last, seal_of(start)),
        )
        connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
        count = self._fill(lines)
        tell("mirror", "replay-commit-before")
        connection.execute("COMMIT")
        tell("mirror", "replay-commit-after")
        tell("mirror", "replay-after")
        return count

    def _fill(self, lines: Iterable[Line]) -> int:
        batch: list[Line] = []
        count = 0
        for line in lines:
            batch.append(line)
            count += 1
            if len(batch) == 1000:
                self._insert(batch)
                self._set_head(line.end)
                batch = []
        if batch:
            self._insert(batch)
            self._set_head(batch[-1].end)
        return count

    def _insert(self, batch: list[Line]) -> None:
        run = self.open.executemany
        run("INSERT INTO events VALUES (?, ?)", [line[:2] for line in batch])
        run("INSERT INTO keys VALUES (?, ?, ?)", [(line.scope, line.key, line.sequence) for line in batch])
        changed = _merged(line.change for line in batch)
        run("DELETE FROM rows WHERE name = ?", [(name,) for name, text in changed.items() if text is None])
        kept = [(name, text) for name, text in changed.items() if text is not None]
        run("INSERT OR REPLACE INTO rows VALUES (?, ?)", kept)

    def _set_head(self, at: Position) -> None:
        self.open.execute(
            "UPDATE head SET sequence = ?, hash = ?, length = ?, last = ?, seal = ?",
            (at.sequence, at.hash, at.length, at.last, seal_of(at)),
        )


def _merged(changes: Iterable[Mapping[str, Any]]) -> dict[str, str | None]:
    """What changes in a row, one after the other, come to: texts by name, None for a row that is gone."""
    merged: dict[str, str | None] = {}
    for change in changes:
        for name, value in change["set"].items():
            merged[name] = canonical(value)
        for name in change["remove"]:
            merged[name] = None
    return merged


@contextlib.contextmanager
def reading(mirror: Mirror, timeout_s: float) -> Iterator[sqlite3.Connection]:
    """One steady view of the mirror, which can be written to as well. Raises sqlite3.Error, UnusableError."""
    connection = mirror.open
    connection.execute(f"PRAGMA busy_timeout={max(0, int(timeout_s * 1000))}")
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
    finally:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
