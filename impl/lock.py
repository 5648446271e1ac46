"""The mutex: one transaction at a time, over threads, store objects and processes (C7).

Guarantees: who is inside holds the kernel's lock on the file that `writer.lock` names; the kernel drops it
when the holder dies. Waiting is measured on the monotonic clock and ends with a clear error. A thread that
is inside already, so in a callback, is refused at once instead of waiting for itself. An exception of a
signal handler, wherever it strikes, leaves neither lock nor turn taken. A forked child has
no copy of the descriptor: it neither holds nor releases the lock, and its half of a transaction that was
under way fails at the next check.

Doesn't: queue. Waiters poll every few milliseconds, so that nobody's death can block the others.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Generator
from typing import Final, NoReturn, Protocol, TypeVar

from impl import disk, lockfile
from impl.errors import DURABILITY_FAILED, CoordinatorError, refuse
from impl.files import check_file

_FIRST_PAUSE_S: Final = 0.0002
_LONGEST_PAUSE_S: Final = 0.005

_inside = threading.local()
_Answer = TypeVar("_Answer")


class Place(Protocol):
    """A directory that has a lock file."""

    @property
    def path(self) -> str: ...
    @property
    def dev(self) -> int: ...
    @property
    def ino(self) -> int: ...
    @property
    def lock_path(self) -> str: ...


class NotHadError(CoordinatorError):
    """The turn or the lock couldn't be had: nothing was looked at, so nothing was done."""


class Turns:
    """Whose turn it is among the threads that share one store object."""

    def __init__(self) -> None:
        self._mutex = threading.RLock()  # never taken twice, but it knows whose it is
        self._forks = lockfile.forks()

    def during(self, directory: Place, timeout_s: float, body: Callable[["Held"], _Answer]) -> _Answer:
        """What `body` answers, called inside: one thread of this store object, and one process, at a time.

        Raises DURABILITY_FAILED on time-out or if the lock file can't be trusted, OSError if a step fails.
        """
        # No `with` here: a signal handler may raise just before Python comes to the end of one, and what was
        # taken would stay taken as long as somebody holds on to the exception. A generator's `close` is one
        # step, and it is the first that `finally` does.
        turn = self._take(directory, timeout_s)
        try:
            lock = _hold(directory, next(turn))
            try:
                return body(next(lock))
            finally:
                lock.close()
        finally:
            turn.close()

    def _take(self, directory: Place, timeout_s: float) -> Generator[float, None, None]:
        """Has the turn while it is open. Yields until when, on the monotonic clock, others are waited for."""
        here = (directory.dev, directory.ino)
        mine: set[tuple[int, int]] = _inside.__dict__.setdefault("directories", set())
        if here in mine:
            raise NotHadError(
                DURABILITY_FAILED,
                f"the store in {directory.path} was called from inside one of its own callbacks; "
                "return from the callback first",
            )
        deadline = time.monotonic() + timeout_s
        mutex = self._current()
        try:  # from before the mutex is had: a signal handler may raise between any two steps
            if not mutex.acquire(timeout=timeout_s):
                _timed_out(directory, timeout_s)
            mine.add(here)
            yield deadline
        finally:
            try:
                mine.discard(here)
            finally:
                try:  # noqa: SIM105 -- `suppress` is code in which a signal handler may raise first
                    mutex.release()
                except RuntimeError:
                    pass  # this thread never had it

    take = contextlib.contextmanager(_take)
    """Be inside, in a `with`, where no handler of a signal raises."""

    def _current(self) -> threading.RLock:
        if self._forks != lockfile.forks():
            # A forked child: the thread that may have held the mutex exists only in the parent.
            self._forks = lockfile.forks()
            self._mutex = threading.RLock()
        return self._mutex


class Held:
    """The kernel's lock, taken."""

    def __init__(self, directory: Place, descriptor: int) -> None:
        self.path = directory.lock_path
        self.descriptor = descriptor
        self._forks = lockfile.forks()
        found = disk.fstat(descriptor)
        check_file(self.path, found)
        self._file = (found.st_dev, found.st_ino)

    @property
    def lost(self) -> bool:
        """Whether this is a forked child, which holds nothing."""
        return self._forks != lockfile.forks()

    def check(self) -> None:
        """Still the holder, and the path still names the locked file. Raises DURABILITY_FAILED."""
        if self.lost:
            refuse(
                DURABILITY_FAILED,
                f"this process was forked while its parent held {self.path}; the lock is the parent's. "
                "Call again, outside the callback that forked",
            )
        found = disk.lstat(self.path)
        if found is None or (found.st_dev, found.st_ino) != self._file:
            refuse(
                DURABILITY_FAILED,
                f"the writer fence failed: {self.path} is another file than the one that was locked. "
                "Somebody removed or replaced it; the store never does",
            )


def _hold(directory: Place, deadline: float) -> Generator[Held, None, None]:
    """Has the kernel's lock while it is open; waits for it until `deadline` on the monotonic clock."""
    started = time.monotonic()
    born = lockfile.forks()
    descriptor = lockfile.open_lock(directory.lock_path)
    try:
        lock = Held(directory, descriptor)
        lockfile.announce_lock("acquire-before")
        pause = _FIRST_PAUSE_S
        while not lockfile.try_lock(descriptor):
            left = deadline - time.monotonic()
            if left <= 0:
                _timed_out(directory, time.monotonic() - started)
            time.sleep(min(pause, left))
            pause = min(pause * 1.5, _LONGEST_PAUSE_S)
        lockfile.announce_lock("acquire-after")
        lock.check()
        yield lock
    finally:
        try:
            _release(descriptor, forked=born != lockfile.forks())
        finally:
            if born == lockfile.forks():
                # Again, in case that a signal handler raised before it was done.
                lockfile.close_lock(descriptor)


held = contextlib.contextmanager(_hold)
"""Hold the lock, in a `with`, where no handler of a signal raises."""


def _release(descriptor: int, *, forked: bool) -> None:
    if forked:
        return  # this child has no copy of the descriptor; its number may mean another file by now
    try:
        # What was answered is durable by now: a failing release must not turn it into an error.
        with contextlib.suppress(OSError):
            lockfile.announce_lock("release-before")
    finally:
        with contextlib.suppress(OSError):
            lockfile.close_lock(descriptor)
    with contextlib.suppress(OSError):
        lockfile.announce_lock("release-after")


def _timed_out(directory: Place, waited_s: float) -> NoReturn:
    name = directory.lock_path.rpartition("/")[2]
    raise NotHadError(
        DURABILITY_FAILED,
        f"the writer fence failed: {directory.lock_path} was held by another call for {waited_s:.1f} s. "
        f"Its holder may be stopped or waiting for a callback; find it with: fuser -v {name}",
    )
