"""The summary of a run, and its failures, as plain text of 80 columns, from `results.json` alone.

What was covered comes first, what was not checked always follows, failures come last with the worst first.
Long lists are cut and say how much was cut. The verdict's line is not rendered here: whoever prints the
summary ends with it.
"""

from collections.abc import Mapping
from typing import Any

from reports.coverage import actions_in, kills_in, kills_table, others_table, outcomes_table
from reports.explorations import explorations_table
from reports.figures import FIGURES, Figure, below
from reports.ledger_coverage import KINDS, apart, ledger_outcomes_table
from reports.plain import paragraph, safe, table
from reports.scope import not_checked
from reports.targets import target_lines

SHOWN_LOST = 3
SHOWN_FLOORS = 12
SHOWN_LINES_OF_A_LOSS = 12


def render_summary(results: Mapping[str, Any]) -> list[str]:
    """What was covered, what was measured, what is missing, what was not checked."""
    lines = ["What was covered", ""]
    lines += _phases(results)
    counts, ledgers = apart(_counts(results))
    wanted, ledgers_wanted = apart(_wanted(results))
    for title, part in (
        ("Operations and outcomes (how often each was seen)", outcomes_table(counts)),
        ("Kills, by disk step: before it, half-way, after it", kills_table(counts)),
        ("Small worlds, explored whole and walked on the real store", explorations_table(results)),
        ("Also seen", others_table(counts, wanted)),
        ("Ledger: calls and outcomes", ledger_outcomes_table(ledgers)),
        ("Ledger: kills, by step: before it, half-way, after it", kills_table(ledgers)),
        ("Ledger: also seen", others_table(ledgers, ledgers_wanted, KINDS)),
    ):
        lines += ["", title, "", *part] if part else []
    lines += target_lines(results)
    lines += _floors(results)
    lines += _figures(results)
    for phase in results["phases"]:
        lines += _below(phase)
        lines += _lost(phase)
    lines += ["", "Not checked", ""]
    for name in (*results["left_out"], *results["not_begun"]):
        lines += paragraph(f"The phase {safe(name)}: it was not run.", first="- ")
    for sentence in not_checked(results):
        lines += paragraph(sentence, first="- ")
    return [*lines, ""]


def verdict_line(results: Mapping[str, Any]) -> str:
    """The verdict as the last line tells it: with the seconds, and whether a ratio is below its floor."""
    verdict, times = results["verdict"], results["times"]
    head, line = f"{verdict['word']}  {verdict['scope']}", verdict["line"]
    if verdict["scope"] and line.startswith(head):
        line = f"{head}, {times['seconds']:.1f} s{line[len(head) :]}"
    slow = " (a measured ratio is below its floor: see Measured)" if below(times["figures"]) else ""
    return safe(f"{line}{slow}", 4000)


def _phases(results: Mapping[str, Any]) -> list[str]:
    seconds = results["times"]["phases"]
    rows = []
    for phase in results["phases"]:
        done = (
            f"{phase['done']}" if phase["done"] == phase["planned"] else f"{phase['done']}/{phase['planned']}"
        )
        rows.append(
            [
                safe(phase["name"]),
                done,
                str(len(phase["lost"])),
                f"{actions_in(phase['counts']):,}",
                f"{kills_in(phase['counts']):,}",
                str(phase["failures"]),
                f"{seconds.get(phase['name'], 0.0):.1f}",
            ]
        )
    header = ["phase", "jobs", "lost", "actions", "kills", "found", "seconds"]
    return table(header, rows, numbers=frozenset(range(1, 7)))


def _floors(results: Mapping[str, Any]) -> list[str]:
    reached = sum(len(phase["floors"]) - len(phase["below_floor"]) for phase in results["phases"])
    wanted = sum(len(phase["floors"]) for phase in results["phases"])
    return ["", f"floors (the least that must be seen): {reached:,} of {wanted:,} reached"]


def _figures(results: Mapping[str, Any]) -> list[str]:
    figures = results["times"]["figures"]
    if not figures:
        return []
    short = below(figures)
    rows = []
    for name in (*(known for known in FIGURES if known in figures), *sorted(set(figures) - set(FIGURES))):
        known = FIGURES.get(name, Figure(safe(name, 50)))
        floor = "" if known.floor is None else f"{known.floor:,g}"
        rows.append([known.words, _figure(figures[name]), floor, "BELOW FLOOR" if name in short else ""])
    lines = table(["figure", "value", "floor", ""], rows, numbers=frozenset({1, 2}))
    if short:
        lines += paragraph(
            "A ratio below its floor changes no verdict. On an idle machine, with stores in RAM, it says "
            "that checking has become slow: run it again alone.",
            then="",
        )
    return ["", "Measured (ratios: both in turns, in one process)", "", *lines]


def _figure(value: float) -> str:
    return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def _below(phase: Mapping[str, Any]) -> list[str]:
    missed = phase["below_floor"]
    if not missed:
        return []
    if phase["done"] < phase["planned"] and not phase["failures"]:
        told = f"{safe(phase['name'])} was cut short: {_many(len(missed), 'floor')} not reached"
        return ["", *paragraph(f"{told}, see results.json")]
    lines = ["", f"Seen too rarely in {safe(phase['name'])}", ""]
    rows = [[safe(key, 60), str(seen), str(floor)] for key, seen, floor in missed[:SHOWN_FLOORS]]
    lines += table(["what", "seen", "floor"], rows, numbers=frozenset({1, 2}))
    hidden = len(missed) - SHOWN_FLOORS
    return [*lines, f"... and {hidden} more: see results.json"] if hidden > 0 else lines


def _lost(phase: Mapping[str, Any]) -> list[str]:
    lines: list[str] = []
    for lost in phase["lost"][:SHOWN_LOST]:
        lines += ["", *paragraph(safe(f"Lost job: {lost['runner']} {lost['why']}: {lost['told']}"))]
        lines += paragraph(f"with {safe(lost['params'])}", first="  ")
        said = lost["details"].splitlines()
        lines += [f"  | {safe(line, 200)}" for line in said[-SHOWN_LINES_OF_A_LOSS:]]
    hidden = len(phase["lost"]) - SHOWN_LOST
    if hidden > 0:
        lines += ["", f"... and {_many(hidden, 'more lost job')} in {safe(phase['name'])}: see results.json"]
    return lines


def _wanted(results: Mapping[str, Any]) -> dict[str, int]:
    return {key: floor for phase in results["phases"] for key, floor in phase["floors"].items()}


def _counts(results: Mapping[str, Any]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for phase in results["phases"]:
        for key, count in phase["counts"].items():
            counts[key] = counts.get(key, 0) + count
    return counts


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
