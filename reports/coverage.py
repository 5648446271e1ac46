"""Tables of what was seen how often, from a run's counts by flat key.

Keys: `rule/<what>/<outcome>` for actions, `kill/<situation>/<point>#<n>` for kills, and `<kind>/<name>` for
all else. A code that no column stands for gets a column of its own, and a kind of count that nobody here
knows a line of its own, so that nothing that was counted is left out.
"""

from collections.abc import Mapping

from model.actions import OPERATIONS
from reports.ledger_coverage import PREFIX
from reports.plain import paragraph, safe, table

ABBREVIATIONS = {
    "accepted": "ok",
    "CAPACITY_EXCEEDED": "CAP",
    "ADMISSION_BINDING_CONFLICT": "BIND",
    "AUTHORITY_REVOKED": "AUTH",
    "POLICY_DENIED": "POL",
    "COMMAND_FAILED": "CMD",
    "DURABILITY_FAILED": "DUR",
    "RECONCILE_REQUIRED": "REC",
    "IDEMPOTENCY_CONFLICT": "IDEM",
    "CROSS_PRINCIPAL_COMMAND": "CROSS",
}
CALLS = ("open", *OPERATIONS, "readEpoch")
EVENTS = (
    *("advanceClock", "setLease", "setIdentity", "admit", "abandon", "finish", "park", "quiesce", "resume"),
    *("forget", "putBack", "leaveTemp", "damage", "mend", "close"),
)
NO_OPERATION = "(no such)"
KINDS = {
    "corpus": "pinned traces",
    "pinned": "pinned kills and faults",
    "moment": "disturbances during a transaction",
    "meanwhile": "events during a transaction",
    "damage": "damages to the files",
    "hosts": "numbers of hosts at once",
    "fault": "situations with failing disk steps",
    "fault-at": "points at which a disk step failed",
    "recovery": "situations killed while recovering",
    "survivor": "situations with a surviving host",
    "race": "races of real processes",
    "explored": "small worlds explored whole",
    "toured": "their tours on the real store",
    "transitions": "classes of transitions taken",
    "along": "parts of them killed everywhere",
    "invariant": "invariants evaluated",
    "witness": "witnesses of invariants",
    "killed": "ways to kill a target",
}
"""Kinds of counts in words. `rule`, `kill`, `point` and plain numbers are shown elsewhere; what kills left,
and how reservations changed, in the audit page alone."""
_ELSEWHERE = frozenset(
    {"rule", "kill", "point", "left", "lifecycle", "actions", "examples", "declined"}
    | {"beyond", "deviation", "missed"}  # see reports.targets
)
_MOMENTS = ("before", "torn", "after")
_LEAST = 18
"""Characters of the name that was seen least: with them the table of all else stays within 80 columns."""


def outcomes_table(counts: Mapping[str, int]) -> list[str]:
    """The store's operations by what came of them, then the events. Empty if no action was counted."""
    cells = _cells(counts)
    if not cells:
        return []
    events = {name: sum(row.values()) for name, row in cells.items() if name in EVENTS}
    calls = {name: row for name, row in cells.items() if name not in EVENTS}
    seen = {outcome for row in calls.values() for outcome in row}
    order = [*(name for name in ABBREVIATIONS if name in seen), *sorted(seen - set(ABBREVIATIONS))]
    names = sorted(calls, key=lambda name: (name not in CALLS, CALLS.index(name) if name in CALLS else 0))
    rows = [
        [safe(name, 18), *(_short(calls[name][each]) if each in calls[name] else "." for each in order)]
        for name in names
    ]
    header = ["", *(ABBREVIATIONS.get(outcome, safe(outcome, 8)) for outcome in order)]
    lines = table(header, rows, numbers=frozenset(range(1, len(order) + 1))) if rows else []
    legend = [f"{ABBREVIATIONS[name]} = {name}" for name in order if name in ABBREVIATIONS and name.isupper()]
    lines += paragraph(", ".join(legend), then="") if legend else []
    told = ", ".join(f"{name} {_short(events[name])}" for name in EVENTS if name in events)
    return [*lines, *paragraph(told, first="events between them: ")] if told else lines


