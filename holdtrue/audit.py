"""`holdtrue audit`: verifies a store on disk, read-only and without a host.

Says what is there (commits, rows by state, slots held) and, clause by clause, what holds and what does not.
It writes nothing, takes no lock and asks no authority, so it can't say whether a run is really admitted. A
store in use may publish while it is read; each file is read whole, so what is judged is a state that was.
"""

from pathlib import Path

from holdtrue.exits import Exit, UsageError
from holdtrue.out import Printer
from reports.plain import paragraph, safe

CLAUSES = (
    ("files", "directory and files are regular, private and mine, and name each other"),
    ("S1", "the closed shape; at least one commit"),
    ("S2", "stateHash is right; as many audit entries as commits"),
    ("S3", "the audit chain: numbers, hashes, times, epochs"),
    ("S4", "the last entry is the state's own: its time and its digest"),
    ("S5", "each row stands under its own id, a UUID; no time or epoch from the future"),
    ("S6", "a committed or orphan-suspect row has its admission and no TTL"),
    ("S7", "a reserved row has a TTL and no admission"),
    ("S8", "no two committed or orphan-suspect rows share a binding"),
    ("S9", "each command stands under its own id, completed, with the hash of its request"),
    ("S10", "no more slots are held than the maximum"),
)
SHOWN_PER_CLAUSE = 5


def audit_command(options: object) -> int:
    """`holdtrue audit` as the command line asks for it."""
    return audit(Path(vars(options)["directory"]), Printer())


def audit(directory: Path, printer: Printer) -> int:
    """Audits the store in `directory` and prints what it found; returns the exit code.

    UsageError if there is no such directory: a mistyped path must not look like a faulty store.
    """
    raise NotImplementedError(directory, printer, Exit, UsageError, paragraph, safe)
