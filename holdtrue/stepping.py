"""`holdtrue replay --step`: a trace walked through one step at a time.

Model and store really stand where they are shown: between two steps of a walk the store's directory can be
looked at from elsewhere. A kill is performed first, since its processes can't be held up, and told then, step
by step. Commands come from standard input, a terminal or a pipe; at its end the rest is shown unasked.

Whoever quits before the end has not seen whether the trace still fails: that ends with exit code 3.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from attrs import define

from holdtrue.exits import Exit
from holdtrue.out import Printer
from holdtrue.performing import Performed
from holdtrue.replay import greet, read_and_perform, tell_status
from holdtrue.tracefile import read_json
from model.values import JSON
from reports.disk_words import disk_told
from reports.kill_story import kill_rows
from reports.plain import safe
from reports.steps import render_row, render_step
from reports.story import render_story, start_of
from reports.words import Names

PROMPT = "[enter] next   [c] go on to the end   [q] quit > "
HELP = "enter: the next step; c: all that is left; q: quit"


class QuitError(Exception):
    """The person has seen enough."""


@define
class Pauses:
    """Asks, between two steps, whether to go on. QuitError if not."""

    commands: TextIO | None
    asking: bool = True

    def after(self, at: int, total: int) -> None:
        """After step `at` (from 0) of `total`; after the last one nobody is asked."""
        while self.asking and at + 1 < total:
            if self.commands is not None and self.commands.isatty():
                print(PROMPT, end="", file=sys.stderr, flush=True)
            line = "" if self.commands is None else self.commands.readline()
            self.asking = bool(line)  # at the end of input nobody can answer any more
            word = line.strip().lower()
            if word in ("q", "quit", "exit"):
                raise QuitError
            if word in ("c", "continue"):
                self.asking = False
            elif word in ("", "n", "next"):
                return
            else:
                print(f"{safe(word, 40)!r} is no command here. {HELP}", file=sys.stderr, flush=True)


def step_file(path: Path, printer: Printer, *, commands: TextIO | None = None) -> int:
    """Walks through the trace in `path`; returns the exit code. `commands` is standard input unless given."""
    pauses = Pauses(sys.stdin if commands is None else commands)
    data = read_json(path)
    try:
        if isinstance(data, dict) and data.get("kind") == "kill":
            return _kill(path, printer, pauses)
        return _walk(path, data, printer, pauses)
    except QuitError:
        printer.strong(f"QUIT  {safe(path.name)}: not seen to its end, which says nothing", "QUIT", "33")
        return Exit.INCONCLUSIVE


def _walk(path: Path, data: Any, printer: Printer, pauses: Pauses) -> int:
    recorded = data.get("steps") if isinstance(data, dict) else None
    steps = recorded if isinstance(recorded, list) else []
    names = Names(start_of(data) if isinstance(data, dict) else 0)
    legend: list[str] = []

    def watch(at: int, step: Mapping[str, JSON], directory: Path) -> None:
        if at == 0:
            printer.line(f"the store stands in {safe(directory, 4096)} until this ends")
            printer.line()
        expected = steps[at].get("expected")
        *told, empty = render_step(step, names, at=at, total=len(steps), recorded=expected)
        fresh = [line for line in names.legend() if line not in legend]
        legend.extend(fresh)
        printer.lines([*told, *(f"  where     {line}" for line in fresh), empty])
        if step["divergence"] is None:
            pauses.after(at, len(steps))

    return tell_status(read_and_perform(path, watch=watch), printer)


def _kill(path: Path, printer: Printer, pauses: Pauses) -> int:
    now = read_and_perform(path)
    greet(now, printer)
    printer.line("performed just now by processes of its own; this is what happened:")
    printer.line()
    rows = kill_rows(now.story, Names(start_of(now.story)), disk_told)
    for at, row in enumerate(rows):
        printer.lines(render_row(row, at=at, total=len(rows)))
        pauses.after(at, len(rows))
    _ending(now, printer)
    return tell_status(now, printer)


def _ending(now: Performed, printer: Printer) -> None:
    """What the whole story adds to its steps: what was wrong, and where."""
    whole = render_story(now.story)
    at = next((number for number, line in enumerate(whole) if line.startswith("then: ")), len(whole))
    printer.lines(whole[at:])
