"""The story of a trace: a table of its steps with model and store side by side, and what differs first.

80 columns of plain text. Whatever a trace holds is shown harmlessly, also where its shape is unknown. Long
traces are cut in the middle, long lists of differences at the end, and what was cut is said.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from model.start import START_CLOCK
from reports.disk_words import disk_words
from reports.kill_story import kill_rows, raced_rows, render_kill
from reports.plain import grid, paragraph, safe
from reports.words import Names, action_words, outcome_words

FIRST_SHOWN = 6
LAST_SHOWN = 18
SHOWN_DIFFERENCES = 10
STEP_COLUMNS = (4, 34, 18, 18)
DISK_COLUMNS = (4, 25, 17, 17, 9)
DIFFERENCE_COLUMNS = (38, 18, 18)

LONGEST_CELL = 300

Cells = tuple[str, ...]


def render_story(trace: Any) -> list[str]:
    """The steps of `trace` (a trace's JSON) as lines, with the first difference marked by `>`."""
    if not isinstance(trace, Mapping):
        return paragraph(f"a trace of an unknown shape: {safe(trace)}")
    names = Names(start_of(trace))
    if trace.get("kind") == "kill":
        violation = trace.get("violation")
        rows = [tuple(map(clipped, row)) for row in kill_rows(trace, names) or raced_rows(trace, names)]
        told = render_kill(_cut(rows), trace, names)
        if isinstance(violation, Mapping):
            told += differences(violation, names)
        legend = names.legend()
        return [*told, "", *legend] if legend else told
    divergence = trace.get("divergence")
    marked = divergence.get("index") if isinstance(divergence, Mapping) else trace.get("drifted_at")
    steps = trace.get("steps")
    rows = (
        [_row(at, step, marked, names) for at, step in enumerate(steps)]
        if isinstance(steps, Sequence)
        else []
    )
    lines = []
    if trace.get("why"):
        lines += [*paragraph(safe(trace["why"]), then=""), ""]
    lines += _table(rows)
    if isinstance(divergence, Mapping):
        lines += ["", *_difference(divergence, names)]
    legend = names.legend()
    return [*lines, "", *legend] if legend else lines


def start_of(trace: Mapping[str, Any]) -> int:
    """The clock at the trace's beginning, in ms since the epoch."""
    initial = trace.get("initial")
    clock = initial.get("clock") if isinstance(initial, Mapping) else None
    return clock if isinstance(clock, int) and not isinstance(clock, bool) else START_CLOCK


def step_cells(step: Any, names: Names) -> Cells:
    """A step in words: what was done, what the model said, what the store did, what was on disk then."""
    if not isinstance(step, Mapping):
        return (names.of(step), "", "", "")
    return (
        action_words(step.get("action", step), names),
        outcome_words(step.get("expected"), names),
        outcome_words(step.get("observed"), names),
        disk_words(step.get("disk")),
    )


def clipped(cell: str) -> str:
    """`cell` with at most `LONGEST_CELL` characters: one value must not push a story off the screen."""
    hidden = len(cell) - LONGEST_CELL
    return cell if hidden <= 0 else f"{cell[:LONGEST_CELL]}... ({hidden} more characters)"


def _row(at: int, step: Any, marked: object, names: Names) -> Cells:
    number = f"{at + 1}{' >' if at < 99 else '>'}" if at == marked else str(at + 1)
    return (number, *(clipped(cell) for cell in step_cells(step, names)))


def _table(rows: list[Cells]) -> list[str]:
    """The steps; what was on disk has a column where the trace knows it."""
    if any(row[-1] for row in rows):
        return grid(("", "action", "model", "store", "on disk"), _cut(rows), DISK_COLUMNS)
    return grid(("", "action", "model", "store"), _cut([row[:-1] for row in rows]), STEP_COLUMNS)


def _cut(rows: list[Cells]) -> list[Cells]:
    hidden = len(rows) - FIRST_SHOWN - LAST_SHOWN
    if hidden <= 1:
        return rows
    gap = tuple("" for _ in rows[0][2:])
    return [*rows[:FIRST_SHOWN], ("...", f"({hidden} steps: see the file)", *gap), *rows[-LAST_SHOWN:]]


def _difference(divergence: Mapping[str, Any], names: Names) -> list[str]:
    index = divergence.get("index")
    step = f"step {index + 1}" if isinstance(index, int) else "a step"
    kind, clause = safe(divergence.get("kind")), safe(divergence.get("clause"))
    return [
        *paragraph(f"first difference: {step}, {kind}; clause: {clause}"),
        *differences(divergence, names),
    ]


def differences(found: Mapping[str, Any], names: Names) -> list[str]:
    """Where model and store differ, as a table."""
    listed = found.get("differences")
    if not isinstance(listed, Sequence) or not listed:
        return []
    rows = [
        (names.text(str(one.get("path"))), *(clipped(names.of(one.get(side))) for side in ("model", "store")))
        for one in listed[:SHOWN_DIFFERENCES]
        if isinstance(one, Mapping)
    ]
    lines = ["", *grid(("at", "model", "store"), rows, DIFFERENCE_COLUMNS)]
    hidden = len(listed) - SHOWN_DIFFERENCES
    return [*lines, f"... and {hidden} more differences: see the file"] if hidden > 0 else lines
