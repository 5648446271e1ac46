"""What puts the verdict into perspective: detection power, what a policy lets pass, what is new since last
time.

Where something was not measured or there is nothing to compare with, that is said; an empty section would
look like good news.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from reports.html.markup import Child, Html, code, el, join, text
from reports.html.parts import bullets, many, mark, note, opens, section, table


def detection(results: Mapping[str, Any]) -> Html:
    """Which planted faults were noticed, by which check; or that nobody measured it."""
    found = results.get("detection")
    if not found:
        return section(
            "detection",
            "Detection power",
            el("p", mark("Not measured in this run.", "none")),
            note(
                "Detection power is the share of planted faults that these checks notice. Without it, a pass "
                "says that nothing was found, and not how likely it was to be found."
            ),
        )
    faults = [one for one in _list(found.get("faults")) if isinstance(one, Mapping)]
    real = [one for one in faults if not one.get("equivalent")]
    survived = [one for one in real if not one.get("by")]
    told = f"{len(real) - len(survived):,} of {many(len(real), 'planted fault')} were noticed."
    rows: list[list[Child]] = [
        [
            code(one.get("id", ""), 80),
            text(one.get("sentence", one.get("system", "")), 200),
            _noticed(one),
            _number(one.get("actions")),
            _number(one.get("seconds")),
        ]
        for one in sorted(faults, key=lambda one: bool(one.get("by")) or bool(one.get("equivalent")))
    ]
    header: list[Child] = ["fault", "what it does", "noticed by", "actions", "seconds"]
    whole = table("Planted faults, those that survived first", header, rows, numbers=frozenset({3, 4}))
    return section(
        "detection",
        "Detection power",
        el("p", mark(told, "warn" if survived else "good")),
        note(
            "A catalogue measures what somebody thought of. It says nothing about faults that are not in it."
        ),
        _mutation(found.get("mutation")),
        opens("Each planted fault", whole) if rows else None,
    )


def _mutation(found: Any) -> Html | None:
    """What became of faults that nobody thought of: a tool's small changes, of which some were drawn."""
    if not isinstance(found, Mapping):
        return None
    told = f"Of small changes by a tool ({found.get('tool', 'unnamed')}) that were drawn, "
    told += f"{_number(found.get('killed'))} of {_number(found.get('sampled'))} were noticed"
    told += (
        f"; {_number(found.get('survived'))} survived, {_number(found.get('explained'))} of these explained."
    )
    between = [_number(one) for one in _list(found.get("interval"))[:2]]
    interval = f" Interval for the share noticed: {' to '.join(between)}." if between else None
    rows: list[list[Child]] = [
        [
            join([code(one.get("file", ""), 80), f":{_number(one.get('line'))}"]),
            text(one.get("operator", ""), 60),
            code(one.get("diff", ""), 300),
            text(one.get("argument") or "none: nobody has looked at it", 300),
        ]
        for one in _list(found.get("survivors"))
        if isinstance(one, Mapping)
    ]
    header: list[Child] = ["where", "change", "difference", "why it may survive"]
    listed = table("Small changes that nobody noticed", header, rows, most=100)
    return join([el("p", text(told), interval), opens("Those that survived", listed) if rows else None])


def dated(results: Mapping[str, Any]) -> Html:
    """Flakes, skips and suppressions, each with its owner and the day on which it ends."""
    rows: list[list[Child]] = [
        [
            text(one["what"], 120),
            kind,
            text(one["owner"], 80),
            text(one["reason"], 300),
            text(one["expires"], 40),
        ]
        for kind, key in (("suppression", "suppressions"), ("flake", "flakes"), ("skip", "skips"))
        for one in results.get(key) or []
    ]
    title = "Flakes, skips and suppressions"
    if not rows:
        return section(
            "dated", title, el("p", mark("There are none.", "good"), " Nothing was left out by a policy.")
        )
    lead = note(
        "What a policy lets pass for now. Each has somebody who answers for it, and a day on which it ends."
    )
    listed = table(title, ["what", "kind", "owner", "reason", "expires"], rows)
    return section("dated", title, lead, listed)


def changes(results: Mapping[str, Any]) -> Html:
    """What is new since the previous run, and what is gone."""
    previous = results["environment"].get("previous")
    title = "Since the previous run"
    if not previous:
        return section("changes", title, note("There is no earlier run beside this one to compare with."))
    lead = el("p", "Compared with ", code(previous["run"], 80), ": ", mark(previous["verdict"]), ".")
    remarks: list[Child] = [note(text(previous["note"], 300))] if previous["note"] else []
    if not previous["comparable"]:
        remarks.append(
            note("The two did not check the same things, so that less follows from the comparison.")
        )
    appeared, vanished = previous["appeared"], previous["vanished"]
    same = not (appeared or vanished or previous["floors_newly_missed"] or previous["floors_regained"])
    parts: list[Child] = [
        _failures("New counterexamples", appeared, "bad"),
        _failures("Counterexamples that are gone", vanished, "good"),
        _keys("Floors newly missed", previous["floors_newly_missed"]),
        _keys("Floors reached again", previous["floors_regained"]),
        el("p", "Nothing appeared, nothing vanished.") if same else None,
    ]
    rows: list[list[Child]] = [
        [text(what, 60), f"{before:,}", f"{now:,}", f"{now - before:+,}"]
        for what, before, now in previous["counts"]
    ]
    counts = table(
        "Counts, then and now", ["what", "then", "now", "change"], rows, numbers=frozenset({1, 2, 3})
    )
    return section("changes", title, lead, *remarks, *parts, counts if rows else None)


def _failures(title: str, listed: Sequence[Mapping[str, Any]], mood: str) -> Html | None:
    if not listed:
        return None
    items = [join([code(one["clause"], 80), ": ", text(one["title"], 160)]) for one in listed[:20]]
    more = [f"... and {len(listed) - 20:,} more: see results.json"] if len(listed) > 20 else []
    return join([el("h3", mark(f"{title}: {len(listed):,}", mood)), bullets([*items, *more])])


def _keys(title: str, listed: Sequence[str]) -> Html | None:
    if not listed:
        return None
    more = f" and {len(listed) - 20:,} more" if len(listed) > 20 else ""
    return el("p", f"{title}: ", join([code(key, 80) for key in listed[:20]], ", "), more, ".")


def _noticed(one: Mapping[str, Any]) -> Html:
    if one.get("equivalent"):
        return mark("equivalent: nothing to notice", "none")
    return text(one["by"], 80) if one.get("by") else mark("survived", "bad")


def _number(value: Any) -> str:
    return (
        f"{value:,.4g}" if isinstance(value, int | float) and not isinstance(value, bool) else "\N{EN DASH}"
    )


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()
