"""`holdtrue audit`: verifies a store on disk, read-only and without a host.

Says what is there (commits, rows by state, slots held) and, clause by clause, what holds and what does not.
It writes nothing, takes no lock and asks no authority, so it can't say whether a run is really admitted.
While a host is at work, a publication between two reads may show as a fault: audit again.
"""

import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from holdtrue.exits import Exit, UsageError
from holdtrue.ledger_audit import audit_of, is_ledger, ledger_report
from holdtrue.out import Printer
from reports.plain import paragraph, safe

if TYPE_CHECKING:
    from impl import AuditReport, Fault

CLAUSES = (
    ("FILES", "directory and files are regular, private, and name each other"),
    ("S1", "the closed shape; at least one commit"),
    ("S2", "stateHash is right; as many audit entries as commits"),
    ("S3", "the audit chain: numbers, hashes, times, epochs"),
    ("S4", "the last entry is the state's own: its time and its digest"),
    ("S5", "each row stands under its own id; no time or epoch from ahead"),
    ("S6", "a committed or orphan-suspect row has its admission and no TTL"),
    ("S7", "a reserved row has a TTL and no admission"),
    ("S8", "no two committed or orphan-suspect rows share a binding"),
    ("S9", "each command stands under its own id, with its request's hash"),
    ("S10", "no more slots are held than the maximum"),
)
SHOWN_PER_CLAUSE = 5
STATES = ("reserved", "committed", "orphan-suspect", "released", "expired")


def audit_command(options: object) -> int:
    """`holdtrue audit` as the command line asks for it."""
    directory = vars(options)["directory"]
    if not directory:
        raise UsageError("an empty path names no directory")
    return audit(Path(directory), Printer(), anchor=vars(options).get("anchor"))


def audit(directory: Path, printer: Printer, *, anchor: str | None = None) -> int:
    """Audits the store in `directory` and prints what it found; returns the exit code.

    Which store it is its files say: a ledger-gated one has `ledger.jsonl` or `mirror.sqlite`. UsageError if
    there is no directory: a mistyped path must not look like a faulty store. A directory without a store in
    it is a fault: somebody expected one.
    """
    try:
        standing = directory.stat()
    except (OSError, ValueError) as error:
        told = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"{str(directory)!r} can't be audited: {told}; name a store's directory") from error
    if not stat.S_ISDIR(standing.st_mode):
        raise UsageError(
            f"{str(directory)!r} is no directory; name the one that holds coordinator.json or ledger.jsonl"
        )
    if is_ledger(directory):
        ledger = audit_of(directory, anchor, terminal=printer.terminal)
        printer.lines(list(ledger_report(ledger, anchored=anchor is not None)))
        return _verdict(printer, ledger.directory, len(ledger.faults))
    if anchor is not None:
        raise UsageError(f"--anchor: no ledger stands in {str(directory)!r}")
    from impl import audit_directory

    report = audit_directory(directory)
    printer.lines(list(_report(report)))
    return _verdict(printer, report.directory, len(report.faults))


def _verdict(printer: Printer, directory: str, faults: int) -> int:
    printer.line()
    if not faults:
        printer.strong(f"OK  {safe(directory, 4096)}: every clause holds", "OK", "32")
        return Exit.PASSED
    count = f"{faults} fault{'' if faults == 1 else 's'}"
    printer.strong(f"FAULTY  {safe(directory, 4096)}: {count}", "FAULTY", "31")
    return Exit.VIOLATED


def _report(report: "AuditReport") -> Iterator[str]:
    yield f"directory   {safe(report.directory, 4096)}"
    if report.commit_seq is not None:
        rows = report.rows or {}
        told = [f"{rows[state]} {state}" for state in STATES if rows.get(state)]
        yield f"commits     {report.commit_seq}, {report.entries} audit entries, epoch {report.fencing_epoch}"
        yield f"rows        {', '.join(told) or 'none'}"
        yield f"commands    {report.commands}"
        yield f"slots       {report.held} of {report.maximum} held"
    if report.leftovers:
        files = "file" if report.leftovers == 1 else "files"
        yield f"leftovers   {report.leftovers} temporary {files} of killed writers (no fault)"
    yield ""
    known = {clause for clause, _ in CLAUSES}
    for clause, sentence in CLAUSES:
        yield from _clause(clause, sentence, report)
    for clause in sorted({fault.clause for fault in report.faults} - known):
        yield from _clause(clause, "", report)


def _clause(clause: str, sentence: str, report: "AuditReport") -> Iterator[str]:
    faults = [fault for fault in report.faults if fault.clause == clause]
    if faults:
        yield f"{clause:<7} FAULT   {sentence}"
    elif report.commit_seq is None and clause != "FILES":
        yield f"{clause:<7} unread  {sentence}"
    else:
        yield f"{clause:<7} ok      {sentence}"
    for fault in faults[:SHOWN_PER_CLAUSE]:
        yield from _told(fault)
    if len(faults) > SHOWN_PER_CLAUSE:
        yield f"          ... and {len(faults) - SHOWN_PER_CLAUSE} more"


def _told(fault: "Fault") -> list[str]:
    said = f"{safe(fault.where, 300)}: {safe(fault.message, 600)} [{safe(fault.code)}]"
    return paragraph(said, first="        - ", then="          ")
