"""Where the results come from: code, command, machine, times; and what each phase did and measured.

All of it is as the run recorded it. The page can't vouch for it: `holdtrue verify` compares the folder with
its manifest.
"""

from collections.abc import Mapping
from typing import Any

from reports.commands import rerun
from reports.coverage import actions_in, kills_in
from reports.figures import FIGURES, Figure, below
from reports.html.markup import Child, Html, code, el, join, text
from reports.html.parts import facts, mark, note, section, table


def summary_line(results: Mapping[str, Any]) -> Html:
    """The few facts that stand below the title."""
    made = results["code"]
    parts: list[Child] = [join(["run ", code(results["environment"]["run"], 80)])]
    parts.append(join(["commit ", _commit(made)]))
    parts.append(join(["profile ", code(results["profile"], 40), ", seed ", code(results["seed"], 40)]))
    parts.append(text(results["times"]["started_at"], 40))
    return el("p", *(el("span", part) for part in parts), class_="subtitle")


def provenance(results: Mapping[str, Any]) -> Html:
    """Everything that one needs to know where this comes from, and to do it again."""
    made, environment, times = results["code"], results["environment"], results["times"]
    pairs: list[tuple[Child, Child]] = [
        ("commit", _commit(made)),
        ("source, SHA-256", _or_none(made["source_sha256"].strip("0") and made["source_sha256"])),
        ("lock file, SHA-256", _or_none(made["lock_sha256"])),
        ("holdtrue", code(made["holdtrue"], 40)),
        ("profile and seed", join([code(results["profile"], 40), ", ", code(results["seed"], 40)])),
        ("command", code(" ".join(map(str, environment["command"])), 1000)),
        ("the same check again", code(rerun(results), 1000)),
        ("run", code(environment["run"], 80)),
        ("started", text(times["started_at"], 40)),
        ("took", f"{times['seconds']:,.1f} s"),
        ("machine", join([text(environment["machine"], 160), f", {environment['cores']} cores"])),
        ("workers", str(environment["workers"])),
        ("system", text(environment["system"], 160)),
        ("file system of the stores", _or_none(environment["filesystem"])),
        ("Python", text(environment["python"], 40)),
        (
            "packages",
            text(", ".join(f"{name} {version}" for name, version in environment["packages"].items()), 600),
        ),
    ]
    return section(
        "provenance",
        "Provenance",
        facts(pairs, "facts wide"),
        _phases(results),
        _figures(results),
        note(
            "All this is what the run wrote down about itself. ",
            code("holdtrue verify"),
            " compares each file of the folder with its manifest, ",
            code("manifest.sha256"),
            ".",
        ),
    )


def _commit(made: Mapping[str, Any]) -> Html:
    if not made["commit"]:
        return mark("not known", "warn")
    state = (
        mark("uncommitted changes", "warn") if made["dirty"] else "clean" if made["dirty"] is False else "?"
    )
    return join([code(str(made["commit"])[:12]), " (", state, ")"])


def _or_none(value: object) -> Html:
    return code(value, 160) if value else text("not known")


def _phases(results: Mapping[str, Any]) -> Html:
    seconds = results["times"]["phases"]
    rows: list[list[Child]] = [
        [
            text(phase["name"], 40),
            text(phase["about"], 120),
            f"{phase['done']:,} of {phase['planned']:,}",
            f"{len(phase['lost']):,}",
            f"{actions_in(phase['counts']):,}",
            f"{kills_in(phase['counts']):,}",
            f"{len(phase['floors']) - len(phase['below_floor']):,} of {len(phase['floors']):,}",
            f"{phase['failures']:,}",
            f"{seconds.get(phase['name'], 0.0):,.1f}",
        ]
        for phase in results["phases"]
    ]
    header: list[Child] = ["phase", "what", "jobs", "lost", "actions", "kills", "floors", "found", "seconds"]
    return table("Phases of the run", header, rows, numbers=frozenset(range(2, 9)))


def _figures(results: Mapping[str, Any]) -> Html | None:
    figures = results["times"]["figures"]
    if not figures:
        return None
    short = below(figures)
    rows: list[list[Child]] = []
    for name in (*(known for known in FIGURES if known in figures), *sorted(set(figures) - set(FIGURES))):
        known = FIGURES.get(name, Figure(name))
        value = figures[name]
        told = "not measured" if value is None else f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"
        floor = "" if known.floor is None else f"{known.floor:,g}"
        rows.append(
            [text(known.words, 80), told, floor, mark("below its floor", "warn") if name in short else ""]
        )
    return table(
        "Measured (a ratio below its floor changes no verdict)",
        ["figure", "value", "floor", "remark"],
        rows,
        numbers=frozenset({1, 2}),
    )
