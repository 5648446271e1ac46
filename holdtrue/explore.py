"""`holdtrue explore`: every world that a model can reach within bounds, and what is true of all of them.

The model alone is explored: no store takes part. Passed means that the whole of the bounded space was seen,
every property was put to the test in it, and none was broken. What the bounds leave out was not looked at.
"""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdtrue.exits import Exit, UsageError
from holdtrue.options.exploring import BOUNDS, MEMORY_MB, SYSTEMS
from holdtrue.out import Printer
from holdtrue.worlds import World, chosen, facets_of
from holdtrue.writable import file_for
from reports.plain import grid, paragraph, safe

if TYPE_CHECKING:
    from model.explorer.findings import Exploration
    from model.explorer.properties import Trace

EVERY_S = 10.0
COLOURS = {"PASSED": "32", "VIOLATED": "31", "INCONCLUSIVE": "33"}
CODES = {"PASSED": Exit.PASSED, "VIOLATED": Exit.VIOLATED, "INCONCLUSIVE": Exit.INCONCLUSIVE}


def explore_command(options: object) -> int:
    """`holdtrue explore` as the command line asks for it."""
    asked = vars(options)
    printer = Printer()
    if asked["list"]:
        return _list(printer)
    _writable(asked)
    return explore(chosen(asked), asked, printer)


def explore(world: World, asked: Mapping[str, Any], printer: Printer) -> int:
    """Explores `world` and prints what came of it; returns the exit code."""
    from reports import explored as told
    from stateful_tests.exploring.rate import calibration

    if asked["property"] is not None and asked["property"] not in {each.id for each in world.properties}:
        known = ", ".join(each.id for each in world.properties)
        raise UsageError(f"--property {asked['property']!r}: this world is asked for {known}")
    about = f"{asked['system']}, {world.name}: {safe(world.about)}"
    printer.lines(paragraph(about, first="model        ", then=" " * 13))
    printer.lines(told.bounds_lines(world.bounds))
    explored = _run(world, asked, printer)
    printer.lines(list(told.sizes(explored, calibration_s=calibration())))
    if explored.verdicts:
        printer.lines(["", *told.property_table(explored.verdicts)])
    printer.lines(list(told.counterexamples(explored, world.space)))
    if asked["property"] is not None:
        printer.lines(_property(explored, world, asked["property"]))
    try:
        written, refused = _write(explored, world, asked)
    except UsageError as error:  # the verdict is told first
        written, refused = [], str(error)
    word, line = told.verdict_line(explored)
    printer.line()
    printer.lines(written)
    if word != "PASSED":
        printer.line(f"again: {_again(asked)}")
    if not explored.complete:
        printer.line(f"for more: raise {_limit(explored.reason)}, or take smaller bounds")
    printer.strong(line, word, COLOURS[word])
    if refused:
        raise UsageError(refused)
    return CODES[word]


def _list(printer: Printer) -> int:
    rows = []
    for system in SYSTEMS:
        for facet in facets_of(system).values():
            rows.append([system, facet.name, facet.about])
    printer.lines(grid(["model", "facet", "what it is about"], rows, (11, 16, 49)))
    return Exit.PASSED


def _run(world: World, asked: Mapping[str, Any], printer: Printer) -> "Exploration[Any, Any]":
    from model.explorer.budget import Budget
    from model.explorer.packed import explore as explore_packed

    said = started = time.monotonic()

    def each_level(depth: int, states: int) -> None:
        nonlocal said
        if time.monotonic() - said >= EVERY_S:
            said = time.monotonic()
            printer.line(f"so far       depth {depth}, {states:,} worlds, {said - started:.0f} s")

    return explore_packed(
        world.space,
        world.properties,
        reduce=not asked["without_symmetry"],
        budget=Budget(
            states=asked["states"],
            seconds=asked["time_budget"],
            bytes=asked["memory"] * 1_000_000,
            depth=asked["depth"],
            clock=time.process_time,
        ),
        edges=True,
        each_level=each_level,
    )


def _property(explored: "Exploration[Any, Any]", world: World, name: str) -> list[str]:
    from reports.explored import trace_lines

    verdict = explored.verdict(name)
    lines = ["", f"{safe(name)}: {verdict.verdict}; {safe(verdict.sentence)}"]
    if verdict.trace is None:
        return [
            *lines,
            "  no single trace shows it" + (f": {safe(verdict.reason)}" if verdict.reason else ""),
        ]
    return [*lines, *trace_lines(world.space, verdict.trace)]


