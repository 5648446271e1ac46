"""The story of a kill: what had been acknowledged, who was killed where, who came after, what was wrong.

80 columns of plain text from the JSON of a trace whose kind is `kill`; a failing disk step and a race of
processes are told in the same way. JSON of an unknown shape is shown as it is.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reports.disk_words import disk_words
from reports.plain import grid, paragraph, safe
from reports.words import Names, action_words

COLUMNS = (4, 46, 26)
RACE_COLUMNS = (4, 74)
DISK_COLUMNS = (4, 37, 22, 11)
Row = tuple[str, ...]


def kill_rows(trace: Mapping[str, Any], names: Names, disk: Callable[[Any], str] = disk_words) -> list[Row]:
    """The steps of the story: number, what happens, how it ends, what was on disk then, in the words of
    `disk`; what was wrong is marked by `>`."""
    told: list[tuple[str, str, bool]] = []
    wrong = _wrong_at(trace)
    lefts: dict[int, str] = {}
    history, broken = _list(trace.get("history")), trace.get("broken_off")
    told += [(action_words(one, names), "acknowledged", False) for one in history]
    if broken and told:
        told[-1] = (told[-1][0], f"KILLED at {_place(broken, names)}", False)
    told += [
        (action_words(one, names), "before, by who dies then", False) for one in _list(trace.get("warm"))
    ]
    change = trace.get("change")
    if isinstance(change, Mapping):
        words = ", ".join(f"{safe(key, 20)} {names.of(value)}" for key, value in change.items())
        told.append((f"tampering: {words}", "then it is opened", _is_wrong(trace)))
    kills, after = _list(trace.get("kills")), _list(trace.get("after"))
    if not kills:
        flight = [action_words(one, names) for one in _list(trace.get("flight"))]
        ending = _fault(trace.get("fault"), names)
        told += [(words, "in flight", False) for words in flight[:-1]]
        told += [(words, ending, _is_wrong(trace)) for words in flight[-1:]]
        fault = trace.get("fault")
        lefts[len(told) - 1] = disk(fault.get("left")) if isinstance(fault, Mapping) else ""
    for number, kill in enumerate(kills):
        told += _killed(kill, names, wrong == -1 and number + 1 == len(kills))
        lefts[len(told) - 1] = disk(kill.get("left")) if isinstance(kill, Mapping) else ""
    who = "by a process that lived on" if trace.get("survivor") else "by a fresh process"
    told += [(action_words(one, names), who, at == wrong) for at, one in enumerate(after) if kills]
    return [
        (f"{at + 1} >" if marked else str(at + 1), words, ending, lefts.get(at, ""))
        for at, (words, ending, marked) in enumerate(told)
    ]


def raced_rows(trace: Mapping[str, Any], names: Names) -> list[Row]:
    """The steps of a race, of which nobody knows more than the words."""
    steps = _list(trace.get("steps"))
    return [(str(at), names.text(str(step), limit=300), "", "") for at, step in enumerate(steps, 1)]


def render_kill(rows: list[Row], trace: Mapping[str, Any], names: Names) -> list[str]:
    """The story as lines, without its differences (see `reports.story`)."""
    lines = [*paragraph(safe(trace["why"]), then=""), ""] if trace.get("why") else []
    if rows:
        if any(row[-1] for row in rows):
            lines += grid(("", "what happens", "how it ends", "on disk"), rows, DISK_COLUMNS)
        elif any(row[2] for row in rows):
            lines += grid(("", "what happens", "how it ends"), [row[:-1] for row in rows], COLUMNS)
        else:
            lines += grid(("", "what happens"), [row[:2] for row in rows], RACE_COLUMNS)
    violation = trace.get("violation")
    told = violation.get("title") if isinstance(violation, Mapping) else trace.get("title")
    if told:
        lines += ["", *paragraph(names.text(f"then: {told}", limit=600))]
    for wrong in _list(trace.get("wrong")):
        lines += paragraph(names.text(f"- {wrong}", limit=400))
    if trace.get("clause"):
        lines += paragraph(safe(f"clause: {trace['clause']}"))
    return lines


def _killed(kill: Any, names: Names, marked: bool) -> list[tuple[str, str, bool]]:
    if not isinstance(kill, Mapping):
        return [(names.of(kill), "KILLED", marked)]
    during = [action_words(one, names) for one in _list(kill.get("during"))] or ["(nothing)"]
    place = _place((kill.get("point"), kill.get("n")), names)
    return [
        *((words, "in flight", False) for words in during[:-1]),
        (during[-1], f"KILLED at {place}", marked),
    ]


def _fault(fault: Any, names: Names) -> str:
    if not isinstance(fault, Mapping):
        return names.of(fault) if fault else ""
    untidy = ", and its temporary file can't be removed" if fault.get("untidy") is True else ""
    place = _place((fault.get("point"), fault.get("n")), names)
    return f"FAILS with {names.of(fault.get('errno'))} at {place}{untidy}"


def _place(broken: Any, names: Names) -> str:
    if isinstance(broken, Sequence) and not isinstance(broken, str) and len(broken) == 2:
        return f"{names.of(broken[0])}, arrival {names.of(broken[1])}"
    return names.of(broken)


def _is_wrong(trace: Mapping[str, Any]) -> bool:
    """Whether something was wrong; a trace that was performed again, and held, says `null`."""
    return trace.get("violation", True) is not None


def _wrong_at(trace: Mapping[str, Any]) -> object:
    violation = trace.get("violation")
    return violation.get("action") if isinstance(violation, Mapping) else None


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()
