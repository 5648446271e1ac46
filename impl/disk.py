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
import fcntl
import os
import stat
import threading
from collections.abc import Callable
from typing import Literal

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


# --- looking -----------------------------------------------------------------------------------------


def own_uid() -> int:
    """The user that new files belong to."""
    return os.geteuid()


def lstat(path: str) -> os.stat_result | None:
    """What stands at `path` itself, symlinks not followed; None if nothing does."""
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


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


# --- the lock file -----------------------------------------------------------------------------------

# Descriptors of lock files, so that a forked child can close its copies: a copy would keep the kernel's
# lock alive after the holder died. The guard keeps a fork of another thread from falling between opening
# a descriptor and noting it; it is re-entrant for a signal handler that forks.
_lock_descriptors: set[int] = set()
_fork_guard = threading.RLock()
_forks = 0


def _after_fork_in_child() -> None:
    global _forks  # counted so that a transaction under way in the child notices that it lost its lock
    for descriptor in _lock_descriptors:
        os.close(descriptor)
    _lock_descriptors.clear()
    _forks += 1
    _fork_guard.release()


os.register_at_fork(
    before=_fork_guard.acquire,
    after_in_parent=_fork_guard.release,
    after_in_child=_after_fork_in_child,
)


def forks() -> int:
    """How many forks lie between this process and the one that first loaded this module."""
    return _forks


def open_lock(path: str) -> int:
    """The lock file open for locking, made if missing. Never waits. Raises OSError."""
    while True:
        descriptor = _open_lock(path, 0)
        if descriptor is not None:
            return descriptor
        tell("lock", "create-before")
        descriptor = _open_lock(path, os.O_CREAT | os.O_EXCL)
        if descriptor is not None:  # else another process was faster: open its file
            if stat.S_IMODE(os.fstat(descriptor).st_mode) != 0o600:
                os.fchmod(descriptor, 0o600)
            tell("lock", "create-after")
            return descriptor


def _open_lock(path: str, create: int) -> int | None:
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | create
    # Only what the other of the two attempts can mend: without its directory neither ever succeeds.
    with _fork_guard, contextlib.suppress(FileExistsError if create else FileNotFoundError):
        descriptor = os.open(path, flags, 0o600)
        _lock_descriptors.add(descriptor)
        return descriptor
    return None


def try_lock(descriptor: int) -> bool:
    """Take the kernel lock if nobody has it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def close_lock(descriptor: int) -> None:
    """Drop the kernel lock, for every copy of the descriptor, and close this one."""
    with _fork_guard:
        if descriptor not in _lock_descriptors:
            return  # closed already, or a forked child, which has no copy any more
        try:
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        finally:
            _lock_descriptors.discard(descriptor)
            os.close(descriptor)


def announce_lock(
    moment: Literal["acquire-before", "acquire-after", "release-before", "release-after"],
) -> None:
    """The marked points around taking and dropping the lock."""
    tell("lock", moment)
