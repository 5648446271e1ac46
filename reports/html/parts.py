"""What sections are made of: sections with headings, tables that scroll, things to open, marks of a verdict.

A table always has a caption and scoped headers. A mark always has a word beside its shape and colour.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from reports.html.markup import Child, Html, el, join, text

ROWS = 400
"""Rows of a table that are shown; how many were left out is said."""
_SHAPES = {
    "good": "\N{CHECK MARK}",
    "bad": "\N{BALLOT X}",
    "warn": "?",
    "odd": "!",
    "none": "\N{EN DASH}",
}
MOODS = {
    "PASSED": "good",
    "VIOLATED": "bad",
    "INCONCLUSIVE": "warn",
    "HARNESS FAILED": "odd",
    "INTERRUPTED": "odd",
    "holds": "good",
    "violated": "bad",
    "inconclusive": "warn",
    "not looked at": "none",
    "not explored": "none",
}
"""A word of a closed set, and how it is shown: each mood has a colour and a shape of its own."""


def section(name: str, title: str, *children: Child) -> Html:
    """A part of the page, with a heading, at the address `#name`."""
    heading = el("h2", title, id=f"{name}-title")
    return el("section", heading, *children, id=name, aria_labelledby=f"{name}-title")


def note(*children: Child) -> Html:
    """A paragraph that says something about what stands around it."""
    return el("p", *children, class_="note")


def mark(word: object, mood: str | None = None) -> Html:
    """A word with a shape and a colour."""
    known = mood or MOODS.get(str(word), "none")
    shape = el("span", _SHAPES[known], class_="shape", aria_hidden="true")
    return el("span", shape, " ", text(word, 60), class_=f"mark {known}")


def opens(summary: Child, *children: Child, open_: bool = False, **attributes: Any) -> Html:
    """Something that is shown when its summary is clicked, or the page printed."""
    return el("details", el("summary", summary), *children, open=open_, **attributes)


def bullets(items: Iterable[Child], class_: str | None = None) -> Html:
    """A list; nothing, if there is nothing in it."""
    shown = [el("li", item) for item in items]
    return el("ul", *shown, class_=class_) if shown else Html("")


def facts(pairs: Iterable[tuple[Child, Child]], class_: str = "facts") -> Html:
    """Names and what they stand for."""
    return el("dl", *(el("div", el("dt", name), el("dd", value)) for name, value in pairs), class_=class_)


def table(
    caption: str,
    header: Sequence[Child],
    rows: Sequence[Sequence[Child]],
    *,
    numbers: frozenset[int] = frozenset(),
    class_: str | None = None,
    most: int = ROWS,
    quiet: bool = False,
) -> Html:
    """A table whose first column names the row. Columns in `numbers` are flush right.

    A cell that was made by `cell` is taken as it is. The table scrolls by itself where it is wider than the
    page, also by keyboard. A caption that is `quiet` is there for screen readers alone: a heading stands
    above.
    """
    head = el(
        "tr", *(el("th", cell, scope="col", class_=_kind(at, numbers)) for at, cell in enumerate(header))
    )
    body = [
        el(
            "tr",
            *(
                el("th", each, scope="row", class_=_kind(0, numbers))
                if at == 0
                else each
                if isinstance(each, Html) and each.markup.startswith("<td")
                else el("td", each, class_=_kind(at, numbers))
                for at, each in enumerate(row)
            ),
        )
        for row in rows[:most]
    ]
    shown = el(
        "table",
        el("caption", caption, class_="hidden" if quiet else None),
        el("thead", head),
        el("tbody", *body),
        class_=class_,
    )
    hidden = len(rows) - most
    more = note(f"... and {hidden:,} more rows: see results.json.") if hidden > 0 else None
    return join([scrolling(caption, shown), more])


def cell(child: Child, class_: str | None = None, **attributes: Any) -> Html:
    """A cell of a table with a look of its own."""
    return el("td", child, class_=class_, **attributes)


def scrolling(label: str, *children: Child) -> Html:
    """What scrolls sideways by itself, and can be reached by keyboard for that."""
    return el("div", *children, class_="scrolls", role="group", tabindex="0", aria_label=label)


def many(count: int, what: str, more: str | None = None) -> str:
    """`count` of `what`, in words: 1 kill, 2,000 kills."""
    return f"{count:,} {what if count == 1 else more or what + 's'}"


def _kind(at: int, numbers: frozenset[int]) -> str | None:
    return "number" if at in numbers else None
