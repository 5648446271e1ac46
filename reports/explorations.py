"""Explorations of small worlds: joined from what several jobs told of the same one, and as a table.

One object stands for each space. The job that explored it tells all but two things: how many of its
transitions the real store was seen to take (`tours`), and in how many of them it was killed (`kills`), which
come in parts, from other jobs. Missing fields are left missing: whoever renders says so.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from model.values import JSON
from reports.plain import paragraph, safe, table

_WHOLE: Final = frozenset({"transitions"})
"""Numbers that each part tells of the whole: they are not summed."""


def merged(told: Sequence[Mapping[str, JSON]]) -> list[dict[str, JSON]]:
    """One object for each (system, space), in the order of first mention; parts of tours and kills summed."""
    spaces: dict[tuple[str, str], dict[str, JSON]] = {}
    for each in told:
        here = spaces.setdefault((str(each.get("system")), str(each.get("space"))), {})
        for name, value in each.items():
            if name in ("tours", "kills") and isinstance(value, Mapping):
                here[name] = _summed(here.get(name), value)
            elif here.get(name) is None:
                here[name] = value
    return list(spaces.values())


def _summed(before: JSON, more: Mapping[str, JSON]) -> dict[str, JSON]:
    numbers: dict[str, JSON] = dict(before) if isinstance(before, Mapping) else {}
    for name, value in more.items():
        old = numbers.get(name)
        if isinstance(old, int) and isinstance(value, int):
            numbers[name] = max(old, value) if name in _WHOLE else old + value
        else:
            numbers[name] = value
    return numbers


def explorations_table(results: Mapping[str, Any]) -> list[str]:
    """Each space with its size, its verdict, and what the real store took of it. Empty if there is none."""
    spaces = [each for each in results.get("explorations") or () if isinstance(each, Mapping)]
    if not spaces:
        return []
    header = ["space", "states", "up to names", "verdict", "taken", "share", "kills"]
    rows = [_row(each) for each in spaces]
    return [
        *table(header, rows, numbers=frozenset({1, 2, 4, 5, 6})),
        "",
        *paragraph(_in_words(spaces), then=""),
    ]


def _row(space: Mapping[str, Any]) -> list[str]:
    tours, kills = _numbers(space.get("tours")), _numbers(space.get("kills"))
    taken, whole = tours.get("taken"), tours.get("transitions")
    return [
        safe(f"{space.get('system', '')} {space.get('space', '')}", 30),
        _number(space.get("states")),
        _number(space.get("orbits")),
        safe(str(space.get("verdict", "not explored")), 12),
        _number(taken),
        f"{100 * taken / whole:.0f}%" if isinstance(taken, int) and whole else ".",
        _number(kills.get("points")),
    ]


def _in_words(spaces: Sequence[Mapping[str, Any]]) -> str:
    told = []
    for system in dict.fromkeys(str(each.get("system")) for each in spaces):
        tours = [_numbers(each.get("tours")) for each in spaces if str(each.get("system")) == system]
        taken = sum(each.get("taken", 0) for each in tours)
        whole = sum(each.get("transitions", 0) for each in tours)
        left = sum(not each for each in tours)
        if whole:
            apart = f" ({left} more were explored only)" if left else ""
            told.append(f"{safe(system)}: {taken:,} of {whole:,}, {100 * taken / whole:.1f}%{apart}")
    classes = "Classes of transitions (state up to symmetry and relative time, action, outcome) that the real"
    return f"{classes} store was seen to take: {'; '.join(told)}." if told else "No space was toured."


def _numbers(value: Any) -> dict[str, int]:
    if not isinstance(value, Mapping):
        return {}
    return {name: one for name, one in value.items() if isinstance(one, int) and not isinstance(one, bool)}


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else "."
