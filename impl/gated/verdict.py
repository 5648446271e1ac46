"""Whether the mirror is what the ledger says: told while the ledger is read, line by line.

Guarantees: a mirror is "sound" only if its schema is ours, SQLite finds its pages in order, and its events,
keys and rows are exactly those of the ledger's first `head.sequence` lines. One that is ahead of the ledger,
or on another chain, raises LEDGER_INTEGRITY_FAILED. Everything else that is wrong makes it "unusable", with a
reason.

Doesn't: change the ledger or a row. Connecting may have SQLite move its own WAL into the database file.
"""

import contextlib
import sqlite3
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from attrs import define, field

from impl import disk
from impl.errors import describe
from impl.files import file_faults
from impl.gated.connection import MIRROR_ERRORS, UnusableError, header_fault, is_damage
from impl.gated.errors import broken
from impl.gated.lines import NOTHING, Line, Position
from impl.gated.mirror import SCHEMA, SCHEMA_VERSION, Mirror, reading
from impl.gated.place import SIDES, is_own_regular
from impl.gated.state import canonical

_EVENTS: Final = "SELECT sequence, line FROM events ORDER BY sequence"
_KEYS: Final = "SELECT scope, key, sequence FROM keys ORDER BY scope, key"


@define
class Fold:
    """What the lines read so far come to."""

    rows: dict[str, Any] = field(factory=dict)
    """The state."""
    keys: list[str | tuple[str, str]] = field(factory=list)
    """The key of each line, in order: with its scope if it has one."""

    def add(self, line: Line) -> None:
        """Take in one line."""
        self.keys.append((line.scope, line.key) if line.scope else line.key)
        change = line.change
        if change is not NOTHING:
            self.rows.update(change["set"])
            if change["remove"]:
                for name in change["remove"]:
                    self.rows.pop(name, None)

    def refuse_repeated(self) -> None:
        """Raise LEDGER_INTEGRITY_FAILED if a key is there twice: each has one effect."""
        if len(set(self.keys)) != len(self.keys):
            twice, _ = Counter(self.keys).most_common(1)[0]
            numbers = [number for number, key in enumerate(self.keys, 1) if key == twice]
            raise broken(f"lines {numbers[0]} and {numbers[1]} of the ledger have the same key")


