"""The lifecycle of a reservation as a diagram, drawn by how often each way from state to state was taken.

Thickness, dashes and the number at each arrow tell it; colours only repeat it. Ways that the diagram does not
know are in the table, marked: several at once in one transaction, or an older file that was put back.
"""

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from reports.coverage import CALLS
from reports.html.markup import Child, Html, el, text
from reports.html.parts import many, mark, note, opens, scrolling, section, table
from reports.html.scope import counts_of

RARE = 10
"""A way that was taken less often counts as seen rarely."""
_BOXES = {
    "reserved": (190, 92, "holds a slot, for a time"),
    "committed": (470, 92, "holds a slot"),
    "orphan-suspect": (760, 92, "holds a slot"),
    "expired": (190, 290, "terminal"),
    "released": (470, 290, "terminal"),
}
_W, _H = 150, 56
_BESIDES = {"putBack": "an older file was put back"}
"""Why a change is not in the diagram, if not for this: several ways were taken in one transaction."""


@frozen
class Way:
    """An arrow: from, to, the operations that it stands for (none: all others), its path, where its
    label is."""

    source: str
    target: str
    operations: tuple[str, ...]
    label: str
    path: str
    x: int
    y: int


_WAYS = (
    Way("none", "reserved", ("reserve",), "reserve", "M58 120H184", 121, 108),
    Way("reserved", "committed", ("commit",), "commit", "M340 108H464", 402, 98),
    Way("reserved", "committed", (), "swept, admitted", "M340 134H464", 402, 154),
    Way("committed", "orphan-suspect", ("markOrphanSuspect",), "markOrphanSuspect", "M620 120H754", 687, 108),
    Way("reserved", "expired", (), "swept, abandoned", "M265 148V284", 196, 222),
    Way("reserved", "released", ("forceRelease",), "forceRelease", "M318 148L476 284", 356, 240),
    Way("committed", "released", ("normalRelease",), "normalRelease", "M530 148V284", 475, 196),
    Way("committed", "released", ("forceRelease",), "forceRelease", "M576 148V284", 632, 196),
    Way("orphan-suspect", "released", ("normalRelease",), "normalRelease", "M800 148L626 304", 664, 240),
    Way("orphan-suspect", "released", ("forceRelease",), "forceRelease", "M856 148L626 326", 824, 240),
    Way("reserved", "reserved", ("renew",), "renew", "M236 92C226 44 304 44 294 86", 265, 28),
    Way(
        "committed",
        "committed",
        ("renew", "commit"),
        "renew, late values",
        "M516 92C506 44 584 44 574 86",
        545,
        28,
    ),
    Way("orphan-suspect", "orphan-suspect", ("renew",), "renew", "M806 92C796 44 874 44 864 86", 835, 28),
)


def lifecycle(results: Mapping[str, Any]) -> Html:
    """Diagram, legend and table."""
    taken = ways_taken(counts_of(results))
    title = "How reservations went from state to state"
    if not taken:
        return section(
            "lifecycle",
            title,
            note(
                "This run recorded no changes of reservations: it compared no actions, or is of an older "
                "version."
            ),
        )
    totals = [_total(way, taken) for way in _WAYS]
    never = sum(count == 0 for count in totals)
    told = f"{len(_WAYS) - never} of {len(_WAYS)} ways of the lifecycle were taken, "
    told += f"{many(sum(taken.values()), 'change')} in all."
    return section(
        "lifecycle",
        title,
        el("p", told),
        el("figure", scrolling("lifecycle diagram", _diagram(taken, totals)), _legend()),
        opens("The figures as a table", _table(taken)),
    )


def ways_taken(counts: Mapping[str, int]) -> dict[tuple[str, str, str], int]:
    """How often, by state before, operation or event, and state after."""
    taken: dict[tuple[str, str, str], int] = {}
    for key, count in counts.items():
        parts = key.split("/")
        if parts[0] == "lifecycle" and len(parts) == 4:
            taken[parts[1], parts[2], parts[3]] = count
    return taken


def _total(way: Way, taken: Mapping[tuple[str, str, str], int]) -> int:
    return sum(count for key, count in taken.items() if _way_of(key) is way)


