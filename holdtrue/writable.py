"""Whether a command will be able to write what it is asked for: looked at before anything begins.

What takes minutes must not end with a name that nobody can write to. A folder is made if need be, and a file
without a name is made there, which leaves nothing behind. That the disk is not full by the time of writing
nobody can promise: whoever writes says so then, too.
"""

import os
import stat
import tempfile
from pathlib import Path

from holdtrue.exits import UsageError


def folder_for(folder: Path, *files: str, option: str = "--out") -> None:
    """UsageError unless `files` can be written, or replaced, in `folder`, which `option` names."""
    try:
        if folder.exists() and not folder.is_dir():
            raise UsageError(_told(folder, option, "it is no directory"))
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        taken = [folder / name for name in files if (folder / name).is_dir()]
    except (OSError, ValueError) as error:
        raise UsageError(_told(folder, option, _why(error))) from error
    if taken:
        why = f"in it {taken[0].name!r} is a directory, and a file of that name is to be written"
        raise UsageError(_told(folder, option, why))


def file_for(path: Path, option: str, *, replaced: bool = False) -> None:
    """UsageError unless `path`, which `option` names, can be written; or `replaced` by a new file."""
    try:
        mode = _mode(path)
        if path.name in ("", ".", "..") or stat.S_ISDIR(mode):
            raise UsageError(f"{option} {str(path)!r} names no file")
        if not path.parent.is_dir():
            raise UsageError(
                f"{option} {str(path)!r}: there is no directory {str(path.parent)!r}; make it first"
            )
        if replaced or not mode:
            with tempfile.TemporaryFile(dir=path.parent):
                pass
        elif stat.S_ISREG(mode):
            os.close(os.open(path, os.O_WRONLY | os.O_CLOEXEC))
    except (OSError, ValueError) as error:
        raise UsageError(_told(path, option, _why(error))) from error


def _mode(path: Path) -> int:
    """The mode of what stands there, 0 if nothing does. Errors of other kinds are the caller's."""
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0


def _told(path: Path, option: str, why: str) -> str:
    return f"{option} {str(path)!r} can't be written: {why}; choose another"


def _why(error: OSError | ValueError) -> str:
    return str(error.strerror or error) if isinstance(error, OSError) else str(error)
