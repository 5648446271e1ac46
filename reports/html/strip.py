"""A strip of the disk steps of one publication, with the place marked at which a process was killed.

Drawn for the last kill (or failing step) of a trace, where the point is one of a publication's; for others
the timeline says it in words alone. It shows where the point lies among the steps that a publication takes
if nothing happens, not which steps this very process took.
"""

from collections.abc import Mapping
from typing import Any

from reports.html.disksteps import PUBLICATIONS, step_of
from reports.html.markup import Html, el, join, text
from reports.plain import safe

_WIDTH, _HEIGHT, _GAP = 104, 30, 12
_SIGN = "M-6-6L6 6M6-6L-6 6"


def strip(trace: Mapping[str, Any]) -> Html | None:
    """The strip of a kill's trace (any JSON); none if it is about no point of a publication."""
    point, verb, arrival = _struck(trace)
    step, moment = step_of(point)
    steps = next((steps for steps in PUBLICATIONS if step in steps and _fits(trace, steps)), None)
    if steps is None:
        return None
    at = steps.index(step)
    x = {"before": at * (_WIDTH + _GAP) - _GAP / 2, "torn": at * (_WIDTH + _GAP) + _WIDTH / 2}.get(
        moment, at * (_WIDTH + _GAP) + _WIDTH + _GAP / 2
    )
    told = f"{verb} at {safe(point, 60)}{arrival}: " + _in_words(steps, at, moment)
    boxes = [
        _box(index, name, index < at or (index == at and moment == "after"))
        for index, name in enumerate(steps)
    ]
    sign = el(
        "g",
        el("line", x1=x, x2=x, y1=4, y2=54),
        el("circle", cx=x, cy=60, r=10),
        el("path", d=_SIGN, transform=f"translate({x:g} 60) scale(.7)"),
        class_="kill",
    )
    width = len(steps) * (_WIDTH + _GAP) - _GAP
    drawn = el(
        "svg",
        *boxes,
        sign,
        viewBox=f"-16 0 {width + 32} 74",
        width=str(width + 32),
        height="74",
        class_="strip",
        aria_hidden="true",
        focusable="false",
    )
    figure = el(
        "div", drawn, class_="scrolls", role="group", tabindex="0", aria_label="the steps of a publication"
    )
    return join([el("h4", "Where it struck"), el("figure", figure, el("figcaption", text(told)))])


def _struck(trace: Mapping[str, Any]) -> tuple[str, str, str]:
    """The point, what happened there, and at which arrival, unless it was the first."""
    fault, kills = trace.get("fault"), trace.get("kills")
    place, verb = fault, "The disk failed"
    if isinstance(kills, list) and kills and isinstance(kills[-1], Mapping):
        place, verb = kills[-1], "Killed"
    if not isinstance(place, Mapping):
        return "", "", ""
    n = place.get("n")
    return str(place.get("point", "")), verb, f", arrival {n}" if isinstance(n, int) and n > 1 else ""


def _fits(trace: Mapping[str, Any], steps: tuple[str, ...]) -> bool:
    """Locks are taken by both systems: the strip must be that of the trace's."""
    return ("ledger-append" in steps) == (trace.get("system") == "ledger")


def _in_words(steps: tuple[str, ...], at: int, moment: str) -> str:
    if moment == "torn":
        return f"half-way through {steps[at]}, which is step {at + 1} of {len(steps)} of a publication."
    done = at + 1 if moment == "after" else at
    last = f"{steps[done - 1]} was done" if done else "nothing was done yet"
    todo = f"{steps[done]} was not" if done < len(steps) else "nothing was left to do"
    return f"{last}, {todo} ({done} of {len(steps)} steps of a publication)."


def _box(at: int, name: str, done: bool) -> Html:
    x = at * (_WIDTH + _GAP)
    return el(
        "g",
        el("rect", x=str(x), y="14", width=str(_WIDTH), height=str(_HEIGHT), rx="4"),
        el("text", name, x=str(x + _WIDTH / 2), y="33", text_anchor="middle"),
        class_="done" if done else "undone",
    )
