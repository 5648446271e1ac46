"""The top of the page: the verdict, what it means, and the figures that one asks for first.

Whoever reads nothing else has read the verdict, its reasons, and that it speaks for a part only, if so.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from reports.coverage import actions_in, kills_in
from reports.html.counterexamples import headline, in_order
from reports.html.markup import Html, code, el, join, link, text
from reports.html.parts import MOODS, bullets, facts, many

_MEANS = {
    "PASSED": "Nothing was found to be wrong, and enough was looked at. Within the scope below, the store "
    "did what the model says.",
    "VIOLATED": "The store did what it must not. Each counterexample below is a story that shows it, and can "
    "be replayed.",
    "INCONCLUSIVE": "Nothing was found to be wrong, but not enough was looked at to say more. This is not a "
    "pass.",
    "HARNESS FAILED": "The check itself failed. This says nothing about the store, neither good nor bad.",
    "INTERRUPTED": "The run was ended before its time. What was seen until then is below. This is not a "
    "pass.",
}
_SHAPES = {
    "good": (
        "M32 4a28 28 0 1 0 0 56a28 28 0 1 0 0-56z",
        "M18 33l10 10 19-21",
    ),
    "bad": (
        "M21 4h22l17 17v22L43 60H21L4 43V21z",
        "M22 22l20 20M42 22L22 42",
    ),
    "warn": (
        "M32 3L61 32 32 61 3 32z",
        "M24 25c0-11 16-11 16-1 0 7-8 7-8 14M32 45v1",
    ),
    "odd": ("M8 8h48v48H8z", "M32 18v18M32 45v1"),
}
SHOWN_REASONS = 6


def banner(results: Mapping[str, Any]) -> Html:
    """The verdict, large, with its reasons and the figures."""
    word = str(results["verdict"]["word"])
    mood = MOODS.get(word, "odd")
    reasons = results["verdict"]["reasons"]
    parts = _part_only(results)
    return el(
        "section",
        el(
            "div",
            _icon(mood),
            el(
                "div",
                el("h2", text(word, 40), id="verdict-title"),
                el("p", _MEANS.get(word, "This version does not know this verdict."), class_="means"),
            ),
            class_="word",
        ),
        el("p", parts, class_="part") if parts else None,
        el("p", el("strong", "Because: "), _reason(reasons[0]))
        if len(reasons) == 1
        else join([el("p", el("strong", "Because:")), _reasons(reasons)])
        if reasons
        else None,
        _worst(results),
        facts(_figures(results), class_="figures"),
        id="verdict",
        class_=f"banner {mood}",
        aria_labelledby="verdict-title",
    )


def _icon(mood: str) -> Html:
    outline, sign = _SHAPES[mood]
    return el(
        "svg",
        el("path", d=outline, class_="outline"),
        el("path", d=sign, class_="sign"),
        viewBox="0 0 64 64",
        width="64",
        height="64",
        class_="icon",
        aria_hidden="true",
        focusable="false",
    )


def _part_only(results: Mapping[str, Any]) -> str:
    missing = [str(name) for name in (*results["left_out"], *results["not_begun"])]
    if not missing:
        return ""
    ran = ", ".join(str(phase["name"]) for phase in results["phases"]) or "nothing"
    return f"It speaks for a part only: {ran}. Not run: {', '.join(missing)}."


def _reason(reason: object) -> Html:
    return text(reason, 300)


def _reasons(reasons: Sequence[object]) -> Html:
    shown = [_reason(reason) for reason in reasons[:SHOWN_REASONS]]
    hidden = len(reasons) - SHOWN_REASONS
    return bullets(
        [*shown, f"... and {many(hidden, 'more reason')}: see results.json"] if hidden > 0 else shown
    )


def _worst(results: Mapping[str, Any]) -> Html | None:
    failures = results["failures"]
    if not failures:
        return None
    worst = in_order(failures)[0]
    said = headline(worst)
    told = el("p", text(said, 240), class_="broken")
    must = worst["sentence"]
    about = el(
        "p",
        "Broken: ",
        code(worst["clause"], 120),
        " in ",
        text(worst["phase"], 40),
        f", in {many(worst['steps'], 'step')}" if worst.get("steps") else "",
        ". ",
        link("#counterexamples", "Read the worst counterexample"),
    )
    held = el("p", "What must hold: ", text(must, 300)) if must and must != said else None
    return el("div", told, held, about, class_="worst")


def _figures(results: Mapping[str, Any]) -> list[tuple[str, Html]]:
    phases = results["phases"]
    properties = results.get("properties") or []
    held = sum(one["verdict"] == "holds" for one in properties)
    floors = sum(len(phase["floors"]) for phase in phases)
    missed = sum(len(phase["below_floor"]) for phase in phases)
    planned, done = (sum(phase[key] for phase in phases) for key in ("planned", "done"))
    return [
        ("counterexamples", _figure(len(results["failures"]))),
        ("properties held", _share(held, len(properties), "not recorded")),
        ("floors reached", _share(floors - missed, floors, "none set")),
        ("jobs done", _share(done, planned, "none")),
        ("actions", _figure(sum(actions_in(phase["counts"]) for phase in phases))),
        ("kills", _figure(sum(kills_in(phase["counts"]) for phase in phases))),
    ]


def _figure(value: int) -> Html:
    return text(f"{value:,}")


def _share(part: int, whole: int, nothing: str) -> Html:
    if part == whole:
        return text(f"all {whole:,}" if whole else nothing)
    return text(f"{part:,} / {whole:,}")