def _write(
    explored: "Exploration[Any, Any]", world: World, asked: Mapping[str, Any]
) -> tuple[list[str], str | None]:
    """Writes what was asked for; what was written, and why something could not be."""
    from model.explorer.drawing import MOST, graphml, svg
    from model.explorer.itf import itf

    written: list[str] = []
    graph = explored.graph
    assert graph is not None
    if asked["itf"] is not None:
        trace, about = _trace(explored, world, asked["property"])
        text = itf(trace, source=f"holdtrue explore {asked['system']}, {world.name}", description=about)
        written.append(_put(Path(asked["itf"]), text, "--itf", f"trace: {about}"))
    if asked["graph"] is None:
        return written, None
    if graph.edges > MOST_EDGES:
        return written, (
            f"--graph: {graph.edges:,} transitions are too many for a file to look at, more than "
            f"{MOST_EDGES:,}; take smaller bounds or another facet"
        )
    text_file, picture = _drawn(asked["graph"])
    written.append(_put(text_file, graphml(graph), "--graph", "GraphML"))
    if graph.nodes > MOST:
        return written, (
            f"--graph: {graph.nodes:,} worlds are too many to be drawn, at most {MOST} are; the GraphML is "
            "written; for a picture take smaller bounds, another facet, or a --depth"
        )
    title = f"holdtrue explore {asked['system']}, {world.name}"
    written.append(_put(picture, svg(graph, title=title), "--graph", "picture"))
    return written, None


MOST_EDGES = 100_000
"""Transitions that networkx writes in some seconds; a file of more than that is nothing to look at."""


def _trace(
    explored: "Exploration[Any, Any]", world: World, name: str | None
) -> "tuple[Trace[Any, Any], str]":
    """The trace to be written, and what it shows."""
    from model.explorer.replaying import replay

    verdicts = explored.violated if name is None else (explored.verdict(name),)
    for verdict in verdicts:
        if verdict.trace is not None:
            return verdict.trace, f"{verdict.id}: {verdict.verdict}"
    graph = explored.graph
    assert graph is not None
    way = graph.way_to(graph.nodes - 1)
    start = graph.states[way[0].source if way else graph.nodes - 1]
    labels = [(edge.label, graph.states[edge.target]) for edge in way]
    return replay(
        world.space, graph.symmetry, start, labels
    ), "the way to a world that is farthest from the start"


def _writable(asked: Mapping[str, Any]) -> None:
    """Says at once what would only show after the exploration."""
    for name in ("graph", "itf"):
        if asked[name] is not None:
            if not asked[name]:
                raise UsageError(f"--{name} '' names no file")
            file_for(Path(asked[name]), f"--{name}")
    for path in _drawn(asked["graph"]) if asked["graph"] is not None else ():
        file_for(path, "--graph")


def _drawn(name: str) -> tuple[Path, Path]:
    """The two files of a graph of that name: GraphML and the picture."""
    base = Path(name)
    base = base.with_suffix("") if base.suffix in (".graphml", ".svg") else base
    return base.with_name(base.name + ".graphml"), base.with_name(base.name + ".svg")


def _put(path: Path, text: str, option: str, what: str) -> str:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{option}: {str(path)!r} can't be written: {error.strerror}") from error
    return f"written: {safe(path, 4096)} ({what})"


def _limit(reason: str) -> str:
    """The option that ended an exploration for this reason."""
    words = {" MB ": "--memory", " states ": "--states", " transitions ": "--depth"}
    return next((option for word, option in words.items() if word in reason), "--time-budget")


def _again(asked: Mapping[str, Any]) -> str:
    """The command that does the same."""
    import shlex

    words = ["holdtrue", "explore", asked["system"]]
    for name in ("facet", *BOUNDS, "depth", "states", "time_budget", "property"):
        value = asked[name]
        if value is not None:
            words += [
                f"--{name.replace('_', '-')}",
                ",".join(map(str, value)) if isinstance(value, tuple) else str(value),
            ]
    for name in asked["drop"] or ():
        words += ["--drop", name]
    if asked["memory"] != MEMORY_MB:
        words += ["--memory", str(asked["memory"])]
    if asked["without_symmetry"]:
        words.append("--without-symmetry")
    return shlex.join(words)
