"""`holdtrue replay`: a counterexample from its file, walked again by model and store as they are today.

Needs no Hypothesis, no database, no run folder. The last line says FIXED (exit 0), STILL FAILING (1), NOW
FAILING (1): it held when it was recorded or pinned, or DRIFTED (3): something else happened than was
recorded, so the trace no longer tells what it was kept for.
What can't be read as a trace is a usage error (2). It works in a directory of its own and removes it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdtrue.exits import Exit, UsageError
from holdtrue.out import Printer
from holdtrue.performing import NoTraceError, Performed, Watch, perform
from holdtrue.tracefile import LARGEST as LARGEST
from holdtrue.tracefile import read_json
from reports.plain import paragraph, safe
from reports.recorded import recorded_words
from reports.story import render_story

WORDS = {
    "fixed": ("FIXED", Exit.PASSED, "32"),
    "failing": ("STILL FAILING", Exit.VIOLATED, "31"),
    "now failing": ("NOW FAILING", Exit.VIOLATED, "31"),
    "drifted": ("DRIFTED", Exit.INCONCLUSIVE, "33"),
}


def replay_command(options: object) -> int:
    """`holdtrue replay` as the command line asks for it."""
    asked = vars(options)
    if not asked["trace"]:
        raise UsageError("an empty path names no trace file")
    if asked.get("target") is not None:
        from holdtrue.aimed import replay_command as replay_on_target

        return replay_on_target(options)
    path, printer = Path(asked["trace"]), Printer()
    _ours(path)
    if asked.get("shrink"):
        from holdtrue.shrinking import shrink_file

        into = asked["output"]
        return shrink_file(path, printer, into=None if into is None else Path(into), tries=asked["tries"])
    if asked.get("output") is not None or asked.get("tries") is not None:
        raise UsageError("-o and --tries go with --shrink, which makes a shorter trace")
    if asked.get("step"):
        from holdtrue.stepping import step_file

        return step_file(path, printer)
    return replay_file(path, printer)


def _ours(path: Path) -> None:
    """UsageError if the trace in `path` is one of a target: this project's store would be asked in its place,
    and FIXED would be said of another store."""
    data = read_json(path)
    versions = data.get("versions") if isinstance(data, dict) else None
    if isinstance(versions, dict) and "target" in versions:
        raise UsageError(
            f"{path}: it was recorded of a target; name that with --target 'COMMAND {{directory}}'"
        )


def replay_file(path: Path, printer: Printer) -> int:
    """Replays the trace in `path`, prints its story and how it stands; returns the exit code."""
    now = read_and_perform(path)
    greet(now, printer)
    printer.lines(render_story(now.story))
    return tell_status(now, printer)


def read_and_perform(path: Path, *, watch: Watch | None = None) -> Performed:
    """Replays the trace in `path`. UsageError, with the path, if there is none that can be replayed."""
    data = read_json(path)
    try:
        return perform(data, watch=watch)
    except NoTraceError as error:
        raise UsageError(f"{path}: {error}") from error


def greet(now: Performed, printer: Printer) -> None:
    """Which trace it is, and what it was recorded with."""
    printer.lines(paragraph(f"trace {safe(now.name)}", then=""))
    if words := recorded_words(now.story):
        printer.lines(paragraph(words, then=""))
    printer.line()


def tell_status(now: Performed, printer: Printer) -> int:
    """The last line; returns the exit code."""
    printer.line()
    word, code, colour = WORDS[now.status]
    printer.strong(f"{word}  {safe(now.name)}: {safe(now.sentence)}", word, colour)
    return code


def check_trace(trace: Mapping[str, Any]) -> None:
    """Replays `trace`, for a test: AssertionError, with its story, unless model and store agree all along.

    A trace that has drifted is an error, too: it no longer shows what it was kept for. NoTraceError if it
    can't be read.
    """
    __tracebackhide__ = True
    now = perform(trace)
    if now.status != "fixed":
        word = WORDS[now.status][0]
        told = [f"{word}  {safe(now.name)}: {safe(now.sentence)}", "", *render_story(now.story)]
        raise AssertionError("\n".join(told))
