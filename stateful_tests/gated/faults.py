"""What strikes a ledger-gated store while it works: failing steps, and death at a small step.

The model's moments are mapped to the store's marked points. A fault makes one step fail with the error that
the system or SQLite would give; a death ends the client there as far as a process can play dead: from then
on no step is taken any more, except that rolling back and unlocking happen, which the kernel and SQLite do
for whoever really dies. (Real deaths are `crash_tests.gated`'s.)

`Watch` is the hook. It also notes each step in order, with each fsync that the store really issued, and lets
the system take and give less at once than it is asked to.
"""

import errno
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from attrs import define, field

from impl import disk
from model.gated.actions import Fault

FAULT_POINTS: Final = {
    "begin": "mirror-begin-before",
    "append": "ledger-append-before",
    "append-fsync": "ledger-fsync-before",
    "cut": "ledger-cut-before",
    "cut-fsync": "ledger-cut-fsync-before",
    "mirror": "mirror-insert-before",
    "commit": "mirror-commit-before",
    "rollback": "mirror-rollback-before",
    "catch-up": "mirror-replay-before",
}
"""Where the step of a moment announces itself."""

DEATH_POINTS: Final = {
    "open": "recovery-before",
    "ledger-created": "ledger-dirsync-after",
    "aside": "mirror-aside-before",
    "set-aside": "mirror-build-before",
    "build": "mirror-build-before",
    "catch-up": "mirror-replay-before",
    "caught-up": "mirror-replay-commit-after",
    "built": "mirror-rename-before",
    "renamed": "mirror-rename-after",
    "begin": "mirror-begin-before",
    "begun": "mirror-begin-after",
    "append": "ledger-append-before",
    "append-torn": "ledger-append-torn",
    "append-written": "ledger-append-after",
    "append-fsync": "ledger-fsync-before",
    "append-synced": "ledger-fsync-after",
    "cut": "ledger-cut-before",
    "cut-done": "ledger-cut-after",
    "cut-fsync": "ledger-cut-fsync-before",
    "cut-synced": "ledger-cut-fsync-after",
    "mirror": "mirror-insert-before",
    "mirrored": "mirror-insert-after",
    "commit": "mirror-commit-before",
    "committed": "mirror-commit-after",
    "rollback": "mirror-rollback-before",
    "rolled-back": "mirror-rollback-after",
    "run": "run",
    "ran": "ran",
    "reply": "reply",
}
"""Where a client that dies at a small step of the model's is struck. `run` and `ran` are told by the steps
themselves, `reply` when the call is over and nobody knows."""

_DONE_BY_DEATH: Final = ("lock-", "mirror-rollback-")
_SQLITE: Final = {
    "fails": "disk I/O error",
    "full": "database or disk is full",
    "locked": "database is locked",
}


SHORT: Final = 250
"""No write and no read takes more bytes than this at once: each can be short, and nothing may come of it."""


class DiedError(BaseException):
    """The client is dead. Not an `Exception`: nothing that it would still do may happen."""


@define
class Watch:
    """Notes the steps of one action, and strikes.

    `steps` are points and, for each fsync that went to the system, `fsync:ledger`, `fsync:directory` or
    `fsync:other`. `struck` lists the faults that really struck.
    """

    directory: Path
    faults: tuple[Fault, ...] = ()
    death: tuple[str, int] | None = None
    steps: list[str] = field(factory=list)
    struck: list[Fault] = field(factory=list)
    dead: bool = False
    _arrivals: Counter[str] = field(factory=Counter)
    _full: Fault | None = None
    _outer: disk.Hook | None = None

    def __call__(self, point: disk.CrashPoint | str) -> None:
        """The store, or a step of the caller's, has come to `point`."""
        name = str(point)
        if self._outer is not None and isinstance(point, disk.CrashPoint):
            self._outer(point)
        if self.dead:
            if not name.startswith(_DONE_BY_DEATH):
                raise DiedError(name)
            return
        self.steps.append(name)
        self._arrive(name)
        if self.faults:
            self._strike(name)

    @property
    def failures(self) -> int:
        return len(self.struck)

    def _strike(self, name: str) -> None:
        if name == "ledger-append-torn" and self._full is not None:
            struck, self._full = self._full, None
            self._fail(struck, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
        for fault in self.faults:
            if FAULT_POINTS[fault.moment] != name or fault.nth != self._arrivals[name]:
                continue
            if name.startswith("mirror-"):
                self._fail(fault, sqlite3.OperationalError(_SQLITE[fault.kind]))
            if fault.kind == "full":
                self._full = fault
                return
            self._fail(fault, OSError(errno.EIO, os.strerror(errno.EIO)))

    def _fail(self, fault: Fault, error: Exception) -> None:
        self.struck.append(fault)
        if fault.moment == "rollback":
            # To the model it is over then, done or not; the store has nothing to announce.
            self._arrive("mirror-rollback-after")
        raise error

    def _arrive(self, name: str) -> None:
        self._arrivals[name] += 1
        if self.death is not None and (name, self._arrivals[name]) == self.death:
            self.dead = True
            raise DiedError(name)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Sees all that this process's store does meanwhile; whoever saw it before is told first."""
        fsync, pwrite, pread = os.fsync, os.pwrite, os.pread
        self._outer = previous = disk.install(self)
        os.fsync = self._synced(fsync)  # type: ignore[assignment]  # the store syncs descriptors, no files
        os.pwrite = lambda descriptor, data, start: pwrite(descriptor, memoryview(data)[:SHORT], start)
        os.pread = lambda descriptor, size, start: pread(descriptor, min(size, SHORT), start)
        try:
            yield
        finally:
            os.fsync, os.pwrite, os.pread = fsync, pwrite, pread
            disk.install(previous)

    def _synced(self, real: Callable[[int], None]) -> Callable[[int], None]:
        def fsync(descriptor: int) -> None:
            self.steps.append(f"fsync:{self._what(descriptor)}")
            real(descriptor)

        return fsync

    def _what(self, descriptor: int) -> str:
        inode = os.fstat(descriptor).st_ino
        for name, path in (("ledger", self.directory / "ledger.jsonl"), ("directory", self.directory)):
            try:
                if os.stat(path).st_ino == inode:  # noqa: PTH116  # after each fsync: the plain call is cheaper
                    return name
            except OSError:
                continue
        return "other"
