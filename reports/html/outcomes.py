"""Operations and events by what came of them, as tables shaded by how often; and all other counts, by kind.

The numbers say it, the shade only repeats it. A dot means that this never came of it, which says nothing by
itself: what must be seen has a floor, and floors that were missed have a section of their own.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from reports import coverage, ledger_coverage
from reports.html.markup import Child, Html, el, join, text
from reports.html.parts import cell, many, note, opens, section, table
from reports.html.scope import counts_of
from reports.ledger_coverage import apart

_SHADES = 4


def outcomes(results: Mapping[str, Any]) -> Html:
    """Both systems' tables of outcomes, then the kinds of all other counts."""
    own, ledger = apart(counts_of(results))
    shown = [
        _system("coordinator", own, (*coverage.CALLS, *coverage.EVENTS), tuple(coverage.ABBREVIATIONS)),
        _system("ledger", ledger, ledger_coverage.CALLS, tuple(ledger_coverage.ABBREVIATIONS)),
    ]
    others = join(
        [_others("coordinator", own, coverage.KINDS), _others("ledger", ledger, ledger_coverage.KINDS)]
    )
    return section(
        "outcomes",
        "Operations and outcomes",
        *(shown if any(shown) else [note("This run performed no actions.")]),
        opens("Other counts, by kind", others) if others else None,
    )


def cells_of(counts: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """How often what came of what, from counts `rule/<what>/<outcome>`; a recoverability is left away."""
    cells: dict[str, dict[str, int]] = {}
    for key, count in counts.items():
        kind, _, rest = key.partition("/")
        name, slash, outcome = rest.partition("/")
        if kind == "rule" and slash:
            row = cells.setdefault(name, {})
            short = outcome.partition(",")[0]
            row[short] = row.get(short, 0) + count
    return cells


def shade(count: int, most: int) -> int:
    """From 0 (never) to 4 (nearly as often as the most frequent), on a logarithmic scale."""
    return 0 if count <= 0 else 1 + min(_SHADES - 1, int(_SHADES * math.log(count + 1) / math.log(most + 2)))


def _system(name: str, counts: Mapping[str, int], known: Sequence[str], order: Sequence[str]) -> Html:
    cells = cells_of(counts)
    if not cells:
        return Html("")
    seen = {outcome for row in cells.values() for outcome in row}
    columns = [*(one for one in order if one in seen), *sorted(seen - set(order))][:40]
    names = [*(one for one in known if one in cells), *sorted(cells.keys() - set(known))]
    most = max(count for row in cells.values() for count in row.values())
    rows: list[list[Child]] = [
        [_name(one, name, known), *(_cell(cells[one].get(column, 0), most) for column in columns)]
        for one in names
    ]
    header: list[Child] = [
        "operation or event",
        *(el("span", text(column, 48), class_="turned") for column in columns),
    ]
    total = sum(count for row in cells.values() for count in row.values())
    caption = f"What came of the {name}'s operations and events: {many(total, 'action')}"
    return table(caption, header, rows, numbers=frozenset(range(1, len(columns) + 1)), class_="heat")


def _name(what: str, system: str, known: Sequence[str]) -> Html:
    """An operation or event; callers also ask the coordinator for operations that there are none of."""
    if system != "coordinator" or what in known:
        return text(what, 40)
    return join([text(what or "(empty)", 40), el("small", "no such operation", class_="source")])


def _cell(count: int, most: int) -> Html:
    return (
        cell(f"{count:,}", f"number h{shade(count, most)}") if count else cell("\N{MIDDLE DOT}", "number h0")
    )


def _others(name: str, counts: Mapping[str, int], known: Mapping[str, str]) -> Html:
    kinds: dict[str, dict[str, int]] = {}
    for key, count in counts.items():
        kind, slash, what = key.partition("/")
        if slash and kind not in ("rule", "kill", "left", "lifecycle", "point"):
            kinds.setdefault(kind, {})[what] = count
    rows: list[list[Child]] = []
    for kind in (*(one for one in known if one in kinds), *sorted(kinds.keys() - known.keys())):
        names = kinds[kind]
        least = min(names, key=lambda one: (names[one], one))
        rarest = (
            join([text(least, 48), f" {names[least]:,}"]) if len(set(names.values())) > 1 else "all alike"
        )
        rows.append([text(known.get(kind, kind), 60), f"{len(names):,}", f"{sum(names.values()):,}", rarest])
    if not rows:
        return Html("")
    header: list[Child] = ["what", "different", "times", "least often"]
    return table(f"Also seen of the {name}", header, rows, numbers=frozenset({1, 2}))
