"""Explorations: which small worlds of the model were looked at in full, and how much of each was walked on
the real store.

Shapes are taken as they come: an exploration is a JSON object whose fields may be missing. What was not put
to the test in a space is said with its bounds.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reports.html.markup import Child, Html, code, el, join, text
from reports.html.parts import MOODS, bullets, many, mark, note, opens, section, table

_BAR = 220
SPACES = 100
"""Spaces that are told one by one; there are some twenty."""


def explored(results: Mapping[str, Any]) -> Html:
    """Each space in a row, how much of it was walked, and its bounds and properties to be opened."""
    spaces = spaces_of(results)[:SPACES]
    title = "States and transitions"
    if not spaces:
        return section(
            "explored",
            title,
            note(
                "No world was explored exhaustively in this run: what was seen was drawn at random or "
                "scripted."
            ),
        )
    header: list[Child] = ["space", "verdict", "states", "orbits", "transitions", "depth"]
    rows = [_row(one) for one in spaces]
    listed = table(
        "Worlds of the model that were explored",
        [*header, "walked", "killed at"],
        rows,
        numbers=frozenset(range(2, 8)),
        class_="matrix",
    )
    return section(
        "explored",
        title,
        note(
            "A space is a small world of the model within stated bounds. If it was exhausted, each state "
            "that can be reached in it was, and every property was judged in every one. Orbits are states up "
            "to the names of ids and runs. Walked: how many classes of its transitions the real store was "
            "seen to take."
        ),
        listed,
        _walked(spaces),
        opens("Each space: bounds, properties, rules that never fired", *(_details(one) for one in spaces)),
    )


def spaces_of(results: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The explorations that are objects, as they stand in the results."""
    return [one for one in results.get("explorations") or [] if isinstance(one, Mapping)]


def name_of(one: Mapping[str, Any]) -> str:
    return f"{one.get('system', '')} {one.get('space', '')}".strip()[:80]


def _row(one: Mapping[str, Any]) -> list[Child]:
    verdict = str(one.get("verdict") or "not explored")
    tours, kills = _object(one.get("tours")), _object(one.get("kills"))
    about = el("small", text(one["about"], 200), class_="source") if one.get("about") else None
    return [
        join([text(name_of(one)), about]),
        mark("all hold" if verdict == "holds" else verdict, MOODS.get(verdict, "odd")),
        *(_number(one.get(key)) for key in ("states", "orbits", "transitions", "depth")),
        f"{_number(tours.get('taken'))} of {_number(tours.get('transitions'))}" if tours else "\N{EN DASH}",
        many(kills["points"], "point") if isinstance(kills.get("points"), int) else "\N{EN DASH}",
    ]


def _walked(spaces: Sequence[Mapping[str, Any]]) -> Html | None:
    """How many spaces were walked whole, and the others as bars; the table above has the figures."""
    shares = []
    for one in spaces:
        tours = _object(one.get("tours"))
        taken, whole = tours.get("taken"), tours.get("transitions")
        if isinstance(taken, int) and isinstance(whole, int) and whole > 0:
            shares.append((name_of(one)[:40], min(1.0, taken / whole)))
    if not shares:
        return el("p", mark("No space was walked on the real store.", "none"))
    parts = [(name, share) for name, share in shares if share < 1]
    told = f"{len(shares) - len(parts)} of {many(len(spaces), 'space')} were walked whole on the real store"
    told += f", {len(parts)} in part." if parts else "."
    return join([el("p", told), _bars(parts) if parts else None])


def _bars(shares: Sequence[tuple[str, float]]) -> Html:
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
        el("title", "Spaces that were walked in part on the real store", id="toured-t"),
        el("desc", "The share of each space's transitions; the table above has the numbers.", id="toured-d"),
        *bars,
        viewBox=f"0 0 480 {height}",
        width="480",
        height=str(height),
        class_="bars",
        role="img",
        aria_labelledby="toured-t toured-d",
    )
    return el("figure", drawn, el("figcaption", "Walked in part: the share of the classes of transitions."))


def _details(one: Mapping[str, Any]) -> Html:
    listed = [each for each in _list(one.get("properties")) if isinstance(each, Mapping)]
    return join(
        [
            el("h3", text(name_of(one))),
            el("p", "Why: ", text(one["reason"], 300)) if one.get("reason") else None,
            bullets(_bounds(one)),
            _properties(name_of(one), listed),
            _rules(one),
        ]
    )


def _bounds(one: Mapping[str, Any]) -> Iterator[Child]:
    for key, value in _object(one.get("bounds")).items():
        told = ", ".join(map(str, value)) if isinstance(value, list) else value
        words = "properties not put to the test here" if key == "untested" else key
        yield join([text(words, 60), ": ", code(told, 600)])


def _properties(name: str, listed: Sequence[Mapping[str, Any]]) -> Html | None:
    """Those that hold in a line, the others in a table."""
    holding = [each for each in listed if each.get("verdict") == "holds"]
    others = [each for each in listed if each.get("verdict") != "holds"]
    rows: list[list[Child]] = [
        [
            code(each.get("id", ""), 80),
            text(each.get("sentence", ""), 300),
            text(each.get("kind", ""), 20),
            mark(each.get("verdict", ""), MOODS.get(str(each.get("verdict")), "odd")),
            text(each.get("detail", ""), 200),
        ]
        for each in others
    ]
    held = [
        join([code(each.get("id", ""), 60), " (", text(each.get("detail") or "no detail", 60), ")"])
        for each in holding
    ]
    told = f"{many(len(held), 'property holds', 'properties hold')}: "
    header: list[Child] = ["id", "property", "kind", "verdict", "detail"]
    return join(
        [
            table(f"Properties of the {name} space that do not hold", header, rows) if rows else None,
            el("p", told, join(held, ", "), ".") if held else None,
        ]
    )


def _rules(one: Mapping[str, Any]) -> Html:
    dead = [code(name, 80) for name in _list(one.get("dead_rules"))[:50]]
    if not dead:
        return note("Every rule fired.")
    return el("p", f"{many(len(dead), 'rule')} never fired: ", join(dead, ", "), ".")


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _number(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int):
        return "\N{EN DASH}"
    return f"{value:,}"
