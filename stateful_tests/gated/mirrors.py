"""An independent look at the mirror: `mirror.sqlite` and its WAL, without touching either.

The files' bytes are read and put down elsewhere, and SQLite reads the copy: so no lock is taken, nothing is
checkpointed, no `-shm` appears beside the store's own files, and what a killed writer left in the WAL counts
as it will for the store. The copy is only as consistent as the moment: look while nobody writes.

Its schema is the store's own affair; what is known of it here is the tables `head` and `rows`.
"""

import contextlib
import json
import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Final

from attrs import define, field

from model.values import JSON
from stateful_tests.gated.reader import canonical

VERSION: Final = 1
"""`user_version` of the schema that the store writes."""

Sight = str | dict[str, JSON]
"""`missing`, `empty`, `schema`, `corrupt`, or what is in it: `sequence`, `head`, `size`, `state`."""


@define
class MirrorReader:
    """Looks at the mirror in `directory`, again and again; one that has not changed is not read again."""

    directory: Path
    _seen: tuple[bytes | None, bytes | None] = (None, None)
    _sight: Sight = "missing"
    _scratch: str | None = None
    _place: str = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._place = str(self.directory)

    def look(self) -> Sight:
        main, wal = self._bytes("mirror.sqlite"), self._bytes("mirror.sqlite-wal")
        if (main, wal) != self._seen:
            self._seen = (main, wal)
            self._sight = self._read(main, wal)
        return self._sight

    @property
    def journal(self) -> str:
        """How the mirror that was last looked at keeps its journal, as its header says: wal or rollback."""
        main = self._seen[0]
        return "wal" if main is None or len(main) < 20 or main[18:20] == b"\x02\x02" else "rollback"

    def close(self) -> None:
        if self._scratch is not None:
            shutil.rmtree(self._scratch)
            self._scratch = None

    def _bytes(self, name: str) -> bytes | None:
        try:
            # Closing it drops this process's POSIX locks on it. The store must not depend on those.
            descriptor = os.open(f"{self._place}/{name}", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return None
        try:
            return os.read(descriptor, os.fstat(descriptor).st_size)
        finally:
            os.close(descriptor)

    def _read(self, main: bytes | None, wal: bytes | None) -> Sight:
        if main is None:
            return "missing"
        if not main and not wal:
            return "empty"
        try:
            return self._read_copy(main, wal) if wal else _read_alone(main)
        except (sqlite3.Error, ValueError, TypeError, KeyError):
            return "corrupt"

    def _read_copy(self, main: bytes, wal: bytes) -> Sight:
        if self._scratch is None:
            self._scratch = tempfile.mkdtemp(prefix="mirror-")
        copy = f"{self._scratch}/copy"
        _write(copy, main)
        _write(f"{copy}-wal", wal)
        try:
            with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
                # Nobody else knows the copy, so its index of the WAL can be kept in memory.
                connection.execute("PRAGMA locking_mode = EXCLUSIVE")
                connection.execute("PRAGMA synchronous = OFF")
                return _told(connection)
        finally:
            for name in ("", "-wal", "-shm"):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(copy + name)  # noqa: PTH108  # after each action: the plain call is cheaper


def _write(path: str, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(descriptor, content)
    finally:
        os.close(descriptor)


def _read_alone(main: bytes) -> Sight:
    """A mirror without anything in its WAL can be read in memory, told that it is none of WAL's."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.deserialize(main[:18] + b"\x01\x01" + main[20:])
        return _told(connection)


def _told(connection: sqlite3.Connection) -> Sight:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != VERSION:
        return "schema"
    sequence, head, size = connection.execute("SELECT sequence, hash, length FROM head").fetchone()
    state: dict[str, JSON] = {}
    for name, value in connection.execute("SELECT name, value FROM rows").fetchall():
        state[name] = json.loads(value)
        if canonical(state[name]) != value:
            raise ValueError(f"row {name!r} is not in canonical JSON")
    return {"sequence": sequence, "head": head, "size": size, "state": state}
