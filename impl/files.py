"""Whether a file or a directory may be trusted: its kind, owner, mode and links (C12, C13).

Guarantees: each check names the path and says how to mend it; all are pure looks at what `disk` found.

Doesn't: open or change anything.
"""

import stat
from collections.abc import Iterator
from os import stat_result
from typing import Final

from impl import disk
from impl.errors import DURABILITY_FAILED, refuse

STATE_NAME: Final = "coordinator.json"
IDENTITY_NAME: Final = "coordinator.identity.json"
LOCK_NAME: Final = "writer.lock"

_OTHERS: Final = 0o077
_KIND: Final = 0o170000


def file_faults(path: str, found: stat_result) -> Iterator[str]:
    """What keeps a file from being regular, of this user, private, and under one name only.

    Of what is no regular file nothing else is told: its owner and mode don't matter.
    """
    mode = found.st_mode
    if stat.S_ISLNK(mode):
        yield f"{path} is a symlink; the store follows none. Put the file itself there"
        return
    if not stat.S_ISREG(mode):
        yield f"{path} is no regular file; something else was put in its place"
        return
    if found.st_uid != disk.own_uid():
        yield f"{path} belongs to user {found.st_uid}, not to the host's user"
    if mode & _OTHERS:
        shown = f"{stat.S_IMODE(mode):04o}"
        yield f"{path} has mode {shown}: others may touch it. Mend it with: chmod 600 '{path}'"
    if found.st_nlink != 1:
        yield f"{path} has {found.st_nlink} names (hard links); it must have one"


def directory_faults(path: str, found: stat_result) -> Iterator[str]:
    """What keeps a directory from being one of this user that nobody else may enter."""
    if stat.S_ISLNK(found.st_mode):
        yield f"{path} is a symlink; name the directory itself"
        return
    if not stat.S_ISDIR(found.st_mode):
        yield f"{path} is no directory"
        return
    if found.st_uid != disk.own_uid():
        yield f"{path} belongs to user {found.st_uid}, not to the host's user"
    if found.st_mode & _OTHERS:
        yield (
            f"{path} has mode {stat.S_IMODE(found.st_mode):04o}: group or others may enter. If nothing else "
            f"needs that, mend it with: chmod 700 '{path}'"
        )


def _is_private(found: stat_result) -> bool:
    kind_and_others = found.st_mode & (_KIND | _OTHERS)
    return kind_and_others == stat.S_IFREG and found.st_uid == disk.own_uid() and found.st_nlink == 1


def check_file(path: str, found: stat_result) -> None:
    """Raise DURABILITY_FAILED for the first fault of a file (C12)."""
    if _is_private(found):
        return  # the way that is taken a dozen times in each transaction
    for fault in file_faults(path, found):
        refuse(DURABILITY_FAILED, fault)


def check_directory(path: str, found: stat_result) -> None:
    """Raise DURABILITY_FAILED for the first fault of a directory (C13)."""
    for fault in directory_faults(path, found):
        refuse(DURABILITY_FAILED, fault)
