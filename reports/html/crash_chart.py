"""The crash matrix as a picture: a square for each situation and marked point, filled by what a kill left.

Shapes tell it, colours only repeat it: left half filled for the state before, whole for the state after, both
halves with a bar between for now one and now the other, a ring for a small step between them, a dot where it
was not recorded, a cross where something was wrong. Empty means that the situation never comes there.
"""

from collections.abc import Sequence

from reports.html.crash_data import Cell, Matrix, left_words
from reports.html.disksteps import step_of
from reports.html.markup import Html, el, join, text
from reports.html.parts import scrolling
from reports.plain import safe

_SIDE = 15
_LEFT = 190
_TOP = 140
SHOWN = 120
"""Rows and columns that are drawn; the table has all."""
_SAME = {"committed": "after"}
"""What another system calls the state after the action in flight."""
_LEGEND = (
    ("before", "the state before the action in flight"),
    ("after", "the state after it"),
    ("both", "now the one, now the other"),
    ("other", "a legal step between them (see the table)"),
    ("unknown", "not recorded"),
    ("wrong", "something was wrong"),
)


def crash_chart(name: str, matrix: Matrix) -> Html:
    """The picture with its legend. `name` is the system's."""
    situations, points = matrix.situations[:SHOWN], matrix.points[:SHOWN]
    rows = [_row(at, situation, points, matrix) for at, situation in enumerate(situations)]
    width = _LEFT + len(points) * _SIDE + 40
    height = _TOP + len(situations) * _SIDE + 6
    hits = sum(cell.hits for cell in matrix.cells.values())
    drawn = el(
        "svg",
        el("title", f"What kills left of the {name}", id=f"crashes-{name}-t"),
        el(
            "desc",
            f"{len(situations)} situations by {len(points)} marked points, {hits:,} kills. The table below "
            "has the same, cell by cell.",
            id=f"crashes-{name}-d",
        ),
        *_headings(points, len(situations)),
        *rows,
        viewBox=f"0 0 {width} {height}",
        width=str(width),
        height=str(height),
        class_="crashes",
        role="img",
        aria_labelledby=f"crashes-{name}-t crashes-{name}-d",
    )
    hidden = max(len(matrix.situations) - SHOWN, 0) + max(len(matrix.points) - SHOWN, 0)
    more = f" {hidden} more rows and columns are in the table alone." if hidden else ""
    return el(
        "figure", scrolling(f"crash matrix of the {name}", drawn), el("figcaption", legend(matrix), more)
    )


def shape(cell: Cell) -> str:
    """Which of the shapes a cell is drawn as."""
    if cell.wrong:
        return "wrong"
    labels = {_SAME.get(label, label) for label in cell.left}
    if not labels:
        return "unknown"
    if labels <= {"before", "after"}:
        return "both" if len(labels) == 2 else labels.pop()
    return "wrong" if "none of these" in labels else "other"


def legend(matrix: Matrix) -> Html:
    """Those shapes that occur, with what they mean."""
    seen = {shape(cell) for cell in matrix.cells.values()}
    entries = [
        el(
            "li",
            el("svg", _glyph(name, 0, 0), viewBox="0 0 15 15", width="15", height="15", aria_hidden="true"),
            f" {words}",
        )
        for name, words in _LEGEND
        if name in seen
    ]
    entries.append(
        el(
            "li",
            el("b", "b"),
            " before, ",
            el("b", "t"),
            " half-way through, ",
            el("b", "a"),
            " after the step",
        )
    )
    return el("ul", *entries, class_="legend")


def _headings(points: Sequence[str], rows: int) -> list[Html]:
    """Each step's name once, above its first moment; a line between steps."""
    drawn, last = [], None
    for at, point in enumerate(points):
        step, moment = step_of(point)
        middle = str(_LEFT + at * _SIDE + _SIDE // 2)
        drawn.append(el("text", moment[:1], x=middle, y=str(_TOP - 4), text_anchor="middle", class_="moment"))
        if step != last:
            x = _LEFT + at * _SIDE
            drawn.append(
                el("line", x1=str(x), x2=str(x), y1=str(_TOP), y2=str(_TOP + rows * _SIDE), class_="rule")
            )
            place = f"translate({x + 11} {_TOP - 18}) rotate(-60)"
            drawn.append(el("text", text(safe(step, 24), 200), transform=place))
        last = step
    return drawn


def _row(at: int, situation: str, points: Sequence[str], matrix: Matrix) -> Html:
    y = _TOP + at * _SIDE
    cells = []
    for column, point in enumerate(points):
        cell = matrix.cells.get((situation, point))
        if cell is not None:
            told = safe(f"{situation} at {points[column]}: {left_words(cell)}", 200)
            cells.append(_glyph(shape(cell), _LEFT + column * _SIDE, y, told))
    label = el("text", text(safe(situation, 28), 200), x=str(_LEFT - 8), y=str(y + 11), text_anchor="end")
    line = el("line", x1=str(_LEFT), x2=str(_LEFT + len(points) * _SIDE), y1=str(y), y2=str(y), class_="rule")
    return el("g", line, label, join(cells))


def _glyph(name: str, x: int, y: int, told: str = "") -> Html:
    """A shape in the square whose corner is at x, y."""
    paths = {
        "before": f"M{x + 2} {y + 2}h11v11h-11zM{x + 7.5} {y + 3.2}h4.3v8.6h-4.3z",
        "after": f"M{x + 2} {y + 2}h11v11h-11z",
        "both": f"M{x + 2} {y + 2}h4v11h-4zM{x + 9} {y + 2}h4v11h-4z",
        "other": f"M{x + 7.5} {y + 3}a4.5 4.5 0 1 0 .01 0z",
        "unknown": f"M{x + 6} {y + 6}h3v3h-3z",
        "wrong": f"M{x + 3} {y + 3}l9 9m0-9l-9 9",
    }
    return el("path", el("title", told) if told else None, d=paths[name], class_=f"c-{name}")
