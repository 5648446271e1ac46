"""Connections to the mirror's database, and what SQLite's errors say of it.

Guarantees: every connection works in WAL mode with `synchronous=FULL`, verified when it is made. None is
opened in a process that was forked from one that had the same file open, and no descriptor of a file that is
open is ever closed behind SQLite's back: both would spoil its locks.

Doesn't: announce SQLite's own file work. A commit syncs the `-wal` file once. Beside that, SQLite syncs when
it begins a WAL file, and when a commit makes it longer than 1,000 pages: then pages move to the database file
(a checkpoint), which costs two syncs more; so does closing the last connection.
"""

import contextlib
import sqlite3
import threading
from typing import Final

from attrs import define, field, frozen

from impl import disk, disklog, lockfile
from impl.gated.errors import APPEND_FAILED, LedgerError

_MAGIC: Final = b"SQLite format 3\0"
_WAL_MODE: Final = b"\2\2"
_PASSING: Final = frozenset({5, 6, 7, 9, 10, 13, 14})
"""SQLite's codes for what isn't the file's fault: busy, locked, memory, interrupt, I/O, full, can't open."""


class UnusableError(Exception):
    """The mirror can't be read as what it should be: it is to be set aside and built anew."""


MIRROR_ERRORS: Final = (UnusableError, sqlite3.Error, UnicodeDecodeError)
"""What working with the mirror raises. The last comes of damage that SQLite's own messages quote."""


def is_damage(error: BaseException) -> bool:
    """Whether an error says that the file is no sound mirror, not just that a step failed."""
    if isinstance(error, UnusableError | UnicodeDecodeError):
        return True
    if not isinstance(error, sqlite3.DatabaseError):
        return False
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return "decode to UTF-8" in str(error)
    return code & 0xFF not in _PASSING


@frozen
class _Opened:
    """How often a file is open, and since which fork this process counts."""

    times: int
    forks: int


@define
class _Register:
    """Which database files this process has open, by device and inode."""

    files: dict[tuple[int, int], _Opened] = field(factory=dict)
    lock: threading.Lock = field(factory=threading.Lock)
    forks: int = field(factory=lockfile.forks)

    def guard(self) -> threading.Lock:
        """The lock under which files are opened and closed. A forked child has one of its own."""
        if self.forks != lockfile.forks():
            self.forks = lockfile.forks()
            self.lock = threading.Lock()
        return self.lock

    def has(self, file: tuple[int, int]) -> bool:
        """Whether this process has the file open. Raises LedgerError if its parent had when it forked.

        SQLite remembers per process, by inode, which locks it has; a child inherits the memory, but no lock.
        """
        known = self.files.get(file)
        if known is None:
            return False
        if known.forks != lockfile.forks():
            raise LedgerError(
                APPEND_FAILED,
                "this process was forked from one that had the store open; SQLite can't open it here: fork "
                "before opening, or start a process of its own (multiprocessing: spawn or forkserver)",
                "operator",
            )
        return True

    def count(self, file: tuple[int, int], more: int) -> None:
        """Note that a connection was opened (1) or closed (-1)."""
        known = self.files.pop(file, _Opened(0, lockfile.forks()))
        if known.times + more:
            self.files[file] = _Opened(known.times + more, known.forks)


_register: Final = _Register()


def uri_of(path: str, mode: str) -> str:
    """The name by which SQLite opens `path`, never making it."""
    return "file:" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23") + f"?mode={mode}"


def header_fault(path: str) -> str | None:
    """Why SQLite shouldn't even be shown the file at `path`: it would take away the files beside it.

    Raises OSError, LedgerError.
    """
    with _register.guard():
        found = disk.lstat(path)
        if found is None or _register.has((found.st_dev, found.st_ino)):
            return None
        header = disklog.read_header(path, 100)
    if len(header) < 100 or not header.startswith(_MAGIC):
        return "it is no SQLite database" if header else "it is empty"
    if header[18:20] != _WAL_MODE and disk.lstat(f"{path}-wal") is not None:
        return "it is not in WAL mode, yet there is a WAL beside it"
    return None


def connect(path: str, timeout_s: float) -> tuple[sqlite3.Connection, tuple[int, int]]:
    """A connection to an existing file, and its device and inode. Raises MIRROR_ERRORS, LedgerError.

    `timeout_s`: how long SQLite waits for a foreign process.
    """
    with _register.guard():
        found = disk.lstat(path)
        if found is None:
            raise UnusableError(f"{path} is missing")
        file = (found.st_dev, found.st_ino)
        _register.has(file)
        connection = sqlite3.connect(
            uri_of(path, "rw"), uri=True, timeout=timeout_s, isolation_level=None, check_same_thread=False
        )
        try:
            mode = connection.execute("PRAGMA journal_mode=WAL").fetchone()
            connection.execute("PRAGMA synchronous=FULL")
            full = connection.execute("PRAGMA synchronous").fetchone()
            if mode != ("wal",) or full != (2,):
                raise UnusableError(f"{path} can't be put into WAL mode with synchronous=FULL")
        except BaseException:
            connection.close()
            raise
        _register.count(file, 1)
        return connection, file


def disconnect(connection: sqlite3.Connection, file: tuple[int, int]) -> None:
    """Close a connection, which drops what wasn't committed. Never raises."""
    with _register.guard():
        with contextlib.suppress(sqlite3.Error):
            connection.close()
        _register.count(file, -1)


def leak(connection: sqlite3.Connection) -> None:
    """Keep a parent's connection from being closed in a forked child, even when the interpreter ends."""
    import ctypes

    ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


def copy_mirror(path: str, target: str) -> None:
    """Make a copy of the mirror at `path`, with what its WAL holds, for looking at.

    Where this very process has it open SQLite makes the copy. Otherwise its files are copied: a reader of
    SQLite's would leave files beside them. Raises sqlite3.Error, OSError, LedgerError.
    """
    with _register.guard():
        found = disk.lstat(path)
        if found is None or not _register.has((found.st_dev, found.st_ino)):
            disklog.copy_file(path, target)
            if disk.lstat(f"{path}-wal") is not None:
                disklog.copy_file(f"{path}-wal", f"{target}-wal")
            return
        source = sqlite3.connect(uri_of(path, "ro"), uri=True)
        with contextlib.closing(source), contextlib.closing(sqlite3.connect(target)) as copy:
            source.backup(copy)
