"""All file system calls of the store, each announcing itself at its marked points (see `points`).

Guarantees: no other module of this package touches a file. Every step that changes or locks something,
and each read of the two files, tells the hook before and after. Opening never blocks on a FIFO and never
follows a symlink in the last component. Descriptors close on exec.

Doesn't: judge what it finds (see `files`), decide an order of steps (see `publish`), or make a power cut
survivable on a disk that lies about its cache.
"""
# The bare system calls, with their flags, are the point of this module.
# ruff: noqa: PTH100, PTH101, PTH102, PTH104, PTH108, PTH208

import contextlib
import errno
import os
import stat
from collections.abc import Callable
from typing import Final, Literal

from impl.points import COORDINATOR_POINTS as COORDINATOR_POINTS
from impl.points import CRASH_ENV as CRASH_ENV
from impl.points import CrashPoint as CrashPoint
from impl.points import Hook as Hook
from impl.points import hooked, tell
from impl.points import install as install
from impl.points import install_from_environment as install_from_environment
from impl.points import kill_at as kill_at
from impl.points import parse_crash_at as parse_crash_at

Subject = Literal["state", "identity"]
Synced = Literal["state", "identity", "mkdir", "foreign", "ledger", "mirror"]

_LOOKS_AGAIN: Final = 1000
"""Enough for any writer; a file system that never tells the number of links must not hang a caller."""


# --- looking -----------------------------------------------------------------------------------------


def own_uid() -> int:
    """The user that new files belong to."""
    return os.geteuid()


def lstat(path: str) -> os.stat_result | None:
    """What stands at `path` itself, symlinks not followed; None if nothing does.

    The kernel first finds the file and then looks at it: one that is replaced in between shows no name (no
    links) any more. It stands there no longer, so the look is taken again.
    """
    try:
        found = os.lstat(path)
        for _ in range(_LOOKS_AGAIN):
            if found.st_nlink:
                break
            found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found


fstat = os.fstat


def list_names(directory: str) -> list[str]:
    """The names in a directory, in no particular order."""
    return os.listdir(directory)


def absolute_path(path: str) -> str:
    """`path` made absolute by text alone: `..` is folded, links are not looked at."""
    return "/" + os.path.abspath(path).lstrip("/")  # `abspath` keeps two slashes in front


def real_path(path: str) -> str:
    """`path` with all links resolved. Raises OSError where a part is missing or loops."""
    return os.path.realpath(path, strict=True)


def mount_table() -> str:
    """The kernel's table of mounts, or "" where there is none (not Linux)."""
    try:
        descriptor = os.open("/proc/self/mountinfo", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return _read_all(descriptor, 1 << 16).decode("utf-8", "surrogateescape")
    finally:
        os.close(descriptor)


def read_file(subject: Subject, path: str, judge: Callable[[os.stat_result], None]) -> bytes | None:
    """All bytes of the file at `path`, or None if there is none.

    `judge` sees the opened file before a byte is read, and raises if it won't do. Raises OSError.
    """
    tell(subject, "read-before")
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        tell(subject, "read-after")
        return None
    try:
        found = os.fstat(descriptor)
        judge(found)
        data = _read_all(descriptor, found.st_size)
    finally:
        os.close(descriptor)
    tell(subject, "read-after")
    return data


def _read_all(descriptor: int, expected: int) -> bytes:
    data = os.read(descriptor, expected + 1)
    if len(data) == expected:
        return data  # one byte more was asked for than came: this is the end
    parts = [data]
    while data:
        data = os.read(descriptor, 1 << 20)
        parts.append(data)
    return b"".join(parts)


# --- directories -------------------------------------------------------------------------------------


def make_directory(path: str) -> bool:
    """Make one directory, mode 0700 whatever the umask. False if something stood there already."""
    tell("mkdir", "before")
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        return False
    if os.lstat(path).st_mode & 0o777 != 0o700:
        os.chmod(path, 0o700)  # an odd umask took the owner's own bits
    tell("mkdir", "after")
    return True


def sync_directory(kind: Synced, directory: str) -> None:
    """Make the names in `directory` durable."""
    tell(kind, "dirsync-before")
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    tell(kind, "dirsync-after")


# --- one file's publication --------------------------------------------------------------------------


def create_temp(subject: Subject, path: str) -> int:
    """A new, empty, private file, open for writing. Raises OSError, also if the name is taken."""
    tell(subject, "create-before")
    descriptor = create_private(path)
    try:
        tell(subject, "create-after")
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def create_private(path: str) -> int:
    """A new, empty, private file. Raises OSError, also if the name is taken."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    if stat.S_IMODE(os.fstat(descriptor).st_mode) != 0o600:
        os.fchmod(descriptor, 0o600)  # an odd umask would leave a file that its owner can't read
    return descriptor


def write(subject: Subject, descriptor: int, data: bytes) -> None:
    """Write all of `data`. Raises OSError; half of it may then stand in the file."""
    if not hooked():
        _write_all(descriptor, memoryview(data))
        return
    half = len(data) // 2
    tell(subject, "write-before")
    _write_all(descriptor, memoryview(data)[:half])
    tell(subject, "write-torn")
    _write_all(descriptor, memoryview(data)[half:])
    tell(subject, "write-after")


def _write_all(descriptor: int, rest: memoryview) -> None:
    while rest:
        taken = os.write(descriptor, rest)
        if taken == 0:
            raise OSError(errno.EIO, "the file system took none of a write")
        rest = rest[taken:]


def sync_file(subject: Subject, descriptor: int) -> None:
    """Make an open file's content durable."""
    tell(subject, "fsync-before")
    os.fsync(descriptor)
    tell(subject, "fsync-after")


def rename(subject: Subject, source: str, target: str) -> None:
    """Put `source` in the place of `target`, atomically."""
    tell(subject, "rename-before")
    os.rename(source, target)


def renamed(subject: Subject) -> None:
    """The marked point just after a rename; apart from it, so that the caller can note that it happened."""
    tell(subject, "rename-after")


def unlink_temp(path: str) -> None:
    """Remove a leftover; one that is gone already is as good."""
    tell("temp", "unlink-before")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    tell("temp", "unlink-after")


close = os.close


def random_hex() -> str:
    """32 random hexadecimal digits."""
    return os.urandom(16).hex()
