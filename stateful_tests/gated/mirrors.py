"""An independent look at the mirror: `mirror.sqlite` and its WAL, without touching either.

The files' bytes are read and put down elsewhere, and SQLite reads the copy: so no lock is taken, nothing is
checkpointed, no `-shm` appears beside the store's own files, and what a killed writer left in the WAL counts
as it will for the store. The copy is only as consistent as the moment: look while nobody writes.

Its schema is the store's own affair; what is known of it here is the tables `head` and `rows`.
"""

import json
import os
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
    _scratch: Path | None = None
    _problems: tuple[str, ...] = field(default=())

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
            for name in ("copy", "copy-wal", "copy-shm"):
                (self._scratch / name).unlink(missing_ok=True)
            self._scratch.rmdir()
            self._scratch = None

    def _bytes(self, name: str) -> bytes | None:
        try:
            # Closing it drops this process's POSIX locks on it. The store must not depend on those.
            descriptor = os.open(self.directory / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
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
        if self._scratch is None:
            self._scratch = Path(tempfile.mkdtemp(prefix="mirror-"))
        copy = self._scratch / "copy"
        copy.write_bytes(main)
        if wal:
            copy.with_name("copy-wal").write_bytes(wal)
        try:
            return _read(copy)
        except (sqlite3.Error, ValueError, TypeError, KeyError):
            return "corrupt"
        finally:
            for name in ("copy", "copy-wal", "copy-shm"):
                copy.with_name(name).unlink(missing_ok=True)


def _read(copy: Path) -> Sight:
    with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
        # Nobody else knows the copy, so its index of the WAL can be kept in memory.
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA synchronous = OFF")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version != VERSION:
            return "schema"
        sequence, head, size = connection.execute("SELECT sequence, hash, length FROM head").fetchone()
        state: dict[str, JSON] = {}
        for name, value in connection.execute("SELECT name, value FROM rows"):
            state[name] = json.loads(value)
            if canonical(state[name]) != value:
                raise ValueError(f"row {name!r} is not in canonical JSON")
    return {"sequence": sequence, "head": head, "size": size, "state": state}