@define
class Examination:
    """A mirror under examination."""

    unusable: str | None = None
    """Why it is to be set aside, if it is."""
    missing: bool = False
    head: Position = field(factory=Position)
    """How far it says it has come. Only if it isn't unusable for other reasons than its content."""
    _connection: sqlite3.Connection | None = None
    _events: sqlite3.Cursor | None = None

    @property
    def sound(self) -> bool:
        """Whether it may stay as it is, as far as the ledger was read."""
        return self.unusable is None and not self.missing

    def follow(self, lines: Iterator[Line], fold: Fold) -> None:
        """Let `fold` take in the ledger, and compare with it what the mirror has, as far as that goes.

        Raises sqlite3.Error, and LEDGER_INTEGRITY_FAILED for a mirror on another chain or ahead.
        """
        until = self.head.sequence if self._connection is not None else 0
        if until and self.unusable is None:
            self._compare(lines, until, fold)
        for line in lines:  # what the mirror lacks, or what an unusable one needn't be compared with
            fold.add(line)
            if line.sequence == until:
                self._check_head(line)
        found = len(fold.keys)
        if until > found:
            raise broken(
                f"the mirror has seen {until} events, the ledger has {found} whole ones: acknowledged events "
                "were cut off or damaged. Nothing was changed; restore ledger.jsonl"
            )
        if not (self.sound and until == found):  # else the mirror has just shown that no key is there twice
            fold.refuse_repeated()

    def _compare(self, lines: Iterator[Line], until: int, fold: Fold) -> None:
        add = fold.add
        assert self._events is not None
        try:
            # This way round: where the events end, no line is lost.
            for event, line in zip(self._events, lines, strict=False):
                add(line)
                if line.sequence == until:
                    self._check_head(line)
                if event != line[:2]:
                    raise UnusableError(f"its event {line.sequence} is not the ledger's")
                if line.sequence == until:
                    self._compare_all(line.end, fold)
                    return
            raise UnusableError("it lacks events")
        except MIRROR_ERRORS as error:
            self._judge(error)

    def _check_head(self, line: Line) -> None:
        if line.hash != self.head.hash:
            raise broken(
                f"the mirror's event {line.sequence} has another hash than the ledger's: they are not of the "
                "same store, or one of them was replaced. Nothing was changed"
            )

    def _compare_all(self, end: Position, fold: Fold) -> None:
        assert self._connection is not None
        assert self._events is not None
        if self.head != end:
            raise UnusableError("its head names other bytes of the ledger")
        if next(self._events, None) is not None:
            raise UnusableError("it has events beyond its head")
        rows = self._connection.execute("SELECT name, value FROM rows ORDER BY name").fetchall()
        if rows != sorted((name, canonical(value)) for name, value in fold.rows.items()):
            raise UnusableError("its rows are not what the ledger's events come to")
        try:
            with contextlib.closing(self._connection.execute(_KEYS)) as found:
                self._compare_keys(found, fold.keys)
        except TypeError:
            raise UnusableError("its keys are of another kind") from None

    @staticmethod
    def _compare_keys(found: Iterator[tuple[str, str, int]], keys: list[str | tuple[str, str]]) -> None:
        before = ("", "")
        count = 0
        for scope, key, sequence in found:
            here = (scope, key)
            if here <= before or not 0 < sequence <= len(keys):
                raise UnusableError("its keys are not in order")
            if keys[sequence - 1] != (here if scope else key):
                raise UnusableError("its keys are not those of the ledger's events")
            before = here
            count += 1
        if count != len(keys):
            raise UnusableError("it lacks keys of events")

    def _judge(self, error: Exception) -> None:
        """Take an error for what it says of the mirror. Raises it if it says nothing of that."""
        if not is_damage(error):
            raise error
        told = str(error) if isinstance(error, UnusableError) else f"SQLite can't read it: {describe(error)}"
        self.unusable = told

    def begin(self, stack: contextlib.ExitStack, mirror: Mirror, timeout_s: float) -> None:
        """Look at the structure. Raises sqlite3.Error."""
        try:
            self._look_at_structure(stack, mirror, timeout_s)
        except MIRROR_ERRORS as error:
            self._judge(error)

    def _look_at_structure(self, stack: contextlib.ExitStack, mirror: Mirror, timeout_s: float) -> None:
        connection = stack.enter_context(reading(mirror, timeout_s))
        version = connection.execute("PRAGMA user_version").fetchone()
        schema = {sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master")}
        if version != (SCHEMA_VERSION,) or schema != set(SCHEMA):
            raise UnusableError(f"it has another schema (version {version[0]}, not {SCHEMA_VERSION})")
        # A header may say that nobody must write here: a transaction that has begun doesn't show that yet.
        connection.execute("UPDATE head SET sequence = sequence WHERE 0")
        if connection.execute("PRAGMA auto_vacuum").fetchone() != (0,):
            raise UnusableError("its header asks for auto-vacuum, which this schema never does")
        # Events needn't be checked by SQLite as well: each is compared. Unless pages are free: then a wrong
        # list of them could have a page of rows overwritten.
        free = connection.execute("PRAGMA freelist_count").fetchone()
        for check in ("(head)", "(rows)", "(keys)") if free == (0,) else ("",):
            if connection.execute(f"PRAGMA quick_check{check}").fetchall() != [("ok",)]:
                raise UnusableError("SQLite finds its pages out of order")
        self.head = mirror.head()
        self._connection = connection
        self._events = stack.enter_context(contextlib.closing(connection.execute(_EVENTS)))
        if self.head.sequence == 0:
            self._compare_all(Position(), Fold())

    def look_at_files(self, path: str) -> None:
        """Look at the files from outside. Raises LEDGER_INTEGRITY_FAILED."""
        for side in SIDES:
            found = disk.lstat(path + side)
            if found is None:
                self.missing = self.missing or side == ""
            elif not is_own_regular(found):
                raise broken(next(file_faults(path + side, found)))
            else:
                self.unusable = self.unusable or next(file_faults(path + side, found), None)
        if self.sound:
            self.unusable = header_fault(path)


@contextlib.contextmanager
def examining(mirror: Mirror, timeout_s: float, *, trusted: bool = False) -> Iterator[Examination]:
    """Examine the mirror while the ledger is read. Afterwards no transaction of it is open.

    `trusted`: its files needn't be looked at from outside.
    """
    with contextlib.ExitStack() as stack:
        examination = Examination()
        if not trusted:
            examination.look_at_files(mirror.path)
        if examination.sound:
            examination.begin(stack, mirror, timeout_s)
        yield examination
