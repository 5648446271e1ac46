"""The lock file's system calls, each announcing itself at its marked points; the second half of `disk`.

Guarantees: opening never waits, makes a missing file once, and follows no symlink. A forked child has no
copy of any lock's descriptor, whichever thread forks, and can tell that it is one.

Doesn't: wait for a lock, or judge the file (see `lock`).
"""

import contextlib
import fcntl
import os
import stat
import threading
from typing import Literal

from impl.points import tell

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
