"""An exploration told to a person: its size, a table of properties, and counterexamples as differences."""

from collections.abc import Iterator, Mapping
from typing import Any

from model.explorer.differences import differences, told_state
from model.explorer.findings import Exploration
from model.explorer.properties import Trace, Verdict
from model.explorer.space import Label, Space
from reports.plain import COLUMNS, grid, paragraph, safe, wrap

MOST_OF_A_VALUE = 150
MOST_SHOWN = 3
"""Counterexamples shown; the others are in the table."""


def sizes(explored: Exploration[Any, Any], *, calibration_s: float) -> Iterator[str]:
    """How much was explored, and how fast. `calibration_s` are the seconds of ten million additions."""
    stands, also = "", ""
    if explored.full_states != explored.states:
        stands = f", up to names; they stand for {explored.full_states:,}"
        also = f", up to names; they stand for {explored.full_transitions:,}"
    yield f"worlds       {explored.states:,}{stands}"
    yield f"transitions  {explored.transitions:,}{also}"
    yield f"depth        {explored.depth} steps to the farthest world"
    rules = len({rule for rule, _ in explored.taken}) + len(explored.dead)
    yield f"actions      {rules}, of which {len(explored.dead) or 'none'} could never happen"
    for name in explored.dead:
        yield f"             - never: {safe(name)}"
    yield f"outcomes     {len(explored.taken):,} pairs of an action and what came of it"
    if explored.seconds:
        rate = explored.states / explored.seconds
        yield (
            f"CPU time     {explored.seconds:.1f} s: {rate:,.0f} worlds/s; "
            f"the model was asked {explored.fired:,} times"
        )
        yield f"             ten million additions in Python took {calibration_s:.2f} s meanwhile"


def property_table(verdicts: tuple[Verdict[Any, Any], ...]) -> list[str]:
    """Every property with its verdict, and in how many cases it was put to the test."""
    rows = []
    for each in verdicts:
        told = f"{safe(each.id)}: {safe(each.sentence)}"
        if each.reason:
            told += f" ({safe(each.reason)})"
        elif each.trace is not None:
            told += f" (shown in {len(each.trace.moves)} steps)"
        verdict = "not tested" if untested(each) else each.verdict
        rows.append([verdict, f"{each.cases:,}" if each.cases else "-", told])
    lines = grid(["verdict", "cases", "property"], rows, (12, 9, 55))
    return [
        f"{line[:14]}{line[14:23].strip():>9}{line[23:]}" if line[:12].strip() else line for line in lines
    ]


def untested(verdict: Verdict[Any, Any]) -> bool:
    """Whether it holds only because nothing could break it here, and the facet says so."""
    return verdict.verdict == "holds" and not verdict.cases


def trace_lines(space: Space[Any, Any], trace: Trace[Any, Any]) -> Iterator[str]:
    """A trace: where it starts, then each step with what it changed."""
    word = space.slot_word
    yield "  at first"
    for line in told_state(trace.start, slot=word).split("\n"):
        yield from paragraph(safe(line, 1000), first="       ", then="         ")
    before = trace.start
    for number, move in enumerate(trace.moves, start=1):
        yield from paragraph(
            f"{safe(named(move.label, word))}: {safe(move.outcome)}", first=f"  {number:>3}  ", then="       "
        )
        changed = differences(before, move.state, slot=word)
        for each in changed:
            values = f"{safe(each.before, MOST_OF_A_VALUE)} → {safe(each.after, MOST_OF_A_VALUE)}"
            yield from paragraph(f"{safe(each.path)}: {values}", first="         ", then="           ")
        if not changed:
            yield "         (nothing changes)"
        before = move.state


def named(label: Label, slot_word: str) -> str:
    """A label as people say it."""
    return label.rule if label.slot is None else f"{label.rule} on {slot_word}{label.slot + 1}"


def counterexamples(explored: Exploration[Any, Any], space: Space[Any, Any]) -> Iterator[str]:
    """The shortest traces to what is broken."""
    broken = explored.violated
    for verdict in broken[:MOST_SHOWN]:
        yield ""
        yield from paragraph(f"broken: {safe(verdict.id)}: {safe(verdict.sentence)}", then="  ")
        if verdict.trace is None:
            yield f"  {safe(verdict.reason)}"
        else:
            yield from trace_lines(space, verdict.trace)
    if len(broken) > MOST_SHOWN:
        yield ""
        yield f"and {len(broken) - MOST_SHOWN} more, each shown by --property ID"


def bounds_lines(bounds: Mapping[str, Any]) -> list[str]:
    """Declared bounds, on as many lines as they take."""
    shown = {name: value for name, value in bounds.items() if name != "untested"}
    told = "; ".join(f"{name.replace('_', ' ')} {_bound(value)}" for name, value in shown.items())
    lines = wrap(safe(told, 2000), COLUMNS - 13)
    return [f"{'' if number else 'bounds':<13}{line}".rstrip() for number, line in enumerate(lines)]


def _bound(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple | list):
        return ", ".join(_bound(each) for each in value) or "none"
    return str(value)


def verdict_line(explored: Exploration[Any, Any]) -> tuple[str, str]:
    """The verdict's word, and the whole line that begins with it."""
    many = len(explored.verdicts)
    broken = [verdict.id for verdict in explored.violated]
    open_ones = [verdict.id for verdict in explored.verdicts if verdict.verdict == "inconclusive"]
    if broken:
        return "VIOLATED", f"VIOLATED  {_some(broken)}: {len(broken)} of {many} properties"
    if not explored.complete:
        return "INCONCLUSIVE", f"INCONCLUSIVE  nothing found, but not all was seen: {explored.reason}"
    if open_ones:
        return "INCONCLUSIVE", f"INCONCLUSIVE  never seen or put to the test: {_some(open_ones)}"
    if explored.dead:
        return "INCONCLUSIVE", f"INCONCLUSIVE  never could happen: {_some(list(explored.dead))}"
    if not many:
        return "PASSED", f"PASSED  all {explored.states:,} worlds seen; nothing was asked of them"
    whole = f"{explored.full_states:,}" if explored.reduced else f"{explored.states:,}"
    idle = sum(map(untested, explored.verdicts))
    hold = f"all {many} properties hold" if not idle else f"{many - idle} of {many} properties hold"
    rest = f"; {idle} not tested" if idle else ""
    return "PASSED", f"PASSED  {hold} in all {whole} worlds{rest}"


def _some(names: list[str]) -> str:
    shown = ", ".join(safe(name) for name in names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"