def kills_table(counts: Mapping[str, int]) -> list[str]:
    """Kills by disk step and moment, then by situation. Empty if no kill was counted."""
    steps: dict[str, dict[str, int]] = {}
    situations: dict[str, int] = {}
    recovering = 0
    for key, count in counts.items():
        parts = key.split("/")
        if parts[0] != "kill" or len(parts) < 3:
            continue
        step, _, moment = parts[-1].partition("#")[0].rpartition("-")
        row = steps.setdefault(step or parts[-1], {})
        row[moment] = row.get(moment, 0) + count
        name, comma, _ = "/".join(parts[1:-1]).partition(", recovering")
        recovering += count if comma else 0
        situations[name] = situations.get(name, 0) + count
    if not steps:
        return []
    rows = [
        [safe(step, 24), *(_short(row[moment]) if moment in row else "." for moment in _MOMENTS)]
        for step, row in sorted(steps.items())
    ]
    lines = table(["disk step", *_MOMENTS], rows, numbers=frozenset({1, 2, 3}))
    least = min(situations, key=lambda name: (situations[name], name))
    told = (
        f"in {len(situations)} situations, least often in {safe(least, 40)} ({_short(situations[least])}); "
    )
    return [*lines, "", *paragraph(f"{told}{recovering:,} of these while recovering from a kill", then="")]


def others_table(
    counts: Mapping[str, int], floors: Mapping[str, int], known: Mapping[str, str] = KINDS
) -> list[str]:
    """All other kinds of counts: how many different ones, how often in all, and the one seen least.

    `known` has the kinds in words, in their order.
    """
    kinds: dict[str, dict[str, int]] = {}
    for key in (*counts, *floors):
        kind, slash, name = key.partition("/")
        if slash and kind not in _ELSEWHERE:
            kinds.setdefault(kind, {})[name] = counts.get(key, 0)
    rows = []
    for kind in (*(each for each in known if each in kinds), *sorted(kinds.keys() - known.keys())):
        names = kinds[kind]
        seen = sum(count > 0 for count in names.values())
        rows.append(
            [
                known.get(kind, safe(kind, 34)),
                str(seen) if seen == len(names) else f"{seen}/{len(names)}",
                _short(sum(names.values())),
                _least(names),
            ]
        )
    header = ["what", "different", "times", "least often"]
    return table(header, rows, numbers=frozenset({1, 2})) if rows else []


def actions_in(counts: Mapping[str, int]) -> int:
    """Actions in a phase's counts, of either system: those with an outcome, or else the plain number."""
    ruled = sum(count for key, count in counts.items() if key.startswith(("rule/", f"{PREFIX}rule/")))
    return ruled or counts.get("actions", 0) + counts.get(f"{PREFIX}actions", 0)


def kills_in(counts: Mapping[str, int]) -> int:
    return sum(count for key, count in counts.items() if key.startswith(("kill/", f"{PREFIX}kill/")))


def _least(names: Mapping[str, int]) -> str:
    """The name that was seen least, if any was seen less than others."""
    if len(set(names.values())) == 1:
        return "all alike" if len(names) > 1 else ""
    least = min(names, key=lambda name: (names[name], name))
    shown = safe(least, 4000)
    return f"{shown if len(shown) <= _LEAST else f'{shown[: _LEAST - 3]}...'} {_short(names[least])}"


def _cells(counts: Mapping[str, int]) -> dict[str, dict[str, int]]:
    cells: dict[str, dict[str, int]] = {}
    for key, count in counts.items():
        kind, _, rest = key.partition("/")
        name, slash, outcome = rest.rpartition("/")
        if kind == "rule" and slash:
            row = cells.setdefault(name if name in CALLS or name in EVENTS else NO_OPERATION, {})
            row[outcome] = row.get(outcome, 0) + count
    return cells


def _short(count: int) -> str:
    if count < 10_000:
        return str(count)
    return f"{count / 1000:.0f}k" if count < 1_000_000 else f"{count / 1_000_000:.1f}M"
