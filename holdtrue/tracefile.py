"""A trace's file, or a run's: read as JSON, or refused at once with a reason that a person can act upon.

A key that stands twice in one object is refused: of two verdicts in one file each reader would take another.
"""

import json
import os
import stat
from pathlib import Path
from typing import Any

from holdtrue.exits import UsageError

LARGEST = 64 * 1024 * 1024
"""Bytes. A trace has a few thousand; whatever is larger than this is none."""


LONGEST_KEY = 60


OF_A_TRACE = "Traces of a check stand in its run folder, reports/out/<run>/traces/."


class TwiceError(ValueError):
    """A key stands twice in one object of a JSON text. The message names it."""


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON (`object_pairs_hook`), each of whose keys stands in it once. TwiceError else."""
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise TwiceError(f"the key {key[:LONGEST_KEY]!r} stands twice in one object")
            seen.add(key)
    return found


def read_json(path: Path, *, what: str = "trace", where: str = OF_A_TRACE) -> Any:
    """The JSON in `path`. UsageError, at once, for what is no regular file, no JSON, or far too large.

    `what` is expected there, and `where` says where such files stand.
    """
    try:
        # A FIFO would block an opening for reading until someone writes: O_NONBLOCK, then look.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        told = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"{str(path)!r} can't be opened: {told}. {where}") from error
    try:
        entry = os.fstat(descriptor)
        if not stat.S_ISREG(entry.st_mode):
            raise UsageError(f"{str(path)!r} is {_kind(entry.st_mode)}; a {what} is a regular file")
        if entry.st_size > LARGEST:
            raise UsageError(f"{str(path)!r} has {entry.st_size} bytes; no {what} is as large as that")
        with os.fdopen(os.dup(descriptor), "rb") as file:
            raw = file.read()
    finally:
        os.close(descriptor)
    try:
        return json.loads(raw.decode("utf-8"), object_pairs_hook=once)
    except TwiceError as error:
        raise UsageError(
            f"{str(path)!r} is broken: {error}, and readers differ on which of them counts. It was edited; "
            "fetch it again."
        ) from error
    except json.JSONDecodeError as error:
        raise UsageError(
            f"{str(path)!r} is no JSON: line {error.lineno}, column {error.colno}: {error.msg}. "
            "It was cut off or edited; fetch it again."
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{str(path)!r} is no {what}: byte {error.start} is no UTF-8 text") from error
    except (RecursionError, ValueError) as error:
        raise UsageError(
            f"{str(path)!r} is no {what}: nested too deeply, or a number beyond all bounds"
        ) from error


def _kind(mode: int) -> str:
    names = {
        stat.S_IFDIR: "a directory",
        stat.S_IFIFO: "a FIFO",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    return names.get(stat.S_IFMT(mode), "no regular file")
