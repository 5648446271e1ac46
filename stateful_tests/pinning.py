"""Adds a trace to the pinned corpus: walked again today, told with a reason, refused if it is there already.

What is pinned is what model and store agree upon now, so that a later disagreement is news. A trace on which
they don't agree may be pinned, too, if that is asked for: the checks are violated then until it is mended.
Nothing is written here unless everything about the trace is in order.
"""

import json
import re
from pathlib import Path
from typing import Final

from attrs import evolve, frozen

from stateful_tests.pinned import LEDGERS
from stateful_tests.replay import ReplayResult, replay
from stateful_tests.system import COORDINATOR, system_named
from stateful_tests.trace import Trace, TraceError, load, record, save

SHORTEST_REASON: Final = 20
_NAME: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
LONGEST_NAME: Final = 80


class PinError(ValueError):
    """The trace can't be pinned as asked. The message says why, and what to do; `standing` is how the trace
    stands today (`failing` or `drifted`) where that is the reason."""

    def __init__(self, told: str, standing: str = "") -> None:
        super().__init__(told)
        self.standing = standing


@frozen
class Pinned:
    """Where the trace stands now, under which name, and how it stood when it was walked again."""

    path: Path
    name: str
    result: ReplayResult


def pin(
    trace: Trace, *, reason: str, directory: Path, name: str | None = None, failing: bool = False
) -> Pinned:
    """Walks `trace` again and writes it to `directory`. PinError if it can't be pinned; OSError if it can't
    be written. `failing` allows one on which model and store differ today."""
    why = reason_of(reason)
    called = _called(trace, name)
    _not_there_yet(trace, called, directory)
    system = system_named(trace.system)
    result = replay(trace, judge=system.judge)
    if result.status == "drifted" and result.divergence is None:
        at = "" if result.index is None else f" at step {result.index + 1}"
        told = f"it no longer fits{at}: {result.sentence}; record it again before it is pinned"
        raise PinError(told, "drifted")
    if result.divergence is not None and not failing:
        raise PinError(
            f"it still fails at step {result.divergence.index + 1}: {result.sentence}; mend the store first, "
            "or pin it with --failing: every check is violated then until it is mended",
            "failing",
        )
    made = record(called, with_what_it_showed(why, trace.clause), result.records, system=system)
    steps = tuple(evolve(step, disk=None) for step in made.steps)
    kept = evolve(made, steps=steps, initial=trace.initial)
    path = directory / f"{called}.json"
    save(kept, path)
    return Pinned(path, called, result)


def reason_of(reason: str) -> str:
    """`reason` on one line. PinError if it says nothing."""
    why = " ".join(reason.split())
    if len(why) <= SHORTEST_REASON:
        raise PinError(
            f"the reason {why!r} is too short: say in a sentence what the trace shows, so that somebody who "
            "sees it fail in a year knows what broke"
        )
    return why


def with_what_it_showed(why: str, clause: str | None) -> str:
    return f"{why.rstrip('.')}. Once it showed a violation of: {clause}" if clause else why


def slug(name: str) -> str:
    """`name` in the form of the corpus' names. PinError if nothing is left of it."""
    made = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:LONGEST_NAME].strip("-")
    if not made:
        raise PinError(f"{name!r} makes no name for a pinned trace; give it one with --name")
    return made


def named(name: str) -> str:
    """`name`, which was given. PinError if it is no name for a pinned trace."""
    if not _NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        raise PinError(f"{name!r} is no name for a pinned trace: lower-case words joined by '-' make one")
    return name


def _called(trace: Trace, name: str | None) -> str:
    """A file name's stem; those of the second system begin with its prefix."""
    called = slug(trace.name) if name is None else named(name)
    if trace.system != COORDINATOR and not called.startswith(LEDGERS):
        called = f"{LEDGERS}{called}"
    if trace.system == COORDINATOR and called.startswith(LEDGERS):
        raise PinError(f"names that begin with {LEDGERS!r} are those of the ledger's traces; choose another")
    return called


def _not_there_yet(trace: Trace, called: str, directory: Path) -> None:
    wanted = _story(trace)
    for path in sorted(directory.glob("*.json")):
        if path.stem == called:
            raise PinError(f"a trace named {called!r} is pinned already; give this one another with --name")
        try:
            other = load(path)
        except TraceError as error:
            raise PinError(f"the corpus has a trace that can't be read: {error}") from error
        if _story(other) == wanted:
            raise PinError(f"the same actions are pinned already, as {path.stem!r}: {other.why}")


def _story(trace: Trace) -> str:
    """Equal for traces that do the same from the same beginning."""
    system = system_named(trace.system)
    actions = [system.action_to_json(action) for action in trace.actions]
    return json.dumps([trace.system, dict(trace.initial), actions], sort_keys=True)
