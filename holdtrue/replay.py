"""`holdtrue replay`: a counterexample from its file, walked again by model and store as they are today.

Needs no Hypothesis, no database, no run folder. The last line says FIXED (exit 0), STILL FAILING (1) or
DRIFTED (3): something else happened than was recorded, so the trace no longer tells what it was kept for.
What can't be read as a trace is a usage error (2). It works in a directory of its own and removes it.
"""

import json
import os
import stat
from pathlib import Path
from typing import Any

from holdtrue.exits import Exit, UsageError
from holdtrue.out import Printer
from reports.plain import paragraph, safe
from reports.story import render_story

LARGEST = 64 * 1024 * 1024
"""Bytes. A trace has a few thousand; whatever is larger than this is none."""

WORDS = {
    "fixed": ("FIXED", Exit.PASSED, "32"),
    "failing": ("STILL FAILING", Exit.VIOLATED, "31"),
    "drifted": ("DRIFTED", Exit.INCONCLUSIVE, "33"),
}


def replay_command(options: object) -> int:
    """`holdtrue replay` as the command line asks for it."""
    trace = vars(options)["trace"]
    if not trace:
        raise UsageError("an empty path names no trace file")
    return replay_file(Path(trace), Printer())


def replay_file(path: Path, printer: Printer) -> int:
    """Replays the trace in `path`, prints its story and how it stands; returns the exit code."""
    data = read_json(path)
    if isinstance(data, dict) and data.get("kind") == "kill":
        return _replay_kill(path, data, printer)
    if isinstance(data, dict) and "verdict" in data and "phases" in data:
        raise UsageError(
            f"{str(path)!r} is the summary of a run; the traces of what it found stand in traces/ beside it"
        )
    from stateful_tests.replay import replay
    from stateful_tests.system import system_named
    from stateful_tests.trace import TraceError, from_json

    try:
        trace = from_json(data)
    except TraceError as error:
        raise UsageError(f"{path}: {error}") from error
    _whole(path, data)
    system = system_named(trace.system)
    result = replay(trace, judge=system.judge)
    story = {
        "system": trace.system,
        "why": trace.why,
        "initial": dict(trace.initial),
        "steps": [
            {
                "action": system.action_to_json(step.action),
                "expected": system.outcome_to_json(record.expected),
                "observed": record.observed and record.observed.to_json(),
            }
            for record, step in zip(result.records, trace.steps, strict=False)
        ],
        "divergence": result.divergence and result.divergence.to_json(),
    }
    where = f"step {result.index + 1}: " if result.index is not None else ""
    _show(printer, trace.name, story, result.status, where + result.sentence)
    return WORDS[result.status][1]


def _whole(path: Path, data: Any) -> None:
    """UsageError if there is nothing to replay, or not the step that differed: that would look fixed."""
    steps, found = data["steps"], data.get("divergence")
    if not steps:
        raise UsageError(f"{str(path)!r} has no steps: there is nothing to replay")
    index = found.get("index") if isinstance(found, dict) else None
    if isinstance(index, int) and index >= len(steps):
        raise UsageError(
            f"{str(path)!r} ends after step {len(steps)}, before step {index + 1}, which differed: it was "
            "cut off or edited; fetch it again"
        )


def _show(printer: Printer, name: str, story: Any, status: str, sentence: str) -> None:
    printer.lines(paragraph(f"trace {safe(name)}", then=""))
    printer.lines(render_story(story))
    printer.line()
    word, _, colour = WORDS[status]
    printer.strong(f"{word}  {safe(name)}: {safe(sentence)}", word, colour)


def _replay_kill(path: Path, data: dict[str, Any], printer: Printer) -> int:
    from crash_tests.replays import replay_trace
    from crash_tests.stories import StoryError

    try:
        result = replay_trace(data)
    except StoryError as error:
        raise UsageError(f"{path}: {error}") from error
    now = result.violation
    story = {**data, "violation": now and now.to_json(), "clause": now and now.clause}
    _show(printer, str(data.get("name")), story, result.status, result.sentence)
    return WORDS[result.status][1]


def read_json(path: Path) -> Any:
    """The JSON in `path`. UsageError, at once, for what is no regular file, no JSON, or far too large."""
    try:
        # A FIFO would block an opening for reading until someone writes: O_NONBLOCK, then look.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        told = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(
            f"{str(path)!r} can't be opened: {told}. Traces of a check stand in its run folder, "
            "reports/out/<run>/traces/."
        ) from error
    try:
        entry = os.fstat(descriptor)
        if not stat.S_ISREG(entry.st_mode):
            raise UsageError(f"{str(path)!r} is {_kind(entry.st_mode)}; a trace is a regular file")
        if entry.st_size > LARGEST:
            raise UsageError(f"{str(path)!r} has {entry.st_size} bytes; no trace is as large as that")
        with os.fdopen(os.dup(descriptor), "rb") as file:
            raw = file.read()
    finally:
        os.close(descriptor)
    try:
        return json.loads(raw.decode("utf-8"))
    except json.JSONDecodeError as error:
        raise UsageError(
            f"{str(path)!r} is no JSON: line {error.lineno}, column {error.colno}: {error.msg}. "
            "It was cut off or edited; fetch it again."
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{str(path)!r} is no trace: byte {error.start} is no UTF-8 text") from error
    except (RecursionError, ValueError) as error:
        raise UsageError(
            f"{str(path)!r} is no trace: nested too deeply, or a number beyond all bounds"
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