def _way_of(key: tuple[str, str, str]) -> Way | None:
    """The arrow that stands for a change: the one of its operation, else the one of all other operations."""
    if key[1] not in CALLS:
        return None
    fits = [way for way in _WAYS if (way.source, way.target) == (key[0], key[2])]
    named = [way for way in fits if key[1] in way.operations]
    return next(iter([*named, *(way for way in fits if not way.operations)]), None)


def often(count: int) -> str:
    """never, rare or often: how an arrow or a box is drawn."""
    return "never" if count == 0 else "rare" if count < RARE else "often"


def _diagram(taken: Mapping[tuple[str, str, str], int], totals: list[int]) -> Html:
    arrows = [_arrow(way, count) for way, count in zip(_WAYS, totals, strict=True)]
    seen = {name: sum(count for key, count in taken.items() if key[2] == name != key[0]) for name in _BOXES}
    start = el(
        "g", el("circle", cx="48", cy="120", r="9"), el("text", "none", x="48", y="150"), class_="start"
    )
    heads = [
        el(
            "marker",
            el("path", d="M0 0L9 4.5 0 9z"),
            id=f"head-{look}",
            viewBox="0 0 9 9",
            refX="7",
            orient="auto",
            refY="4.5",
        )
        for look in ("never", "rare", "often")
    ]
    hatch = el(
        "pattern", el("path", d="M0 8L8 0"), id="hatch", width="8", height="8", patternUnits="userSpaceOnUse"
    )
    return el(
        "svg",
        el("title", "Lifecycle of a reservation", id="lifecycle-t"),
        el(
            "desc",
            "States, and how often each way between them was taken; the table below has the same.",
            id="lifecycle-d",
        ),
        el("defs", *heads, hatch),
        *arrows,
        start,
        *(_box(name, seen[name]) for name in _BOXES),
        viewBox="0 0 940 362",
        width="940",
        height="362",
        class_="lifecycle",
        role="img",
        aria_labelledby="lifecycle-t lifecycle-d",
    )


def _box(name: str, count: int) -> Html:
    x, y, told = _BOXES[name]
    mid = str(x + _W / 2)
    return el(
        "g",
        el("rect", x=str(x), y=str(y), width=str(_W), height=str(_H), rx="8"),
        el("text", name, x=mid, y=str(y + 20), class_="name"),
        el("text", told, x=mid, y=str(y + 35)),
        el("text", f"reached {count:,}" if count else "never reached", x=mid, y=str(y + 49)),
        class_=f"state {often(count)}",
    )


def _arrow(way: Way, count: int) -> Html:
    look = often(count)
    times = f"{count:,}" if count else "never"
    labels = [
        el("text", told, x=str(way.x), y=str(way.y + dy), class_=f"{kind} {extra}".strip() or None)
        # Each label twice: the first is its halo, which parts it from the lines that it lies on.
        for told, dy, kind in ((way.label, 0, ""), (times, 14, "count"))
        for extra in ("halo", "")
    ]
    return el("g", el("path", d=way.path, marker_end=f"url(#head-{look})"), *labels, class_=f"way {look}")


def _legend() -> Html:
    entries = (
        ("often", f"taken {RARE} times or more"),
        ("rare", "taken less often"),
        ("never", "never taken"),
    )
    drawn = [
        el(
            "li",
            el(
                "svg",
                el("g", el("path", d="M1 6H35"), class_=f"way {look}"),
                viewBox="0 0 36 12",
                width="36",
                height="12",
                class_="lifecycle",
                aria_hidden="true",
            ),
            f" {words}",
        )
        for look, words in entries
    ]
    return el("figcaption", el("ul", *drawn, class_="legend"))


def _table(taken: Mapping[tuple[str, str, str], int]) -> Html:
    rows: list[list[Child]] = [
        [
            text(source, 40),
            text(operation, 40),
            text(target, 40),
            f"{count:,}",
            "" if _way_of((source, operation, target)) else _BESIDES.get(operation, "several ways at once"),
        ]
        for (source, operation, target), count in sorted(taken.items())
    ]
    drawn = dict.fromkeys(_WAYS, 0)
    for key, count in taken.items():
        way = _way_of(key)
        if way is not None:
            drawn[way] += count
    rows += [
        [way.source, way.label, way.target, "0", mark("never taken", "warn")]
        for way, count in drawn.items()
        if count == 0
    ]
    return table(
        "Changes of reservations, by the operation in which they came about",
        ["from", "in", "to", "times", "remark"],
        rows,
        numbers=frozenset({3}),
    )
