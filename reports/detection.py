"""Detection power as plain text of 80 columns: which planted faults were caught, by what, how fast.

`render_detection` takes the JSON that `holdtrue mutants` writes (`detection.json`; `detection` in
`results.json`) and nothing else, so that an old one can be shown again. What a catalogue of planted faults
can't say stands below the tables: it measures what was planted, not what might be wrong.
"""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any, Final

from reports.plain import paragraph, safe, table

LONGEST_ID: Final = 46


def render_detection(detection: Mapping[str, Any]) -> list[str]:
    """Each system's faults, a count for each check, survivors, equivalents, the limits of all this."""
    lines: list[str] = []
    faults: Sequence[Mapping[str, Any]] = detection["faults"]
    for system in dict.fromkeys(fault["system"] for fault in faults):
        some = [fault for fault in faults if fault["system"] == system]
        lines += [
            f"{safe(system).capitalize()}: {len(some)} planted fault{'' if len(some) == 1 else 's'}",
            "",
            *_matrix(some),
            "",
        ]
        lines += ["By check", "", *_by_check(some), ""]
    lines += _survivors(faults)
    lines += _equivalents(faults)
    lines += _mutation(detection.get("mutation"))
    how = "with" if detection["with_corpus"] else "without"
    lines += paragraph(
        f"Hunted {how} the pinned corpus of traces, seed {detection['seed']}, by the checks of the quick "
        "profile, cheapest first; a hunt ends at its first catch."
    )
    lines += paragraph(
        "A catalogue measures what somebody thought of. It says nothing about faults that are not in it."
    )
    return lines


def totals(faults: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """planted, equivalent, caught, survived; `median_s` and `longest` (actions) of those caught."""
    real = [fault for fault in faults if not fault["equivalent"]]
    caught = [fault for fault in real if fault["by"] is not None]
    return {
        "planted": len(faults),
        "equivalent": len(faults) - len(real),
        "caught": len(caught),
        "survived": len(real) - len(caught),
        "median_s": statistics.median([fault["seconds"] for fault in caught] or [0.0]),
        "longest": max((fault["actions"] for fault in caught), default=0),
    }


def _matrix(faults: Sequence[Mapping[str, Any]]) -> list[str]:
    rows = []
    for fault in sorted(faults, key=lambda one: (one["by"] is not None, -one["seconds"], one["id"])):
        by = safe(fault["by"]) if fault["by"] is not None else "-" if fault["equivalent"] else "SURVIVED"
        found = [str(fault["actions"]), f"{fault['seconds']:.1f}"] if fault["by"] is not None else ["", ""]
        rows.append([safe(fault["id"], LONGEST_ID), by, *found])
    return table(["fault", "caught by", "actions", "seconds"], rows, numbers=frozenset({2, 3}))


def _by_check(faults: Sequence[Mapping[str, Any]]) -> list[str]:
    rows = []
    for check in dict.fromkeys(fault["by"] for fault in faults if fault["by"] is not None):
        some = [fault for fault in faults if fault["by"] == check]
        seconds = [fault["seconds"] for fault in some]
        actions = [fault["actions"] for fault in some]
        told = [f"{statistics.median(seconds):.1f}", f"{max(seconds):.1f}", str(max(actions))]
        rows.append([safe(check), str(len(some)), *told])
    rows.sort(key=lambda row: -int(row[1]))
    header = ["check", "caught", "median s", "slowest s", "longest trace"]
    return table(header, rows, numbers=frozenset({1, 2, 3, 4}))


def _survivors(faults: Sequence[Mapping[str, Any]]) -> list[str]:
    some = [fault for fault in faults if fault["by"] is None and not fault["equivalent"]]
    if not some:
        return []
    lines = ["Survivors: planted, and nothing noticed", ""]
    for fault in some:
        lines += paragraph(f"{safe(fault['id'])}: {safe(fault['sentence'])}", first="- ")
        lines += paragraph(f"It breaks: {safe(fault['breaks'])}", first="  ")
    return [*lines, ""]


def _equivalents(faults: Sequence[Mapping[str, Any]]) -> list[str]:
    some = [fault for fault in faults if fault["equivalent"]]
    if not some:
        return []
    lines = ["Equivalent, by argument", ""]
    for fault in some:
        lines += paragraph(f"{safe(fault['id'])}: {safe(fault['sentence'])}", first="- ")
        lines += paragraph(safe(fault["equivalent"], 2000), first="  ")
        if fault["by"] is not None:
            lines += paragraph(f"But {safe(fault['by'])} caught it: the argument is wrong.", first="  ")
    return [*lines, ""]


def render_mutation(mutation: Mapping[str, Any]) -> list[str]:
    """The score with its interval, and each survivor as a diff, with the argument if there is one."""
    low, high = mutation["interval"]
    rate = mutation["killed"] / mutation["sampled"] if mutation["sampled"] else 0.0
    lines = paragraph(
        f"Ordinary mutation testing of impl/ ({safe(mutation['tool'])} {safe(mutation['version'])}, "
        f"{mutation['sampled']} of {mutation['of']} mutants sampled with seed {mutation['seed']}): "
        f"{rate:.1%} noticed (95% interval {low:.1%} to {high:.1%}), {mutation['survived']} survived, "
        f"{mutation['explained']} of them equivalent by an argument."
    )
    if mutation.get("unmade"):
        lines += paragraph(f"The tool failed to make {mutation['unmade']} more, which count as nothing.")
    if mutation.get("hung"):
        lines += paragraph(
            f"Of those noticed, {mutation['hung']} only took too long; a busy machine may have been why."
        )
    for survivor in mutation["survivors"]:
        lines += ["", *paragraph(f"{safe(survivor['file'])}:{survivor['line']} {safe(survivor['operator'])}")]
        changed = [line for line in survivor["diff"].splitlines() if line[:1] in "+-"]
        lines += [f"  {safe(line, 76)}" for line in changed if line[:3] not in ("+++", "---")]
        lines += paragraph(safe(survivor["argument"] or "not explained", 2000), first="  ")
    return [*lines, ""]


def _mutation(mutation: Mapping[str, Any] | None) -> list[str]:
    if mutation is None:
        return ["Ordinary mutation testing of impl/: not measured.", ""]
    return render_mutation(mutation)
