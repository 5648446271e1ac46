"""How a file gets its new content: whole or not at all, and temp files that never stay (C5, C6).

Guarantees: content goes to an exclusive private temp file and is synced before `drafted` yields; its
publication is one rename. A draft that isn't published is removed, whatever happened. `remove_leftovers`
removes what killed writers left, and nothing else.

Doesn't: sync the directory. The caller does, once the rename happened.
"""

import contextlib
import re
import stat
from collections.abc import Callable, Iterator
from typing import Final

from impl import disk
from impl.directory import Directory
from impl.lock import Held

LEFTOVER: Final = re.compile(r"coordinator(\.identity)?\.json\.[0-9a-f]{32}\.tmp")


@contextlib.contextmanager
def drafted(subject: disk.Subject, target: str, data: bytes, lock: Held) -> Iterator[Callable[[], None]]:
    """A durable draft of `data` beside `target`. Yields the function that publishes it. Raises OSError."""
    temp = f"{target}.{disk.random_hex()}.tmp"
    published = False

    def publish() -> None:
        nonlocal published
        disk.rename(subject, temp, target)
        published = True

    try:
        descriptor = disk.create_temp(subject, temp)
        try:
            disk.write(subject, descriptor, data)
            disk.sync_file(subject, descriptor)
        finally:
            disk.close(descriptor)
        yield publish
    finally:
        if not published and not lock.lost:  # a forked child leaves its parent's draft alone
            with contextlib.suppress(OSError):  # what failed before matters more; the next call tidies up
                disk.unlink_temp(temp)


def remove_leftovers(directory: Directory) -> None:
    """Remove temp files of killed writers: our naming pattern, regular, this user's. Under the mutex."""
    for name in disk.list_names(directory.path):
        if LEFTOVER.fullmatch(name):
            path = f"{directory.path}/{name}"
            found = disk.lstat(path)
            if found is not None and stat.S_ISREG(found.st_mode) and found.st_uid == disk.own_uid():
                disk.unlink_temp(path)
