"""Tables of what was seen how often, from a run's counts by flat key.

Keys: `rule/<what>/<outcome>` for actions, `kill/<operation>/<point>` for kills. A code that no column stands
for gets a column of its own name, so that nothing that was counted is left out.
"""

from collections.abc import Mapping, Sequence

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
    "declined": "-",
}


def outcomes_table(counts: Mapping[str, int]) -> list[str]:
    """What was done by what came of it. Empty if no action was counted."""
    cells: dict[str, dict[str, int]] = {}
    for key, count in counts.items():
        kind, _, rest = key.partition("/")
        what, slash, outcome = rest.rpartition("/")
        if kind == "rule" and slash:
            row = cells.setdefault(what, {})
            row[outcome] = row.get(outcome, 0) + count
    if not cells:
        return []
    seen = {outcome for row in cells.values() for outcome in row}
    order = [*(name for name in ABBREVIATIONS if name in seen), *sorted(seen - set(ABBREVIATIONS))]
    rows = [
        [safe(what, 18), *(_short(row[outcome]) if outcome in row else "." for outcome in order)]
        for what, row in sorted(cells.items())
    ]
    header = ["", *(ABBREVIATIONS.get(outcome, safe(outcome, 8)) for outcome in order)]
    lines = table(header, rows, numbers=frozenset(range(1, len(order) + 1)))
    return [*lines, *_legend([name for name in order if name in ABBREVIATIONS])]


def kills_table(counts: Mapping[str, int]) -> list[str]:
    """Per operation: how many marked points it was killed at, how often, and the point least often."""
    points: dict[str, dict[str, int]] = {}
    for key, count in counts.items():
        parts = key.split("/")
        if parts[0] == "kill" and len(parts) >= 3:
            row = points.setdefault(parts[1], {})
            point = "/".join(parts[2:])
            row[point] = row.get(point, 0) + count
    if not points:
        return []
    rows = []
    for operation, row in sorted(points.items()):
        least, times = min(row.items(), key=lambda item: (item[1], item[0]))
        rows.append(
            [safe(operation, 24), str(len(row)), f"{sum(row.values()):,}", f"{safe(least, 28)} ({times:,})"]
        )
    distinct = {point for row in points.values() for point in row}
    lines = table(["while", "points", "kills", "least often at"], rows, numbers=frozenset({1, 2}))
    return [*lines, f"{len(distinct)} different points in all"]


def rarest(counts: Mapping[str, int], keys: Sequence[str]) -> str:
    """The key of `keys` that was seen least, as the end of a sentence."""
    least = min(keys, key=lambda key: (counts.get(key, 0), key))
    return f"; least often {safe(least.partition('/')[2])} ({counts.get(least, 0):,})"


def _legend(names: Sequence[str]) -> list[str]:
    told = [f"{ABBREVIATIONS[name]} = {name}" for name in names if name.isupper()]
    return paragraph(", ".join(told), first="", then="") if told else []


def _short(count: int) -> str:
    if count < 10_000:
        return str(count)
    return f"{count / 1000:.0f}k" if count < 1_000_000 else f"{count / 1_000_000:.1f}M"
