"""`holdtrue audit` of a ledger-gated store: events, mirror, and clause by clause what holds and what not.

Says the head as an anchor, `sequence:hash`: kept elsewhere, it lets a later audit notice whole records that
were cut off the end even where the mirror is gone as well. Otherwise as `audit`: nothing is written, no lock
is taken.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from holdtrue.exits import UsageError
from reports.plain import paragraph, safe

if TYPE_CHECKING:
    from impl.gated import LedgerAuditReport

FILES = ("ledger.jsonl", "mirror.sqlite")
CLAUSES = (
    ("FILES", "directory and files are regular and private"),
    ("LEDGER", "each line is right in every byte, and follows the one before it"),
    ("KEYS", "no key stands twice in its namespace"),
    ("MIRROR", "the mirror is the fold of as many events as it says it has seen"),
    ("ANCHOR", "the event that was kept elsewhere stands in the ledger"),
)
MIRRORS = {
    "intact": "has seen all events",
    "behind": "{} events (the next opening catches it up)",
    "missing": "there is none (the next opening builds it)",
    "unusable": "can't be used as it is",
    "unread": "was not read",
}
SHOWN_PER_CLAUSE = 5


def is_ledger(directory: Path) -> bool:
    """Whether files of a ledger-gated store stand in `directory`."""
    return any((directory / name).is_symlink() or (directory / name).exists() for name in FILES)


def audit_of(directory: Path, anchor: str | None, *, terminal: bool) -> "LedgerAuditReport":
    """What the audit finds. UsageError if `anchor` is none. On a terminal a bar shows how far it is."""
    from impl import audit_ledger

    try:
        if not terminal:
            return audit_ledger(directory, anchor=anchor)
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("reading"), BarColumn(bar_width=30), DownloadColumn(), TimeRemainingColumn())
        with Progress(*columns, transient=True) as bar:
            task = bar.add_task("reading", total=None)
            return audit_ledger(
                directory,
                anchor=anchor,
                progress=lambda done, total: bar.update(task, completed=done, total=total),
            )
    except ValueError as error:
        raise UsageError(f"--anchor: {error}") from error


def ledger_report(report: "LedgerAuditReport", *, anchored: bool) -> Iterator[str]:
    """The report as lines."""
    yield f"directory   {safe(report.directory, 4096)}"
    if report.commit_seq is not None:
        yield f"events      {report.commit_seq}"
        yield f"rows        {report.rows}"
        yield f"mirror      {MIRRORS.get(report.mirror, safe(report.mirror)).format(report.mirrored)}"
        yield f"anchor      {report.commit_seq}:{safe(report.head, 64)}"
    if report.torn_bytes:
        # Beside a fault nobody knows that: what the mirror has seen may have been cut off in the middle.
        what = "are no whole line" if report.faults else "were never acknowledged (no fault)"
        yield f"torn        {report.torn_bytes} bytes at the end {what}"
    if report.set_aside:
        yield f"set aside   {_files(report.set_aside)} of unusable mirrors (no fault)"
    if report.leftovers:
        yield f"leftovers   {_files(report.leftovers)} of unfinished mirrors (no fault)"
    yield ""
    for clause, sentence in CLAUSES:
        if clause != "ANCHOR" or anchored:
            yield from _clause(clause, sentence, report)


def _clause(clause: str, sentence: str, report: "LedgerAuditReport") -> Iterator[str]:
    faults = [fault for fault in report.faults if fault.clause == clause]
    if faults:
        yield f"{clause:<7} FAULT   {sentence}"
    elif report.commit_seq is None and clause != "FILES":
        yield f"{clause:<7} unread  {sentence}"
    else:
        yield f"{clause:<7} ok      {sentence}"
    for fault in faults[:SHOWN_PER_CLAUSE]:
        said = f"{safe(fault.where, 300)}: {safe(fault.message, 600)} [{safe(fault.code)}]"
        yield from paragraph(said, first="        - ", then="          ")
    if len(faults) > SHOWN_PER_CLAUSE:
        yield f"          ... and {len(faults) - SHOWN_PER_CLAUSE} more"


def _files(count: int) -> str:
    return f"{count} file{'' if count == 1 else 's'}"
