"""Explorations: which small worlds of the model were looked at in full, and how much of each was walked on
the real store.

Shapes are taken as they come: an exploration is a JSON object whose fields may be missing.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from reports.html.markup import Child, Html, code, el, join, text
from reports.html.parts import MOODS, bullets, many, mark, note, opens, section, table

_BAR = 220


def explored(results: Mapping[str, Any]) -> Html:
    """States and transitions of each space, then its tours, kills, properties and rules that never fired."""
    listed = [one for one in results.get("explorations") or [] if isinstance(one, Mapping)]
    title = "States and transitions"
    if not listed:
        return section(
            "explored",
            title,
            note(
                "No world was explored exhaustively in this run: what was seen was drawn at random or "
                "scripted."
            ),
        )
    header: list[Child] = [
        "space",
        "verdict",
        "states",
        "up to symmetry",
        "transitions",
        "depth",
        "toured",
        "kills",
    ]
    rows = [_row(one) for one in listed]
    spaces = table(
        "Worlds of the model that were explored",
        header,
        rows,
        numbers=frozenset(range(2, 8)),
        class_="explored",
    )
    return section(
        "explored",
        title,
        note(
            "A space is a small world of the model within stated bounds. If it was exhausted, each state "
            "that can be reached in it was, and every property was judged in every one. Tours walk its "
            "transitions on the real store."
        ),
        spaces,
        _bars(listed),
        *(_details(one) for one in listed),
    )


def _row(one: Mapping[str, Any]) -> list[Child]:
    verdict = str(one.get("verdict") or "not explored")
    tours, kills = _object(one.get("tours")), _object(one.get("kills"))
    return [
        join([text(one.get("system", ""), 40), " ", text(one.get("space", ""), 40)]),
        mark("exhausted, all hold" if verdict == "holds" else verdict, MOODS.get(verdict, "odd")),
        *(_number(one.get(key)) for key in ("states", "orbits", "transitions", "depth")),
        f"{_number(tours.get('taken'))} of {_number(tours.get('transitions'))}" if tours else "\N{EN DASH}",
        _number(kills.get("points")) if kills else "\N{EN DASH}",
    ]


def _bars(listed: Sequence[Mapping[str, Any]]) -> Html | None:
    """How much of each space was walked on the real store, as bars; the table above has the figures."""
    shares = []
    for one in listed:
        tours = _object(one.get("tours"))
        taken, whole = tours.get("taken"), tours.get("transitions")
        if isinstance(taken, int) and isinstance(whole, int) and whole > 0:
            shares.append((f"{one.get('system', '')} {one.get('space', '')}"[:40], min(1.0, taken / whole)))
    if not shares:
        return None
    bars = []
    for at, (name, share) in enumerate(shares):
        y = 6 + 24 * at
        bars += [
            el("text", name, x="178", y=str(y + 12), text_anchor="end"),
            el("rect", x="186", y=str(y), width=str(_BAR), height="16", class_="whole"),
            el("rect", x="186", y=str(y), width=f"{share * _BAR:.1f}", height="16", class_="part"),
            el("text", f"{share:.1%}", x=str(194 + _BAR), y=str(y + 12)),
        ]
    height = 12 + 24 * len(shares)
    drawn = el(
        "svg",
        el("title", "Transitions that were walked on the real store", id="toured-t"),
        el("desc", "The share of each space's transitions; the table above has the numbers.", id="toured-d"),
        *bars,
        viewBox=f"0 0 480 {height}",
        width="480",
        height=str(height),
        class_="bars",
        role="img",
        aria_labelledby="toured-t toured-d",
    )
    return el(
        "figure", drawn, el("figcaption", "Share of the transitions that were walked on the real store.")
    )


def _details(one: Mapping[str, Any]) -> Html:
    bounds = _object(one.get("bounds"))
    rows: list[list[Child]] = [
        [
            code(each.get("id", ""), 80),
            text(each.get("sentence", ""), 300),
            text(each.get("kind", ""), 20),
            mark(each.get("verdict", ""), MOODS.get(str(each.get("verdict")), "odd")),
            text(each.get("detail", ""), 200),
        ]
        for each in one.get("properties") or []
        if isinstance(each, Mapping)
    ]
    dead = [code(name, 80) for name in (one.get("dead_rules") or [])[:50]]
    name = f"{one.get('system', '')} {one.get('space', '')}"[:80]
    kills = _object(one.get("kills"))
    return opens(
        f"The {name} space: bounds, properties, rules that never fired",
        el(
            "p",
            "Bounds: ",
            join([join([text(key, 40), " ", code(value, 80)]) for key, value in bounds.items()], ", "),
            ".",
        )
        if bounds
        else None,
        el("p", "Why: ", text(one["reason"], 300)) if one.get("reason") else None,
        el(
            "p",
            f"Killed in {_number(kills.get('classes'))} classes of states, at {_number(kills.get('points'))} "
            f"points.",
        )
        if kills
        else None,
        table(f"Properties of the {name} space", ["id", "property", "kind", "verdict", "detail"], rows)
        if rows
        else None,
        join([el("p", f"{many(len(dead), 'rule')} never fired:"), bullets(dead)])
        if dead
        else note("Every rule fired."),
    )


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _number(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int):
        return "\N{EN DASH}"
    return f"{value:,}"
