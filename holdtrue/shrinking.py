"""`holdtrue replay --shrink`: a shorter trace that fails in the same way, without Hypothesis or its database.

Delta debugging on the trace alone (`stateful_tests.shrink`, `crash_tests.shorten`), and deterministic: the
same trace, store and number of tries give the same result. A trace that doesn't fail today is left alone, and
the exit code says how it stands. What is written was performed, and fails; no shorter one is promised.
"""

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from holdtrue.exits import Exit, UsageError
from holdtrue.out import Printer
from holdtrue.performing import Performed, perform
from holdtrue.replay import WORDS, greet, read_and_perform, tell_status
from holdtrue.runfolder import shown
from holdtrue.writable import file_for
from model.values import JSON
from reports.kill_story import kill_rows
from reports.plain import paragraph, safe
from reports.story import render_story, start_of
from reports.words import Names

TRIES = 2000
TRIES_OF_A_KILL = 200


@frozen
class Shorter:
    """A shorter trace as JSON, its length in steps, how many tries it took, and whether those were all."""

    trace: Mapping[str, JSON]
    length: int
    tries: int
    exhausted: bool


def shrink_file(path: Path, printer: Printer, *, into: Path | None, tries: int | None = None) -> int:
    """Shrinks the trace in `path`, writes what was found to `into`, and says how far it got.

    Returns the exit code of the trace as it stands now: 1, it still fails.
    """
    target = _target(path, into)
    now = read_and_perform(path)
    greet(now, printer)
    if WORDS[now.status][1] is not Exit.VIOLATED:
        printer.line(f"There is nothing to shrink: the trace does not fail {_today(now)}.")
        return tell_status(now, printer)
    found = _shrunk(now, tries)
    if found is None:
        printer.line("A race or a tampering can't be made shorter: it is one thing that happens.")
        return tell_status(now, printer)
    before = length_of(now.story)
    if found.length >= before:
        told = f"{_steps(before)}, and nothing shorter was found in {found.tries:,} tries; {_ended(found)}"
        printer.lines(paragraph(told, then=""))
        return tell_status(now, printer)
    _write(target, found.trace)
    again = perform(found.trace)
    printer.lines(render_story(again.story))
    printer.line()
    printer.line(f"from {_steps(before)} to {found.length}, in {found.tries:,} tries; {_ended(found)}")
    printer.line(f"written: {safe(shown(target), 4096)}")
    return tell_status(again, printer)


def length_of(story: Mapping[str, Any]) -> int:
    """The number of steps, as the story's table shows them."""
    if story.get("kind") == "kill":
        return len(kill_rows(story, Names(start_of(story))))
    steps = story.get("steps")
    return len(steps) if isinstance(steps, list) else 0


def _shrunk(now: Performed, tries: int | None) -> Shorter | None:
    if now.story.get("kind") == "kill":
        return _kill(now, tries or TRIES_OF_A_KILL)
    return _walk(now, tries or TRIES)


def _walk(now: Performed, tries: int) -> Shorter:
    from stateful_tests import replay
    from stateful_tests.shrink import shrink
    from stateful_tests.system import system_named
    from stateful_tests.trace import from_json, record

    story = {name: value for name, value in now.story.items() if name != "drifted_at"}
    trace = from_json(story)
    system, world = system_named(trace.system), trace.world()
    found = trace.divergence
    assert isinstance(found, dict)
    wanted = tuple(found[name] for name in ("kind", "clause", "name"))

    def walked(actions: Sequence[Any]) -> tuple[Any, ...]:
        return replay.run(actions, world=world, judge=system.judge, system=system)

    def fails(actions: Sequence[Any]) -> bool:
        try:
            seen = walked(actions)
        except LookupError:
            return False
        last = seen[-1].divergence if seen else None
        return last is not None and last.signature == wanted

    shrunk = shrink(trace.actions, fails, budget=tries, system=system)
    made = record(trace.name, trace.why, walked(shrunk.actions), system=system)
    made = evolve(
        made, seed=trace.seed, profile=trace.profile, versions=trace.versions, initial=trace.initial
    )
    return Shorter(made.to_json(), len(made.steps), shrunk.tries, shrunk.exhausted)


def _kill(now: Performed, tries: int) -> Shorter | None:
    from crash_tests.shorten import TOLD_AS_A_STORY, shortened

    if now.story.get("trial") not in TOLD_AS_A_STORY:
        return None
    found = shortened(now.story, tries=tries)
    if found is None:
        return Shorter(now.story, length_of(now.story), 1, exhausted=False)
    trace = found.story.to_json()
    return Shorter(trace, length_of(trace), found.tries, found.exhausted)


def _target(path: Path, into: Path | None) -> Path:
    """Where to write. A file that is named may be there already; one that isn't must not be."""
    if into is None:
        target = Path(f"{path.stem}-shrunk.json")
        if target.exists():
            raise UsageError(f"{str(target)!r} is there already; say with -o where to write")
        file_for(target, "-o", replaced=True)
        return target
    if not os.fspath(into) or into.is_dir() or not into.parent.is_dir():
        raise UsageError(f"-o {str(into)!r}: name a file in a directory that is there")
    file_for(into, "-o", replaced=True)
    return into


def _write(path: Path, trace: Mapping[str, JSON]) -> None:
    text = json.dumps(trace, indent=1, ensure_ascii=True) + "\n"
    fresh = ""
    try:
        descriptor, fresh = tempfile.mkstemp(prefix=".holdtrue-", dir=path.parent)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(text)
        Path(fresh).chmod(0o644)
        Path(fresh).replace(path)
    except OSError as error:
        if fresh:
            Path(fresh).unlink(missing_ok=True)
        raise UsageError(f"{str(path)!r} can't be written: {error.strerror}") from error


def _ended(found: Shorter) -> str:
    if found.exhausted:
        return "the tries were used up: --tries N allows more"
    return "no step of it can be left out any more"


def _today(now: Performed) -> str:
    return "in the way it was recorded" if WORDS[now.status][1] is Exit.INCONCLUSIVE else "today"


def _steps(count: int) -> str:
    return f"{count} step{'' if count == 1 else 's'}"
