"""Folders that a killed command has left behind, removed by the next one; never those of a live process.

A command that dies of SIGKILL can't clean up. So it holds a lock on a file in its folder for as long as it
lives, and the kernel lets go of it whatever ends the process: a folder whose lock can be had belongs to
nobody. No process id is looked at, since those are used again. A folder without that file, of another user,
or of another name is left alone, and so is one on a file system that knows no locks.
"""

import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from stateful_tests.removing import remove

PREFIX: Final = "holdtrue-run-"
OWNER: Final = ".owner"


@contextmanager
def owned(base: Path) -> Iterator[Path]:
    """A fresh folder in `base`, removed at the end; until then it is known to be in use."""
    place = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
    # Locked under another name: once the file has its own, nobody can find it unlocked.
    descriptor = os.open(place / f"{OWNER}.new", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            (place / f"{OWNER}.new").rename(place / OWNER)
        yield place
    finally:
        remove(place)
        os.close(descriptor)


def remove_abandoned(base: Path) -> int:
    """Removes the folders in `base` that nobody owns any more; how many those were. What can't be looked at
    or removed stays."""
    removed = 0
    with suppress(OSError):
        for place in sorted(base.glob(f"{PREFIX}*")):
            with suppress(OSError):
                removed += _removed(place)
    return removed


def _removed(place: Path) -> bool:
    entry = place.lstat()
    if not stat.S_ISDIR(entry.st_mode) or entry.st_uid != os.geteuid() or entry.st_mode & 0o077:
        return False
    descriptor = os.open(place / OWNER, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return False
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # BlockingIOError: its owner lives
        remove(place)
        return not place.exists()
    finally:
        os.close(descriptor)
