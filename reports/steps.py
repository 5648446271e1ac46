"""One step of a story at a time, for a person who walks through it.

80 columns of plain text: what was done, what the model expected, what the store did, what is on disk now.
Where today's model expects something else than was recorded, both are told.
"""

from collections.abc import Mapping
from typing import Any

from reports.disk_words import disk_told
from reports.plain import paragraph, safe
from reports.story import differences, step_cells
from reports.words import Names, outcome_words

INDENT = " " * 12


def render_step(
    step: Mapping[str, Any], names: Names, *, at: int, total: int, recorded: Any = None
) -> list[str]:
    """Step `at` (from 0) of `total`. `recorded` is what was expected when the trace was recorded."""
    action, expected, observed, _ = step_cells(step, names)
    lines = [f"step {at + 1} of {total}", *_line("action", action), *_line("expected", expected)]
    if recorded is not None and recorded != step.get("expected"):
        lines += _line("recorded", outcome_words(recorded, names))
    lines += _line("observed", observed)
    lines += _line("on disk", disk_told(step.get("disk")))
    found = step.get("divergence")
    if isinstance(found, Mapping):
        lines += _line("DIFFERS", f"{safe(found.get('kind'))}; clause: {safe(found.get('clause'))}")
        lines += differences(found, names)
    return [*lines, ""]


def render_row(cells: tuple[str, ...], *, at: int, total: int) -> list[str]:
    """Row `at` of the story of a kill: number, what happens, how it ends, and what is on disk then."""
    number, words, ending, *disk = (*cells, "")
    lines = [f"step {at + 1} of {total}", *_line("happens", words), *_line("ends", ending)]
    lines += _line("on disk", disk[0])
    return [*lines, *(_line("DIFFERS", "here it goes wrong, see below") if ">" in number else []), ""]


def _line(label: str, text: str) -> list[str]:
    return paragraph(text, first=f"  {label:<10}", then=INDENT) if text else []
