"""What was on disk after a step, in a few words, from the `disk` of a trace's step or the `left` of a kill.

Short, since it stands in a column of a table; `disk_told` is the same with the names of the files. What is
of an unknown shape is left out here: it stands in the trace's file.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from reports.plain import safe

MOST_FILES = 12
_MIRRORS = {"missing": "no mirror", "empty": "mirror empty", "corrupt": "mirror corrupt"}


def disk_words(disk: Any) -> str:
    """E.g. `commit 3, 1 temp`, or `2 events, mirror 1`; "" if nothing is known."""
    if not isinstance(disk, Mapping):
        return ""
    if _number(disk.get("events")) is not None:
        return ", ".join(_ledger(disk))
    told = []
    if (commit := _number(disk.get("commitSeq"))) is not None:
        told.append(f"commit {commit}")
        told += ["no identity"] if disk.get("identity") is False else []
    elif "temps" in disk and not disk.get("problems"):
        told.append("nothing" if not disk.get("identity") else "no state")
    told += _counted(disk.get("temps"), "temp")
    told += ["faulty"] if disk.get("problems") else []
    return ", ".join(told)


def disk_told(disk: Any) -> str:
    """The same at length, with the rows and the names of the files."""
    told = disk_words(disk)
    if not isinstance(disk, Mapping):
        return told
    told = ", ".join([part for part in (told, *_counted(disk.get("rows"), "row")) if part])
    for problem in _listed(disk.get("problems")):
        told += f"; {safe(problem, 200)}"
    names = _listed(disk.get("files"))
    shown = ", ".join(safe(name, 80) for name in names[:MOST_FILES])
    hidden = len(names) - MOST_FILES
    more = f" and {hidden} more" if hidden > 0 else ""
    return f"{told} ({shown}{more})" if shown else told


def _ledger(disk: Mapping[str, Any]) -> list[str]:
    events = _counted(disk["events"], "event") or ["no event"]
    tail = [f"{disk['tail']} bytes torn"] if _number(disk.get("tail")) else []
    mirror = disk.get("mirror")
    if (seen := _number(mirror)) is not None:
        told = [] if seen == disk["events"] else [f"mirror {seen}"]
    else:
        told = [_MIRRORS.get(str(mirror), f"mirror {safe(mirror, 20)}")] if mirror is not None else []
    return [*events, *tail, *told, *(["faulty"] if disk.get("problems") else [])]


def _counted(value: Any, what: str) -> list[str]:
    count = _number(value)
    return [f"{count} {what}{'' if count == 1 else 's'}"] if count else []


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()
