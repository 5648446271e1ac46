"""What a check of a target over the wire says besides: who it was, what was out of reach, what is declared.

From a run's results alone: the counts under `beyond/…`, `deviation/…` and `missed/…`, and what the jobs told
of the target in their details. Empty for a check of the project's own store.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reports.plain import paragraph, safe

AIMS = ("--target", "--policy", "--reply-limit")
"""The options of `check` and `replay` that say which store is meant."""


def aims(results: Mapping[str, Any]) -> str:
    """The options that said which store is checked, quoted, each with a space before; or nothing."""
    words: Sequence[str] = results["environment"].get("command") or ()
    found: list[str] = []
    for at, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in AIMS and (equals or at + 1 < len(words)):
            found += [name, shlex.quote(value if equals else words[at + 1])]
    return "".join(f" {word}" for word in found)


def target_lines(results: Mapping[str, Any]) -> list[str]:
    """The section about the target, or nothing."""
    told = next(_told(results), None)
    counts = _counts(results)
    if told is None and not any(key.startswith(("beyond/", "deviation/")) for key in counts):
        return []
    lines = ["", "The target"]
    if told is not None:
        lines += ["", *paragraph(safe(told["command"], 400), then="  ")]
    lines += _section(
        "Out of its reach, by its own word or for want of a tool, and so not checked:", _beyond(counts)
    )
    lines += _section("Declared by its owner, and so no violations:", _declared(told, counts))
    missed = sum(count for key, count in counts.items() if key.startswith("missed/"))
    if missed:
        told_so = f"Kills that never came to their place, and say nothing: {missed:,}."
        lines += ["", *paragraph(told_so, then="")]
    return lines


def _section(title: str, entries: Sequence[str]) -> list[str]:
    if not entries:
        return []
    return ["", *paragraph(title, then=""), *(line for one in entries for line in paragraph(one, first="- "))]


def _beyond(counts: Mapping[str, int]) -> list[str]:
    found = {key.removeprefix("beyond/"): count for key, count in counts.items() if key.startswith("beyond/")}
    return [f"{safe(what, 200)} (left out {count:,} times)" for what, count in sorted(found.items())]


def _declared(told: Mapping[str, Any] | None, counts: Mapping[str, int]) -> list[str]:
    if told is None:
        return []
    policy, lines = told["policy"], []
    for one in policy["code"]:
        key = f"deviation/code {one['operation']} {one['model']} is {one['store']}"
        met = counts.get(key, 0)
        words = f"{one['operation']}: {one['store']} for {one['model']}"
        lines.append(f"{safe(words, 200)} ({_met(met)}): {safe(one['reason'], 300)}")
    for one in policy["missing"]:
        met = counts.get(f"deviation/no {one['operation']}", 0)
        lines.append(f"no {safe(one['operation'], 40)} (left out {met:,} times): {safe(one['reason'], 300)}")
    for one in policy["field"]:
        lines.append(f"rows without {safe(one['name'], 40)}: {safe(one['reason'], 300)}")
    return lines


def _met(count: int) -> str:
    return f"met {count:,} times" if count else "never met: is it still so?"


def _told(results: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """What the jobs say of the target."""
    for phase in results["phases"]:
        for one in phase.get("details", {}).get("target", ()):
            if isinstance(one, Mapping):
                yield one


def _counts(results: Mapping[str, Any]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for phase in results["phases"]:
        for key, count in phase["counts"].items():
            counts[key] = counts.get(key, 0) + count
    return counts
