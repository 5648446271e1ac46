"""The story of a trace: a table of its steps with model and store side by side, and what differs first.

80 columns of plain text. Whatever a trace holds is shown harmlessly, also where its shape is unknown. Long
traces are cut in the middle, long lists of differences at the end, and what was cut is said.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from model.start import START_CLOCK
from reports.kill_story import kill_rows, render_kill
from reports.plain import grid, paragraph, safe
from reports.words import Names, action_words, outcome_words

FIRST_SHOWN = 6
LAST_SHOWN = 18
SHOWN_DIFFERENCES = 10
STEP_COLUMNS = (4, 34, 18, 18)
DIFFERENCE_COLUMNS = (38, 18, 18)

Cells = tuple[str, ...]


def render_story(trace: Any) -> list[str]:
    """The steps of `trace` (a trace's JSON) as lines, with the first difference marked by `>`."""
    if not isinstance(trace, Mapping):
        return paragraph(f"a trace of an unknown shape: {safe(trace)}")
    names = Names(_start(trace))
    if trace.get("kind") == "kill":
        violation = trace.get("violation")
        told = render_kill(_cut(kill_rows(trace, names)), trace, names)
        if isinstance(violation, Mapping):
            told += _differences(violation, names)
        legend = names.legend()
        return [*told, "", *legend] if legend else told
    divergence = trace.get("divergence")
    marked = divergence.get("index") if isinstance(divergence, Mapping) else None
    steps = trace.get("steps")
    rows = (
        [_row(at, step, marked, names) for at, step in enumerate(steps)]
        if isinstance(steps, Sequence)
        else []
    )
    lines = []
    if trace.get("why"):
        lines += [*paragraph(safe(trace["why"]), then=""), ""]
    lines += grid(("", "action", "model", "store"), _cut(rows), STEP_COLUMNS)
    if isinstance(divergence, Mapping):
        lines += ["", *_difference(divergence, names)]
    legend = names.legend()
    return [*lines, "", *legend] if legend else lines


def _start(trace: Mapping[str, Any]) -> int:
    initial = trace.get("initial")
    clock = initial.get("clock") if isinstance(initial, Mapping) else None
    return clock if isinstance(clock, int) and not isinstance(clock, bool) else START_CLOCK


def _row(at: int, step: Any, marked: object, names: Names) -> Cells:
    number = f"{at + 1} >" if at == marked else str(at + 1)
    if not isinstance(step, Mapping):
        return (number, names.of(step), "", "")
    action = step.get("action", step)
    return (
        number,
        action_words(action, names),
        outcome_words(step.get("expected"), names),
        outcome_words(step.get("observed"), names),
    )


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
        *_differences(divergence, names),
    ]


def _differences(found: Mapping[str, Any], names: Names) -> list[str]:
    differences = found.get("differences")
    if not isinstance(differences, Sequence) or not differences:
        return []
    rows = [
        (names.text(str(one.get("path"))), names.of(one.get("model")), names.of(one.get("store")))
        for one in differences[:SHOWN_DIFFERENCES]
        if isinstance(one, Mapping)
    ]
    lines = ["", *grid(("at", "model", "store"), rows, DIFFERENCE_COLUMNS)]
    hidden = len(differences) - SHOWN_DIFFERENCES
    return [*lines, f"... and {hidden} more differences: see the file"] if hidden > 0 else lines
