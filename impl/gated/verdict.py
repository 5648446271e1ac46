"""Whether the mirror is what the ledger says: told while the ledger is read, line by line.

Guarantees: a mirror is "sound" only if its schema is ours, SQLite finds its pages in order, and its events,
keys and rows are exactly those of the ledger's first `head.sequence` lines. One that is ahead of the ledger,
or on another chain, raises LEDGER_INTEGRITY_FAILED. Everything else that is wrong makes it "unusable", with a
reason.

Doesn't: change the ledger or a row. Connecting may have SQLite move its own WAL into the database file.
"""

import contextlib
import sqlite3
from collections.abc import Iterator
from typing import Any, Final

from attrs import define, field

from impl import disk
from impl.files import file_faults
from impl.gated.errors import broken
from impl.gated.lines import Line, Position
from impl.gated.mirror import SCHEMA, SCHEMA_VERSION, Mirror, UnusableError, is_damage, reading
from impl.gated.place import SIDES, is_own_regular
from impl.gated.state import canonical

_EVENTS: Final = "SELECT sequence, hash, request_hash, record FROM events ORDER BY sequence"
_KEYS: Final = "SELECT scope, key, sequence FROM keys ORDER BY scope, key"


@define
class Fold:
    """What the lines read so far come to."""

    rows: dict[str, Any] = field(factory=dict)
    """The state."""
    keys: dict[tuple[str, str], int] = field(factory=dict)
    """Scope and key of each line, with its sequence."""

    def add(self, line: Line) -> None:
        """Take in one line. Raises LEDGER_INTEGRITY_FAILED if its key is known: each has one effect."""
        if self.keys.setdefault((line.scope, line.key), line.sequence) != line.sequence:
            first = self.keys[line.scope, line.key]
            raise broken(f"lines {first} and {line.sequence} of the ledger have the same key")
        self.rows.update(line.change["set"])
        for name in line.change["remove"]:
            self.rows.pop(name, None)


@define
class Examination:
    """A mirror under examination."""

    unusable: str | None = None
    """Why it is to be set aside, if it is."""
    missing: bool = False
    head: Position = field(factory=Position)
    """How far it says it has come. Only if it isn't unusable for other reasons than its content."""
    _connection: sqlite3.Connection | None = None
    _events: Iterator[tuple[Any, ...]] = field(factory=lambda: iter(()))

    @property
    def sound(self) -> bool:
        """Whether it may stay as it is, as far as the ledger was read."""
        return self.unusable is None and not self.missing

    def see(self, line: Line, fold: Fold) -> None:
        """Compare with the next line of the ledger, which `fold` has taken in. Raises sqlite3.Error."""
        if self._connection is None or line.sequence > self.head.sequence:
            return
        if line.sequence == self.head.sequence and line.hash != self.head.hash:
            raise broken(
                f"the mirror's event {line.sequence} has another hash than the ledger's: they are not of the "
                "same store, or one of them was replaced. Nothing was changed"
            )
        if self.unusable is not None:
            return
        with self._judging():
            wanted = (line.sequence, line.hash, line.request_hash, line.record)
            if next(self._events, None) != wanted:
                raise UnusableError(f"its event {line.sequence} is not the ledger's")
            if line.sequence == self.head.sequence:
                self._compare_all(line.end, fold)

    def finish(self, end: Position) -> None:
        """The ledger is read, up to `end`. Raises LEDGER_INTEGRITY_FAILED if the mirror is ahead of it."""
        if self._connection is not None and self.head.sequence > end.sequence:
            raise broken(
                f"the mirror has seen {self.head.sequence} events, the ledger has {end.sequence} whole ones: "
                "acknowledged events were cut off or damaged. Nothing was changed; restore ledger.jsonl"
            )

    def _compare_all(self, end: Position, fold: Fold) -> None:
        assert self._connection is not None
        if self.head != end:
            raise UnusableError("its head names other bytes of the ledger")
        if next(self._events, None) is not None:
            raise UnusableError("it has events beyond its head")
        rows = self._connection.execute("SELECT name, value FROM rows ORDER BY name").fetchall()
        if rows != sorted((name, canonical(value)) for name, value in fold.rows.items()):
            raise UnusableError("its rows are not what the ledger's events come to")
        before: tuple[Any, ...] = ("", "")
        count = 0
        for scope, key, sequence in self._connection.execute(_KEYS):
            if fold.keys.get((scope, key)) != sequence or before >= (scope, key):
                raise UnusableError("its keys are not those of the ledger's events")
            before = (scope, key)
            count += 1
        if count != end.sequence:
            raise UnusableError("it lacks keys of events")

    @contextlib.contextmanager
    def _judging(self) -> Iterator[None]:
        try:
            yield
        except UnusableError as error:
            self.unusable = str(error)
        except sqlite3.Error as error:
            if not is_damage(error):
                raise
            self.unusable = f"SQLite can't read it: {error}"

    def begin(self, stack: contextlib.ExitStack, mirror: Mirror, timeout_s: float) -> None:
        """Look at everything but the content. Raises LEDGER_INTEGRITY_FAILED, sqlite3.Error."""
        self._look_at_files(mirror.path)
        if not self.sound:
            return
        with self._judging():
            connection = stack.enter_context(reading(mirror, timeout_s))
            version = connection.execute("PRAGMA user_version").fetchone()
            schema = {sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master")}
            if version != (SCHEMA_VERSION,) or schema != set(SCHEMA):
                raise UnusableError(f"it has another schema (version {version[0]}, not {SCHEMA_VERSION})")
            if connection.execute("PRAGMA quick_check").fetchall() != [("ok",)]:
                raise UnusableError("SQLite finds its pages out of order")
            self.head = mirror.head()
            self._connection = connection
            self._events = connection.execute(_EVENTS)
            if self.head.sequence == 0:
                self._compare_all(Position(), Fold())

    def _look_at_files(self, path: str) -> None:
        for side in SIDES:
            found = disk.lstat(path + side)
            if found is None:
                self.missing = self.missing or side == ""
            elif not is_own_regular(found):
                raise broken(next(file_faults(path + side, found)))
            else:
                self.unusable = self.unusable or next(file_faults(path + side, found), None)


@contextlib.contextmanager
def examining(mirror: Mirror, timeout_s: float) -> Iterator[Examination]:
    """Examine the mirror while the ledger is read. Afterwards no transaction of it is open."""
    with contextlib.ExitStack() as stack:
        examination = Examination()
        examination.begin(stack, mirror, timeout_s)
        yield examination
