"""The ledger file: read from a place on, appended to, cut back.

Guarantees: a record is written where the last verified one ends, and `append` returns only when it is synced.
An append that fails is cut off again, and the cut synced; a sync that failed is never tried again and
believed. If cutting fails too the journal is poisoned: it refuses every later call until it is opened anew.

Doesn't: know what a record means; see `chain`. Nor take the lock: callers hold it.
"""

from attrs import define, field

from impl import disk, disklog
from impl.errors import describe
from impl.gated.errors import APPEND_FAILED, LedgerError, UncutError, broken
from impl.gated.place import check_private


@define
class Journal:
    """An open ledger file."""

    path: str
    descriptor: int
    file: tuple[int, int]
    """Its device and inode."""
    poison: str | None = field(default=None, init=False)
    """Why nothing may be written any more."""

    @classmethod
    def open(cls, path: str) -> "Journal | None":
        """The ledger at `path`, or None if there is none. Raises OSError, LEDGER_INTEGRITY_FAILED."""
        check_private(path, disk.lstat(path))
        descriptor = disklog.open_ledger(path)
        return None if descriptor is None else cls._of(path, descriptor)

    @classmethod
    def create(cls, path: str) -> "Journal":
        """A new, empty ledger. Its name is not durable before the directory was synced. Raises OSError."""
        return cls._of(path, disklog.create_ledger(path))

    @classmethod
    def _of(cls, path: str, descriptor: int) -> "Journal":
        try:
            found = disk.fstat(descriptor)
            check_private(path, found)
        except BaseException:
            disk.close(descriptor)
            raise
        return cls(path, descriptor, (found.st_dev, found.st_ino))

    def check(self) -> None:
        """The path still names this file, and nobody else may touch it."""
        found = disk.lstat(self.path)
        if found is None:
            raise broken(f"{self.path} is gone; it was there when the store was opened")
        check_private(self.path, found)
        if (found.st_dev, found.st_ino) != self.file:
            raise broken(f"{self.path} is another file than the one that was opened")

    def refuse_if_poisoned(self) -> None:
        """Raise if an append could neither be made durable nor be cut off again."""
        if self.poison is not None:
            raise LedgerError(APPEND_FAILED, f"{self.poison}. Open the store anew", "operator")

    def size(self) -> int:
        """In bytes, as it is now."""
        return disk.fstat(self.descriptor).st_size

    def read(self, start: int, size: int) -> bytes:
        """Exactly `size` bytes. Raises OSError."""
        disklog.start_reading()
        data = disklog.read(self.descriptor, start, size)
        disklog.done_reading()
        return data

    def append(self, start: int, data: bytes) -> None:
        """Write and sync a record at `start`. Raises what failed; UncutError if it may still be there."""
        try:
            disklog.append(self.descriptor, start, data)
            disklog.sync_append(self.descriptor)
        except BaseException as failure:
            try:
                self.cut(start)
            except UncutError as uncut:
                raise UncutError(f"{describe(failure)}; then {uncut}") from failure
            raise

    def cut(self, length: int) -> None:
        """Cut the ledger back to `length` bytes, durably. Raises UncutError, and then it is poisoned."""
        try:
            disklog.cut(self.descriptor, length)
            disklog.sync_cut(self.descriptor)
        except BaseException as failure:
            self.poison = f"{self.path} could not be cut back to {length} bytes: {describe(failure)}"
            raise UncutError(self.poison) from failure

    def renew(self, start: int, data: bytes) -> None:
        """Write what stands at `start` once more and sync it. Raises OSError."""
        disklog.renew(self.descriptor, start, data)

    def close(self) -> None:
        """Close the file."""
        disk.close(self.descriptor)
