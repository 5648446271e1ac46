"""What a check of a target over the wire says besides: who it was, what was out of reach, what is declared.

From a run's results alone: the counts under `beyond/…`, `deviation/…` and `missed/…`, and what the jobs told
of the target in their details. Nothing for a check of the project's own store.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reports.plain import paragraph, safe

AIMS = ("--target", "--policy", "--reply-limit")
"""The options of `check` and `replay` that say which store is meant."""
TRACES = "beyond/pinned traces"
"""Counts the pinned traces that the target can't follow; all else has a key of its own."""


def target_of(results: Mapping[str, Any]) -> str | None:
    """The command of the target that was checked; `None` for a run of the project's own store.

    Where no job has told of one, since each was lost, what was typed says it.
    """
    told = next(_told(results), None)
    return typed_target(results) if told is None else str(told["command"])


def typed_target(results: Mapping[str, Any]) -> str | None:
    """The target that the command line names, the last one as the command line is read; `None` if none is."""
    words: Sequence[str] = results["environment"].get("command") or ()
    found = None
    for at, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name == "--target" and (equals or at + 1 < len(words)):
            found = value if equals else words[at + 1]
    return found


def targets_told(results: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What each job says of the target: its command and what its owner's policy declares."""
    return list(_told(results))


def deviations(results: Mapping[str, Any]) -> list[str]:
    """What the target's owner declares, without the reasons, each once and in order."""
    found: dict[str, None] = {}
    for told in _told(results):
        policy = told["policy"]
        for one in policy["code"]:
            found[f"{one['operation']}: {one['store']} for {one['model']}"] = None
        found.update((f"no {one['operation']}", None) for one in policy["missing"])
        found.update((f"rows without {one['name']}", None) for one in policy["field"])
    return sorted(found)


def whose(target: str | None) -> str:
    """The store in words, of which `target_of` says that."""
    return "the project's own store" if target is None else f"the target {target!r}"


def reservations(results: Mapping[str, Any]) -> str:
    """How much of a target a pass does not speak for, as `left_out` names it; "" if of nothing."""
    told = next(_told(results), None)
    if told is None:
        return ""
    counts = _counts(results)
    declared = sum(1 for _ in _declared(told, counts))
    traces = counts.get(TRACES, 0)
    kinds = sum(key.startswith("beyond/") for key in counts) - (TRACES in counts)
    parts = [_many(traces, "pinned trace")] if traces else []
    parts += [_many(kinds, "other thing" if traces else "thing")] if kinds else []
    said = [f"{_many(declared, 'deviation')} declared"] if declared else []
    said += [f"{' and '.join(parts)} out of reach"] if parts else []
    return ", ".join(said)


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
    """The summary's section about the target, or nothing."""
    told = next(_told(results), None)
    if told is None:
        return []
    lines = ["", "The target", "", *paragraph(safe(told["command"], 400), then="  ")]
    missed = sum(count for key, count in _counts(results).items() if key.startswith("missed/"))
    if missed:
        lines += paragraph(f"Kills that never came to their place, and say nothing: {missed:,}.", then="")
    return lines


def left_out(results: Mapping[str, Any]) -> Iterator[str]:
    """What was not checked of a target, a sentence each: out of its reach, or declared by its owner."""
    counts, told = _counts(results), next(_told(results), None)
    for key in sorted(counts):
        if key.startswith("beyond/"):
            what = safe(key.removeprefix("beyond/"), 200)
            yield f"Out of the target's reach: {what} (left out {counts[key]:,} times)."
    for one in _declared(told, counts) if told is not None else ():
        yield f"Declared by the target's owner: {one}"


def raced(results: Mapping[str, Any]) -> bool:
    """Whether processes of a target have raced."""
    return bool(targets_told(results)) and any(key.startswith("race/") for key in _counts(results))


def _declared(told: Mapping[str, Any], counts: Mapping[str, int]) -> Iterator[str]:
    policy = told["policy"]
    for one in policy["code"]:
        met = counts.get(f"deviation/code {one['operation']} {one['model']} is {one['store']}", 0)
        words = f"{one['operation']}: {one['store']} for {one['model']}"
        seen = f"met {met:,} times" if met else "never met: is it still so?"
        yield f"{safe(words, 200)} ({seen}): {safe(one['reason'], 300)}"
    for one in policy["missing"]:
        count = counts.get(f"deviation/no {one['operation']}", 0)
        yield f"no {safe(one['operation'], 40)} (left out {count:,} times): {safe(one['reason'], 300)}"
    for one in policy["field"]:
        yield f"rows without {safe(one['name'], 40)}: {safe(one['reason'], 300)}"


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _told(results: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """What the jobs say of the target."""
    for phase in results.get("phases", ()):
        for one in phase.get("details", {}).get("target", ()):
            if isinstance(one, Mapping):
                yield one


def _counts(results: Mapping[str, Any]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for phase in results.get("phases", ()):
        for key, count in phase["counts"].items():
            counts[key] = counts.get(key, 0) + count
    return counts
