"""The crash matrix: each situation killed at each marked point, how often, and what was found afterwards.

A run that has no `left/...` was recorded before
these were counted: its cells then say how often, and not what was left. Kills of recoveries are counted by
situation; what they left is not told apart here.
"""

from collections.abc import Mapping
from typing import Any

from reports.html.crash_chart import crash_chart
from reports.html.crash_data import Matrix, crash_matrix, left_words, wrong_kills
from reports.html.markup import Child, Html, el, join, text
from reports.html.parts import many, mark, note, opens, section, table
from reports.html.scope import counts_of
from reports.ledger_coverage import apart


def crashes(results: Mapping[str, Any], traces: Mapping[str, Any]) -> Html:
    """A chart and its table for each system."""
    own, ledger = apart(counts_of(results))
    failures = results["failures"]
    shown = [
        _system("coordinator", crash_matrix(own, wrong_kills(failures, traces, "coordinator"))),
        _system("ledger", crash_matrix(ledger, wrong_kills(failures, traces, "ledger"))),
    ]
    if not any(shown):
        return section("crashes", "Crash matrix", note("No process was killed in this run."))
    return section(
        "crashes",
        "Crash matrix",
        note(
            "Each row is a situation, each column a marked point of the store's disk work. The process that "
            "performs the situation is killed there with SIGKILL, and what it leaves on disk must be the "
            "state before or the state after the action in flight, whole."
        ),
        *shown,
    )


def _system(name: str, matrix: Matrix) -> Html:
    if not matrix.cells:
        return Html("")
    hits = sum(cell.hits for cell in matrix.cells.values())
    again = sum(matrix.recovering.values())
    wrong = sum(cell.wrong for cell in matrix.cells.values())
    told = (
        f"{many(len(matrix.situations), 'situation')}, {many(len(matrix.points), 'marked point')}, "
        f"{many(hits, 'kill')}; {many(again, 'more kill')} while recovering from one."
    )
    bad = join([" ", mark(f"{many(wrong, 'kill')} broke something.", "bad")]) if wrong else None
    recorded = any(cell.left for cell in matrix.cells.values())
    return join(
        [
            el("h3", f"The {name}"),
            el("p", told, bad),
            None if recorded else note("What the kills left was not recorded by this run."),
            crash_chart(name, matrix),
            opens("The matrix as a table", _table(name, matrix)),
            opens("Kills while recovering, by situation", _recovering(name, matrix)) if again else None,
        ]
    )


def _table(name: str, matrix: Matrix) -> Html:
    rows: list[list[Child]] = []
    for situation in matrix.situations:
        for point in matrix.points:
            cell = matrix.cells.get((situation, point))
            if cell is not None:
                wrong = mark(many(cell.wrong, "counterexample"), "bad") if cell.wrong else ""
                rows.append([text(situation, 60), text(point, 60), f"{cell.hits:,}", left_words(cell), wrong])
    caption = f"What kills left of the {name}, by situation and marked point"
    return table(
        caption,
        ["situation", "killed at", "times", "left on disk", "wrong"],
        rows,
        numbers=frozenset({2}),
        most=3000,
    )


def _recovering(name: str, matrix: Matrix) -> Html:
    rows: list[list[Child]] = [
        [text(situation, 60), f"{count:,}"] for situation, count in sorted(matrix.recovering.items())
    ]
    return table(
        f"Kills while recovering the {name}, by situation",
        ["situation", "times"],
        rows,
        numbers=frozenset({1}),
    )
