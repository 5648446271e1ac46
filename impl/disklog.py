"""The file system calls that only ledger-gated transactions need: `disk`, continued.

Guarantees: as `disk` does. The ledger is written at a given place, never just at its end: a record goes where
the last one that was verified ends, whatever stands behind it.

Doesn't: see SQLite's own work on the mirror. `mirror` announces that step by step.
"""
# The bare system calls, with their flags, are the point of this module: pathlib hides them.
# ruff: noqa: PTH104, PTH123

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from typing import Final

from impl.disk import create_private
from impl.points import hooked, tell

BLOCK: Final = 1 << 20
"""How much is read at once, in bytes."""


def open_ledger(path: str) -> int | None:
    """The ledger at `path`, open for reading and writing, or None if there is none. Raises OSError."""
    try:
        return os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None


def open_read_only(path: str) -> int | None:
    """The file at `path`, open for reading alone, or None if there is none. Raises OSError."""
    try:
        return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None


def create_ledger(path: str) -> int:
    """A new, empty, private ledger. Raises OSError, also if something stands there."""
    tell("ledger", "create-before")
    descriptor = create_private(path)
    try:
        tell("ledger", "create-after")
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def start_reading() -> None:
    """The marked point before the ledger, or a part of it, is read."""
    tell("ledger", "read-before")


def read(descriptor: int, start: int, size: int) -> bytes:
    """Exactly `size` bytes from byte `start` on. Raises OSError, also if there are fewer."""
    parts = []
    while size:
        part = os.pread(descriptor, size, start)
        if not part:
            raise OSError(errno.EIO, "the ledger ends before the size that it had a moment ago")
        parts.append(part)
        start += len(part)
        size -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def done_reading() -> None:
    """The marked point after the ledger, or a part of it, was read."""
    tell("ledger", "read-after")


def append(descriptor: int, start: int, data: bytes) -> None:
    """Write a record at `start`, where the one before it ends. Raises OSError; a part may stand there."""
    half = len(data) // 2 if hooked() else 0
    tell("ledger", "append-before")
    _write(descriptor, start, data[:half])
    tell("ledger", "append-torn")
    _write(descriptor, start + half, data[half:])
    tell("ledger", "append-after")


def sync_append(descriptor: int) -> None:
    """Make an appended record durable."""
    tell("ledger", "fsync-before")
    os.fsync(descriptor)
    tell("ledger", "fsync-after")


def cut(descriptor: int, length: int) -> None:
    """Cut the ledger back to `length` bytes."""
    tell("ledger", "cut-before")
    os.ftruncate(descriptor, length)
    tell("ledger", "cut-after")


def sync_cut(descriptor: int) -> None:
    """Make a cut durable."""
    tell("ledger", "cut-fsync-before")
    os.fsync(descriptor)
    tell("ledger", "cut-fsync-after")


def renew(descriptor: int, start: int, data: bytes) -> None:
    """Write the bytes that stand at `start` once more, and sync them.

    After a failed fsync their pages may be marked clean though they never reached the disk: only what is
    written again is written.
    """
    tell("ledger", "renew-before")
    _write(descriptor, start, data)
    tell("ledger", "renew-after")
    tell("ledger", "renew-fsync-before")
    os.fsync(descriptor)
    tell("ledger", "renew-fsync-after")


def _write(descriptor: int, start: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        taken = os.pwrite(descriptor, rest, start)
        if taken == 0:
            raise OSError(errno.EIO, "the file system took none of a write")
        start += taken
        rest = rest[taken:]


def set_aside(source: str, target: str) -> None:
    """Give one file of an unusable mirror another name."""
    tell("mirror", "aside-before")
    os.rename(source, target)
    tell("mirror", "aside-after")


def create_mirror(path: str) -> None:
    """A new, empty, private file for a mirror that is to be built. Raises OSError."""
    tell("mirror", "build-before")
    os.close(create_private(path))


def built_mirror() -> None:
    """The marked point after a new mirror was filled."""
    tell("mirror", "build-after")


def sync_mirror(path: str) -> None:
    """Make a new mirror, which nobody has open yet, durable."""
    tell("mirror", "build-fsync-before")
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    tell("mirror", "build-fsync-after")


def rename_mirror(source: str, target: str) -> None:
    """Put a new mirror in its place."""
    tell("mirror", "rename-before")
    os.rename(source, target)
    tell("mirror", "rename-after")


@contextlib.contextmanager
def scratch_directory() -> Iterator[str]:
    """A private directory outside of any store, removed afterwards."""
    path = tempfile.mkdtemp(prefix="holdtrue-audit-")
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def read_header(path: str, size: int) -> bytes:
    """The first `size` bytes of the file at `path`, or all if it has fewer. Raises OSError."""
    descriptor = open_read_only(path)
    if descriptor is None:
        return b""
    try:
        return os.pread(descriptor, size, 0)
    finally:
        os.close(descriptor)


def copy_file(source: str, target: str) -> None:
    """Copy the content of one regular file. Raises OSError."""
    descriptor = open_read_only(source)
    if descriptor is None:
        raise FileNotFoundError(errno.ENOENT, "it is gone", source)
    with open(descriptor, "rb") as reading, open(target, "xb") as writing:
        shutil.copyfileobj(reading, writing, BLOCK)
