"""The story of one trace: a timeline of what was done and what came of it, then where model and store differ.

Where both sides say the same it is said once; where they differ they stand side by side, and the first
difference is marked in words. Long stories are cut in the middle. JSON of an unknown shape is shown as it is.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import field, frozen

from model.start import START_CLOCK
from reports.disk_words import disk_told
from reports.html.markup import Child, Html, code, el, join, text
from reports.html.parts import many, note, opens, table
from reports.html.strip import strip
from reports.kill_story import kill_rows
from reports.words import Names, action_words, outcome_words

FIRST_SHOWN = 8
LAST_SHOWN = 24
SHOWN_DIFFERENCES = 40
_ENDINGS = {
    "acknowledged": "done",
    "before, by": "done",
    "in flight": "flight",
    "KILLED": "killed",
    "FAILS": "killed",
    "then it is opened": "killed",
    "by a": "after",
}
"""How a step of a kill's story looks, by how its ending begins."""


@frozen
class Moment:
    """One entry of a timeline. `came` is what came of it, already marked up; `flag` says that here is the
    difference, and how."""

    words: str
    look: str
    came: Html = field(factory=lambda: Html(""))
    disk: str = ""
    flag: str = ""


def story(trace: Any, name: str) -> Html:
    """Timeline, differences and short names of `trace` (any JSON). `name` is where in the page it stands."""
    if not isinstance(trace, Mapping):
        return note("A trace of an unknown shape: ", code(trace))
    names = Names(_start(trace))
    killed = trace.get("kind") == "kill"
    moments = _kill(trace, names) if killed else _lockstep(trace, names)
    found = trace.get("violation") if killed else trace.get("divergence")
    why = el("p", text(trace["why"], 300), class_="note") if trace.get("why") else None
    parts = [
        why,
        _timeline(moments, name),
        *_wrong(trace, names),
        strip(trace) if killed else None,
        _differences(found, names) if isinstance(found, Mapping) else None,
        _legend(names),
    ]
    return join(parts)


def _start(trace: Mapping[str, Any]) -> int:
    initial = trace.get("initial")
    clock = initial.get("clock") if isinstance(initial, Mapping) else None
    return clock if isinstance(clock, int) and not isinstance(clock, bool) else START_CLOCK


def shown_of(count: int, marked: object = None) -> list[int]:
    """Which of `count` steps are shown: the first, the last, and the one that is marked."""
    if count <= FIRST_SHOWN + LAST_SHOWN + 1:
        return list(range(count))
    return [at for at in range(count) if at < FIRST_SHOWN or at >= count - LAST_SHOWN or at == marked]


def _lockstep(trace: Mapping[str, Any], names: Names) -> dict[int, Moment]:
    divergence = _object(trace.get("divergence"))
    steps = _list(trace.get("steps"))
    marked = divergence.get("index")
    moments = {}
    for at in shown_of(len(steps), marked):
        step = steps[at]
        if not isinstance(step, Mapping):
            moments[at] = Moment(names.of(step), "done")
            continue
        words = action_words(step.get("action", step), names)
        model = outcome_words(step.get("expected"), names)
        store = outcome_words(step.get("observed"), names)
        flag = f"First difference: {divergence.get('kind', '')}" if at == marked else ""
        came = _both(model) if model == store else _sides(model, store)
        look = "differs" if flag else "refused" if "refused" in _object(step.get("expected")) else "done"
        before = _object(steps[at - 1]).get("disk") if at else None
        disk = "unchanged" if step.get("disk") and step["disk"] == before else disk_told(step.get("disk"))
        moments[at] = Moment(words, look, came, disk, flag)
    return moments


def _kill(trace: Mapping[str, Any], names: Names) -> dict[int, Moment]:
    told = [_row((*row, "", "")) for row in kill_rows(trace, names, disk_told)]
    if not told:
        told = [Moment(names.of(step), "done") for step in _list(trace.get("steps"))[:200]]
    marked = next((at for at, moment in enumerate(told) if moment.flag), None)
    return {at: told[at] for at in shown_of(len(told), marked)}


def _row(row: Sequence[str]) -> Moment:
    number, words, ending, disk = row[:4]
    look = next((look for begins, look in _ENDINGS.items() if ending.startswith(begins)), "done")
    flag = "Here it goes wrong" if number.endswith(">") else ""
    return Moment(words, look, el("p", ending, class_="came") if ending else Html(""), disk, flag)


def _both(told: str) -> Html:
    return el("p", el("span", "=", class_="shape", aria_hidden="true"), " both: ", text(told), class_="came")


def _sides(model: str, store: str) -> Html:
    sides = [
        el("div", el("dt", who), el("dd", text(told))) for who, told in (("model", model), ("store", store))
    ]
    return el("dl", *sides, class_="sides")


def _timeline(moments: Mapping[int, Moment], name: str) -> Html | None:
    if not moments:
        return None
    items, last = [], -1
    for at, moment in moments.items():
        if at > last + 1:
            told = f"{many(at - last - 1, 'step')} left out here: see the trace's file"
            items.append(el("li", el("p", told), class_="gap"))
        items.append(_moment(at, moment, name))
        last = at
    return join([el("h4", "What happened"), el("ol", *items, class_="timeline")])


def _moment(at: int, moment: Moment, name: str) -> Html:
    flag = el("strong", text(moment.flag), class_="flag") if moment.flag else None
    disk = el("p", el("span", "on disk: "), text(moment.disk), class_="disk") if moment.disk else None
    return el(
        "li",
        el("span", str(at + 1), class_="n"),
        el("div", el("p", text(moment.words), class_="deed"), moment.came, disk, flag),
        class_=f"{moment.look} marked" if moment.flag else moment.look,
        id=f"{name}-step-{at + 1}" if moment.flag else None,
    )


def _wrong(trace: Mapping[str, Any], names: Names) -> Iterator[Child]:
    """What was wrong then, in the words of whoever found it."""
    violation = trace.get("violation")
    told = violation.get("title") if isinstance(violation, Mapping) else None
    wrong = [text(names.text(str(one), limit=400)) for one in _list(trace.get("wrong"))]
    if told:
        wrong.insert(0, text(names.text(str(told), limit=600), 600))
    if wrong:
        yield el("div", el("h4", "What was wrong"), *(el("p", one) for one in wrong), class_="wrong")


def _differences(found: Mapping[str, Any], names: Names) -> Html | None:
    listed = [one for one in _list(found.get("differences")) if isinstance(one, Mapping)]
    if not listed:
        return None
    rows: list[list[Child]] = [
        [
            code(names.text(str(one.get("path")))),
            code(names.of(one.get("model"))),
            code(names.of(one.get("store"))),
        ]
        for one in listed[:SHOWN_DIFFERENCES]
    ]
    hidden = len(listed) - SHOWN_DIFFERENCES
    return join(
        [
            el("h4", "Where they differ"),
            table(
                "Differences between model and store",
                ["at", "model", "store"],
                rows,
                class_="differences",
                quiet=True,
            ),
            note(f"... and {many(hidden, 'more difference')}: see the trace's file.") if hidden > 0 else None,
        ]
    )


def _legend(names: Names) -> Html | None:
    lines = names.legend()
    if not lines:
        return None
    return opens("What the short names stand for", el("ul", *(el("li", code(line)) for line in lines)))


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()
