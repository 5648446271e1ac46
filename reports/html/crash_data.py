"""What was killed where and what that left, by situation and marked point, from the counts of one system.

Counts `kill/<situation>/<point>#<n>` say how often, `left/<situation>/<point>/<what>` say what was left; what
broke something is taken from the failures' traces. Kills of recoveries are counted by situation alone.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import Factory, define

from reports.html.disksteps import in_order

_RECOVERING = ", recovering"


@define
class Cell:
    """One situation at one point: how often it was killed there, what was left, and how much of it was
    wrong."""

    hits: int = 0
    left: dict[str, int] = Factory(dict)
    wrong: int = 0


@define
class Matrix:
    """Cells by situation and point; `recovering` counts the kills of a situation's recoveries."""

    cells: dict[tuple[str, str], Cell] = Factory(dict)
    recovering: dict[str, int] = Factory(dict)

    def cell(self, situation: str, point: str) -> Cell:
        return self.cells.setdefault((situation, point), Cell())

    @property
    def situations(self) -> list[str]:
        return sorted({situation for situation, _ in self.cells})

    @property
    def points(self) -> list[str]:
        return in_order({point for _, point in self.cells})


def crash_matrix(counts: Mapping[str, int], wrong: Sequence[tuple[str, str]] = ()) -> Matrix:
    """The matrix of one system's counts; `wrong` are situation and point of each kill that broke
    something."""
    matrix = Matrix()
    for key, count in counts.items():
        kind, _, rest = key.partition("/")
        if kind == "kill" and "/" in rest:
            situation, _, point = rest.rpartition("/")
            name, recovering, _ = situation.partition(_RECOVERING)
            if recovering:
                matrix.recovering[name] = matrix.recovering.get(name, 0) + count
            else:
                matrix.cell(name, point.partition("#")[0]).hits += count
        elif kind == "left" and rest.count("/") >= 2:
            place, _, label = rest.rpartition("/")
            situation, _, point = place.rpartition("/")
            left = matrix.cell(situation, point).left
            left[label] = left.get(label, 0) + count
    for situation, point in wrong:
        matrix.cell(situation, point).wrong += 1
    return matrix


def wrong_kills(
    failures: Sequence[Mapping[str, Any]], traces: Mapping[str, Any], system: str
) -> list[tuple[str, str]]:
    found = []
    for failure in failures:
        trace = traces.get(failure["trace"])
        if failure["system"] != system or not isinstance(trace, Mapping):
            continue
        kills = trace.get("kills")
        if isinstance(kills, list) and len(kills) == 1 and isinstance(kills[0], Mapping):
            found.append((str(trace.get("name")), str(kills[0].get("point"))))
    return found


def left_words(cell: Cell) -> str:
    """What was left, e.g. `before 2, after 1`."""
    told = [
        label if count == cell.hits else f"{label} {count:,}" for label, count in sorted(cell.left.items())
    ]
    return ", ".join(told)[:120] or "not recorded"
