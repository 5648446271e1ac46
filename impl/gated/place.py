"""The directory of a ledger-gated store, and whether it and its files may be trusted.

Guarantees: the directory is found, made and checked as the coordinator's is: private, this user's, no
symlink, on a local file system. `check` is done again for every call. All refusals are
LEDGER_INTEGRITY_FAILED.

Doesn't: open a file.
"""

import stat
from os import PathLike, stat_result
from typing import Final

from attrs import field, frozen

from impl import disk
from impl.directory import path_of, settle
from impl.errors import CoordinatorError, describe
from impl.files import file_faults
from impl.gated.errors import MIRROR_FAILED, LedgerError, broken
from impl.lock import NotHadError

LEDGER_NAME: Final = "ledger.jsonl"
MIRROR_NAME: Final = "mirror.sqlite"
LOCK_NAME: Final = "ledger.lock"
SIDES: Final = ("", "-wal", "-shm")
"""What SQLite adds to a database's name for its files."""


@frozen
class LedgerPlace:
    """Where a store lives, and as which inode."""

    path: str
    dev: int
    ino: int
    ledger_path: str = field(init=False)
    mirror_path: str = field(init=False)
    lock_path: str = field(init=False)

    @ledger_path.default
    def _(self) -> str:
        return f"{self.path}/{LEDGER_NAME}"

    @mirror_path.default
    def _(self) -> str:
        return f"{self.path}/{MIRROR_NAME}"

    @lock_path.default
    def _(self) -> str:
        return f"{self.path}/{LOCK_NAME}"

    def check(self) -> None:
        """Still this directory, with a lock file that may be trusted."""
        found = disk.lstat(self.path)
        if found is None:
            raise broken(f"{self.path} is gone; it was there when the store was opened")
        if stat.S_ISLNK(found.st_mode) or (found.st_dev, found.st_ino) != (self.dev, self.ino):
            raise broken(f"{self.path} is another directory than the one that was opened")
        check_private(self.lock_path, disk.lstat(self.lock_path))


def check_private(path: str, found: stat_result | None) -> None:
    """Raise LEDGER_INTEGRITY_FAILED for the first fault of a file, if there is one."""
    if found is not None:
        for fault in file_faults(path, found):
            raise broken(fault)


def is_own_regular(found: stat_result) -> bool:
    """Whether a file, whatever its mode, may at least be given another name."""
    return stat.S_ISREG(found.st_mode) and found.st_uid == disk.own_uid()


def open_place(directory: str | PathLike[str]) -> LedgerPlace:
    """The store's directory, made if missing. Raises LedgerError; ValueError for what is no path."""
    try:
        asked = path_of(directory)
    except CoordinatorError as error:
        raise ValueError(error.message) from None
    try:
        path, standing = settle(asked, LEDGER_NAME)
    except CoordinatorError as error:
        raise broken(error.message) from None
    except OSError as error:
        raise broken(f"opening the directory {asked} failed: {describe(error)}", error) from error
    return LedgerPlace(path, standing.st_dev, standing.st_ino)


def not_had(error: CoordinatorError | OSError) -> LedgerError:
    """What turn and lock refuse, told as a LedgerError."""
    if isinstance(error, OSError):
        message = f"the lock could not be had: {describe(error)}"
        return LedgerError(MIRROR_FAILED, message, "retry", cause=error)
    if isinstance(error, NotHadError):
        return LedgerError(MIRROR_FAILED, error.message, "retry", cause=error)
    return broken(error.message, error)
