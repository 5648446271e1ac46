"""What stood on disk while a counterexample was replayed: files, the disk steps up to then, the audit's
words.

From the `about.json` of the evidence that a run kept for a failure. It is of any shape, or missing: then
there is nothing to show, and the timeline's own words about the disk are all there is.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from reports.html.markup import Child, Html, code, el, join, text
from reports.html.parts import many, mark, note, opens, table

MOMENTS = 12
FILES = 30
LINES = 60


def evidence(about: Any, trace: Any) -> Html | None:
    """A part for each moment at which the files were kept. `trace` is the one that was replayed."""
    moments = [one for one in _list(_object(about).get("moments")) if isinstance(one, Mapping)]
    if not moments:
        return None
    hidden = len(moments) - MOMENTS
    return join(
        [
            el("h4", "On disk"),
            *(_moment(one, _struck(trace, one)) for one in moments[:MOMENTS]),
            note(f"... and {many(hidden, 'more moment')}: see the store's files.") if hidden > 0 else None,
        ]
    )


def _struck(trace: Any, one: Mapping[str, Any]) -> str:
    """The arrival at which the kill of this moment struck; "" if it is about no kill."""
    kind, _, number = str(one.get("moment", "")).partition("-")
    kills = _list(_object(trace).get("kills"))
    if (
        kind != "kill"
        or not number.isascii()
        or not number.isdigit()
        or not 1 <= int(number[:6]) <= len(kills)
    ):
        return ""
    kill = _object(kills[int(number[:6]) - 1])
    return f"{kill.get('point')}#{kill.get('n')}"


def _moment(one: Mapping[str, Any], struck: str) -> Html:
    name = str(one.get("moment", ""))[:60]
    if one.get("there") is False:
        return el("p", text(_words(name).capitalize()), ": there was no store.")
    files = [each for each in _list(one.get("files")) if isinstance(each, Mapping)]
    rows: list[list[Child]] = [
        [
            code(each.get("name", ""), 100),
            code(each.get("mode", ""), 20),
            _bytes(each.get("bytes")),
            code(str(each.get("sha256", ""))[:16]),
        ]
        for each in files[:FILES]
    ]
    header: list[Child] = ["file", "mode", "bytes", "SHA-256 begins"]
    listed = table(f"Files {_words(name)}", header, rows, numbers=frozenset({2})) if rows else None
    hidden = len(files) - FILES
    steps, audit = _list(one.get("steps")), _list(one.get("audit"))
    return join(
        [
            listed or el("p", text(_words(name).capitalize()), ": no files."),
            note(f"... and {many(hidden, 'more file')}.") if hidden > 0 else None,
            opens(_heading(steps, struck), _steps(steps, struck)) if steps else None,
            opens("What the audit of these files says", _lines(audit)) if audit else None,
        ]
    )


def _words(name: str) -> str:
    """When that was: `kill-1`, `step-4` and `end` in words."""
    kind, _, number = name.partition("-")
    if kind in ("kill", "step") and number:
        return f"after {kind} {number}"
    return "at the end" if name == "end" else f"at {name}"


def _heading(steps: Sequence[Any], struck: str) -> str:
    if struck:
        return f"Disk steps of the action if nobody dies: {len(steps):,}, and where it was killed"
    return f"Disk steps up to then: {len(steps):,}"


def _steps(steps: Sequence[Any], struck: str) -> Html:
    """Some steps in their order: the last ones, or those around the one at which the kill struck."""
    at = steps.index(struck) if struck in steps else None
    last = len(steps) if at is None else min(len(steps), at + LINES // 2)
    first = max(0, last - LINES)
    told: list[Child] = []
    for number in range(first, last):
        told.append(code(steps[number], 60))
        if number == at:
            told.append(mark("killed here", "bad"))
    return el(
        "p",
        f"({first} earlier) ... " if first else None,
        join(told, " \N{RIGHTWARDS ARROW} "),
        f" ... ({len(steps) - last} later)" if last < len(steps) else None,
    )


def _lines(lines: Sequence[Any]) -> Html:
    hidden = len(lines) - LINES
    more = [f"... and {many(hidden, 'more line')}"] if hidden > 0 else []
    return el("pre", *(join([text(line, 200), Html("\n")]) for line in [*lines[:LINES], *more]))


def _bytes(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else "\N{EN DASH}"


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()
