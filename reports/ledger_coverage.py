"""Tables of what was seen of the second system: its keys are those of `reports.coverage` after `ledger/`.

Outcomes are told by code here; with which recoverability each came stands in `results.json`.
"""

from collections.abc import Mapping

from reports.plain import paragraph, safe, table

PREFIX = "ledger/"
CALLS = ("openLedger", "transact", "applySteps", "compensate", "readState")
ABBREVIATIONS = {
    "accepted": "ok",
    "noop": "noop",
    "in_doubt": "doubt",
    "raised": "raised",
    "LEDGER_APPEND_REQUIRED_FAILED": "APP",
    "LEDGER_INTEGRITY_FAILED": "INT",
    "SQLITE_MIRROR_FAILED": "MIR",
    "SQLITE_COMMIT_AFTER_LEDGER_FAILED": "COM",
    "IDEMPOTENCY_CONFLICT": "IDEM",
    "VERIFY_GATE_FAILED": "VER",
    "COMPENSATION_FAILED": "COMP",
}
KINDS = {
    "death": "small steps at which a client died",
    "fault": "failing steps",
    "fault-at": "points at which a step failed",
    "tamper": "tamperings between calls",
    "opened-after": "openings after a tampering",
    "tampered": "bytes and lines changed in a file",
    "clients": "numbers of clients at once",
    "recovery": "situations killed while recovering",
    "survivor": "situations with a surviving client",
    "race": "races of real processes",
    "explored": "small worlds explored whole",
    "toured": "their tours on the real store",
    "transitions": "classes of transitions taken",
    "along": "parts of them killed everywhere",
    "invariant": "invariants evaluated",
    "witness": "witnesses of invariants",
}


def apart(counts: Mapping[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    """The coordinator's counts, and the ledger's without their prefix."""
    own = {key: count for key, count in counts.items() if not key.startswith(PREFIX)}
    ledgers = {key.removeprefix(PREFIX): count for key, count in counts.items() if key.startswith(PREFIX)}
    return own, ledgers


def ledger_outcomes_table(counts: Mapping[str, int]) -> list[str]:
    """The ledger's calls by what came of them. Empty if none was counted. `counts` are without the prefix."""
    cells: dict[str, dict[str, int]] = {}
    events: dict[str, int] = {}
    for key, count in counts.items():
        kind, _, rest = key.partition("/")
        name, slash, outcome = rest.partition("/")
        if kind != "rule" or not slash:
            continue
        if name in CALLS:
            short = "raised" if outcome.startswith("raised ") else outcome.partition(",")[0]
            row = cells.setdefault(name, {})
            row[short] = row.get(short, 0) + count
        else:
            events[name] = events.get(name, 0) + count
    seen = {outcome for row in cells.values() for outcome in row}
    order = [*(name for name in ABBREVIATIONS if name in seen), *sorted(seen - set(ABBREVIATIONS))]
    header = ["", *(ABBREVIATIONS.get(outcome, safe(outcome, 8)) for outcome in order)]
    rows = [
        [name, *(str(cells[name][each]) if each in cells[name] else "." for each in order)]
        for name in CALLS
        if name in cells
    ]
    lines = table(header, rows, numbers=frozenset(range(1, len(order) + 1))) if rows else []
    legend = [f"{ABBREVIATIONS[name]} = {name}" for name in order if name in ABBREVIATIONS and name.isupper()]
    lines += paragraph(", ".join(legend), then="") if legend else []
    told = ", ".join(f"{safe(name, 20)} {count}" for name, count in sorted(events.items()))
    return [*lines, *paragraph(told, first="events between them: ")] if told else lines
