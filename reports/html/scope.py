"""What was checked and what was not, in plain words: bounds, faults, assumptions, and what was left out.

Sentences about what was checked are made of counts: what was counted zero times is not claimed.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from model.surroundings import ASSUMPTIONS
from reports.coverage import actions_in, kills_in
from reports.html.explored import SPACES, name_of, spaces_of
from reports.html.markup import Child, Html, code, el, join, link, text
from reports.html.parts import bullets, many, note, opens, section
from reports.scope import not_checked


def scope(results: Mapping[str, Any]) -> Html:
    """What was checked, with faults, bounds and assumptions, beside what was not."""
    assumed = opens(
        "What is assumed of the surroundings",
        note(
            "True capacity holds under these assumptions. For each there is a test that drops it and sees "
            "the violation."
        ),
        bullets(join([code(name), ": ", sentence]) for name, sentence in ASSUMPTIONS.items()),
    )
    faults = bullets(_faults(results)) or note("None were counted.")
    return section(
        "scope",
        "Scope",
        el(
            "div",
            el(
                "div",
                el("h3", "What was checked"),
                bullets(_checked(results), "checked"),
                el("h3", "Which faults were brought about"),
                faults,
                el("h3", "Bounds"),
                bullets(_bounds(results)),
                assumed,
            ),
            el("div", el("h3", "What was not checked"), bullets(_not_checked(results), "unchecked")),
            class_="columns",
        ),
    )


def counts_of(results: Mapping[str, Any]) -> dict[str, int]:
    """All phases' counts, summed by key."""
    counts: dict[str, int] = {}
    for phase in results["phases"]:
        for key, count in phase["counts"].items():
            counts[key] = counts.get(key, 0) + count
    return counts


def _checked(results: Mapping[str, Any]) -> Iterator[Child]:
    for phase in results["phases"]:
        counts = phase["counts"]
        seen = [
            many(count, what)
            for what, count in (("action", actions_in(counts)), ("kill", kills_in(counts)))
            if count
        ]
        pinned = sum(count for key, count in counts.items() if "corpus/" in key)
        seen += [many(pinned, "pinned trace")] if pinned else []
        told = ", ".join(seen) or many(phase["done"], "job")
        yield join([el("strong", text(phase["name"], 40)), ", ", text(phase["about"], 160), f": {told}."])
    yield from _exhausted(results)
    held = [one for one in results.get("properties") or [] if one["verdict"] in ("holds", "violated")]
    if held:
        yield f"{many(len(held), 'property', 'properties')}, each with a verdict of its own below."


def _exhausted(results: Mapping[str, Any]) -> Iterator[Child]:
    """What was explored, system by system: how many spaces, and how much that is together."""
    spaces = spaces_of(results)
    for system in dict.fromkeys(str(one.get("system")) for one in spaces):
        here = [one for one in spaces if str(one.get("system")) == system and one.get("verdict") == "holds"]
        if here:
            sizes = [sum(_count(one.get(key)) for one in here) for key in ("states", "transitions")]
            told = f" of the {system[:40]} exhausted: {sizes[0]:,} states, {sizes[1]:,} transitions."
            yield join([el("strong", "exploration"), f", {many(len(here), 'small world')}", text(told)])


def _not_checked(results: Mapping[str, Any]) -> Iterator[Child]:
    for name in results["left_out"]:
        yield join(["The phase ", el("strong", text(name, 40)), ": it was left out on purpose."])
    for name in results["not_begun"]:
        yield join(["The phase ", el("strong", text(name, 40)), ": it was not begun when the run ended."])
    for phase in results["phases"]:
        undone = phase["planned"] - phase["done"]
        if undone:
            yield join(
                [f"{undone} of {many(phase['planned'], 'job')} of ", text(phase["name"], 40), _why(phase)]
            )
        if phase["below_floor"]:
            short = many(len(phase["below_floor"]), "kind")
            yield join(
                [
                    f"{short} of situations, seen too rarely in ",
                    text(phase["name"], 40),
                    ": see ",
                    link("#missing", "What is missing"),
                    ".",
                ]
            )
    for one in spaces_of(results)[:SPACES]:
        if one.get("verdict") is None and ("tours" in one or "kills" in one):
            told = ": it was not explored in this run, only walked, or killed along."
            yield join(["The world ", text(name_of(one)), told])
        elif one.get("verdict") not in ("holds", "violated"):
            reason = text(one.get("reason") or "no reason is given", 200)
            yield join(
                ["All of the world ", text(name_of(one)), ": ", reason, f" (looked at: {_size(one)})."]
            )
    unseen = [one for one in results.get("properties") or [] if one["verdict"] == "not looked at"]
    if unseen:
        yield f"{many(len(unseen), 'property was', 'properties were')} not looked at: see the matrix."
    if not results.get("detection"):
        yield "Detection power: how many planted faults these checks would have noticed was not measured."
    yield from not_checked(results)


def _why(phase: Mapping[str, Any]) -> str:
    reasons = [
        told
        for told, count in (
            ("cut by the time budget", phase["out_of_time"]),
            ("lost", len(phase["lost"])),
            ("given up", phase["given_up"]),
        )
        if count
    ]
    return f": {', '.join(reasons) or 'not run'}."


def _bounds(results: Mapping[str, Any]) -> Iterator[Child]:
    yield join(
        [
            "Profile ",
            code(results["profile"], 40),
            ", seed ",
            code(results["seed"], 40),
            ": histories are drawn from the seed or scripted, and of bounded length.",
        ]
    )
    budget = results.get("time_budget_s")
    yield (
        "No time budget: all work is bounded by counts."
        if budget is None
        else f"A time budget of {budget:g} s."
    )
    spaces = [one for one in spaces_of(results) if one.get("verdict") is not None]
    if not spaces:
        yield "No world was explored exhaustively in this run."
        return
    about = [join([text(name_of(one)), ": ", text(one.get("about") or "see below", 200)]) for one in spaces]
    more = join([" What each is bounded by stands under ", link("#explored", "States and transitions"), "."])
    yield join([f"{many(len(spaces), 'explored world')} of stated size.", more])
    yield opens("The explored worlds", bullets(about[:SPACES]))


def _faults(results: Mapping[str, Any]) -> Iterator[Child]:
    counts = counts_of(results)
    own = {key.removeprefix("ledger/"): 0 for key in counts}
    for key, count in counts.items():
        own[key.removeprefix("ledger/")] += count
    for kinds, what in _FAULTS:
        names = [key for key in own if key.startswith(kinds) and own[key]]
        if names:
            different, times = (
                len({key.rpartition("#")[0] or key for key in names}),
                sum(own[key] for key in names),
            )
            yield f"{what}: {different:,} different, {many(times, 'time')}."


_FAULTS = (
    (("kill/",), "Processes killed (SIGKILL) at marked points of their disk work, recoveries included"),
    (("fault-at/",), "Disk steps that fail"),
    (("moment/", "meanwhile/"), "Disturbances and events during a transaction (lease, clock, callbacks)"),
    (("damage/", "tamper/", "tampered/"), "Damages to the files"),
    (("death/",), "Clients that die inside a call"),
    (("race/",), "Races of real processes"),
)


def _size(one: Mapping[str, Any]) -> str:
    return f"{_count(one.get('states')):,} states, {_count(one.get('transitions')):,} transitions"


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
