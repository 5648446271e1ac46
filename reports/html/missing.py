"""What a run should have seen and has not: floors that were missed, and jobs that were lost.

In a violated run missed floors are no news, since a violation ends its job; they are told all the same.
"""

from collections.abc import Mapping
from typing import Any

from reports.html.markup import Child, Html, code, el, join, text
from reports.html.parts import many, mark, note, opens, section, table

FIRST = 12
LOST = 10
_LINES = 16


def missing(results: Mapping[str, Any]) -> Html:
    """A section; nothing, if nothing is missing."""
    rows: list[list[Child]] = [
        [text(key, 120), text(phase["name"], 40), mark(f"{seen:,} of {floor:,}", "warn")]
        for phase in results["phases"]
        for key, seen, floor in phase["below_floor"]
    ]
    lost = [(phase["name"], one) for phase in results["phases"] for one in phase["lost"]]
    if not rows and not lost:
        return Html("")
    header: list[Child] = ["what", "phase", "seen"]
    first = table("Seen too rarely: what a run must have seen", header, rows[:FIRST]) if rows else None
    rest = rows[FIRST:]
    more = opens(f"{len(rest):,} more seen too rarely", table("Also seen too rarely", header, rest))
    hidden = len(lost) - LOST
    return section(
        "missing",
        "What is missing",
        note("A run in which one of these is missing has not looked enough, however green the rest."),
        first,
        more if rest else None,
        *(_lost(name, one) for name, one in lost[:LOST]),
        note(f"... and {many(hidden, 'more lost job')}: see results.json.") if hidden > 0 else None,
    )


def _lost(phase: str, one: Mapping[str, Any]) -> Html:
    told = join([text(phase, 40), ": a job was lost (", text(one["why"], 40), "): ", text(one["told"], 200)])
    lines = [join([text(line, 240), Html("\n")]) for line in one["details"].splitlines()[-_LINES:]]
    said = el("pre", *lines) if lines else None
    return opens(told, el("p", code(one["runner"], 120), " with ", code(one["params"], 300)), said)
