"""audit_ledger: what is wrong with a ledger-gated store on disk, told as a whole.

Guarantees: reads only: no byte of the store's files changes and none is made; takes no lock; never raises for
a bad store. With an anchor, `sequence:hash` as `Ledger.head` once told it and somebody kept elsewhere, it
notices whole records that were cut off the end even where the mirror is gone as well.

Doesn't: wait for a writer. While others are at work, an event between two reads may show as a fault: audit
again. A mirror that is behind or missing is no fault, nor is a piece of an unfinished line at the ledger's
end: opening mends them.
"""

import re
import stat
from collections.abc import Callable, Iterator
from os import PathLike, stat_result
from typing import Final, Literal

from attrs import define, field, frozen

from impl import disk, disklog
from impl.directory import path_of
from impl.errors import CoordinatorError, describe
from impl.files import directory_faults, file_faults
from impl.gated.chain import Tail, lines
from impl.gated.connection import MIRROR_ERRORS, copy_mirror
from impl.gated.errors import INTEGRITY_FAILED, MIRROR_FAILED, LedgerCode, LedgerError
from impl.gated.journal import Journal
from impl.gated.lines import Line, Position
from impl.gated.mirror import Mirror
from impl.gated.place import LEDGER_NAME, LOCK_NAME, MIRROR_NAME, SIDES
from impl.gated.recovery import ASIDE, LEFTOVER
from impl.gated.verdict import Fold, examining

Clause = Literal["FILES", "LEDGER", "KEYS", "MIRROR", "ANCHOR"]
MirrorState = Literal["intact", "behind", "missing", "unusable", "unread"]

_ANCHOR: Final = re.compile("(0|[1-9][0-9]{0,15}):([0-9a-f]{64})")


@frozen
class LedgerFault:
    """One thing that is wrong with a store: `where` is a file of it."""

    code: LedgerCode
    clause: Clause
    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.clause} {self.where}: {self.message} ({self.code})"


@frozen
class LedgerAuditReport:
    """What an audit found. Numbers are None where no ledger could be read."""

    directory: str
    faults: tuple[LedgerFault, ...]
    commit_seq: int | None = None
    """How many whole, right events there are."""
    head: str | None = None
    """The hash of the last of them. `f"{commit_seq}:{head}"` is an anchor."""
    rows: int | None = None
    """How many rows the state has."""
    mirror: MirrorState = "unread"
    mirrored: int | None = None
    """How many events the mirror has."""
    torn_bytes: int = 0
    """Bytes at the ledger's end that the next opening cuts off: never acknowledged, so no fault."""
    set_aside: int = 0
    """Files of unusable mirrors that openings have set aside."""
    leftovers: int = 0
    """Unfinished new mirrors of killed openings: no fault, the next one removes them."""


@define
class _Look:
    """An audit under way."""

    path: str
    anchor: tuple[int, str] | None
    progress: Callable[[int, int], None] | None = None
    faults: list[LedgerFault] = field(factory=list)
    tail: Tail = field(factory=lambda: Tail(Position()))
    fold: Fold = field(factory=Fold)
    anchored: bool = False
    unread: bool = False
    """Whether what stands at the ledger's place can't be one."""
    mirror: MirrorState = "unread"
    mirrored: int | None = None

    def told_from(self, start: int, total: int) -> Callable[[int, int], None] | None:
        """Who is told how far a reading is that begins when `start` of `total` bytes are done."""
        progress = self.progress
        return None if progress is None else lambda position, _size: progress(start + position, total)

    def fault(self, clause: Clause, where: str, message: str, code: LedgerCode = INTEGRITY_FAILED) -> None:
        self.faults.append(LedgerFault(code, clause, where, message))

    def found(self, clause: Clause, name: str) -> stat_result | None:
        """What stands at a file's place; its faults are noted."""
        standing = disk.lstat(f"{self.path}/{name}")
        if standing is not None:
            for message in file_faults(f"{self.path}/{name}", standing):
                self.fault(clause, name, message)
        return standing

    def readable(self, clause: Clause, name: str) -> bool:
        """Whether a file stands there that can be read, or nothing; what a FIFO says is no content."""
        standing = self.found(clause, name)
        return standing is None or stat.S_ISREG(standing.st_mode)


def audit_ledger(
    directory: str | PathLike[str],
    *,
    anchor: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> LedgerAuditReport:
    """Look at the store in `directory`. ValueError if that is no path, or `anchor` no `sequence:hash`.

    `progress` is told how many bytes have been read, and of how many: the ledger is read twice, once for
    itself and once beside its mirror.
    """
    try:
        path = path_of(directory)
    except CoordinatorError as error:
        raise ValueError(error.message) from None
    look = _Look(path, _parsed(anchor), progress)
    names: list[str] = []
    try:
        names = _directory(look)
        if LEDGER_NAME in names:
            _ledger(look)
            if not look.unread:
                _anchor(look)
    except Exception as error:  # noqa: BLE001 -- an audit tells what it couldn't read instead of failing
        look.fault("FILES", path, f"can't be read: {describe(error)}")
    end = look.tail.end if LEDGER_NAME in names and not look.unread else None
    return LedgerAuditReport(
        directory=path,
        faults=tuple(look.faults),
        commit_seq=None if end is None else end.sequence,
        head=None if end is None else end.hash,
        rows=None if end is None else len(look.fold.rows),
        mirror=look.mirror,
        mirrored=look.mirrored,
        torn_bytes=look.tail.size,
        set_aside=sum(ASIDE.fullmatch(name) is not None for name in names),
        leftovers=sum(LEFTOVER.fullmatch(name) is not None for name in names),
    )


def _parsed(anchor: str | None) -> tuple[int, str] | None:
    if anchor is None:
        return None
    parts = _ANCHOR.fullmatch(anchor)
    if parts is None:
        raise ValueError("an anchor is sequence:hash, e.g. 12:44136fa3… with all 64 digits of the hash")
    return int(parts[1]), parts[2]


def _directory(look: _Look) -> list[str]:
    standing = disk.lstat(look.path)
    if standing is None:
        look.fault("FILES", look.path, "there is no such directory")
        return []
    for message in directory_faults(look.path, standing):
        look.fault("FILES", look.path, message)
    names = disk.list_names(look.path)
    if LEDGER_NAME not in names:
        mirror = " beside its mirror" if MIRROR_NAME in names else ": there is no store in this directory"
        look.fault("FILES", LEDGER_NAME, f"is missing{mirror}")
    look.found("FILES", LOCK_NAME)
    return names


def _ledger(look: _Look) -> None:
    if not look.readable("FILES", LEDGER_NAME):
        look.unread = True
        return
    path = f"{look.path}/{LEDGER_NAME}"
    descriptor = disklog.open_read_only(path)
    if descriptor is None:
        look.fault("FILES", LEDGER_NAME, "vanished")
        return
    journal = Journal(path, descriptor, (0, 0))
    try:
        size = journal.size()
        try:
            for line in lines(journal, look.tail, size, look.told_from(0, 2 * size)):
                look.fold.add(line)
                look.anchored = look.anchored or (line.sequence, line.hash) == look.anchor
        except LedgerError as error:
            look.fault("LEDGER", LEDGER_NAME, error.message)
            return
        try:
            look.fold.refuse_repeated()
        except LedgerError as error:
            look.fault("KEYS", LEDGER_NAME, error.message)
        _mirror(look, lines(journal, Tail(Position()), size, look.told_from(size, 2 * size)))
    finally:
        journal.close()


def _mirror(look: _Look, ledger: Iterator[Line]) -> None:
    readable = [look.readable("MIRROR", MIRROR_NAME + side) for side in SIDES]
    if disk.lstat(f"{look.path}/{MIRROR_NAME}") is None:
        look.mirror = "missing"
    elif not all(readable):
        look.mirror = "unusable"
    sound_at = None
    if look.mirror == "unread":
        with disklog.scratch_directory() as scratch:
            sound_at = _compare(look, scratch, ledger)
    if look.tail.bad_line is not None and sound_at != look.tail.end:
        look.fault("LEDGER", LEDGER_NAME, f"its last line is wrong: {look.tail.bad_line}")


def _compare(look: _Look, scratch: str, ledger: Iterator[Line]) -> Position | None:
    """Compare a copy of the mirror with the ledger; answers where it ends, if it is sound."""
    copy = Mirror(f"{scratch}/{MIRROR_NAME}")
    try:
        copy_mirror(f"{look.path}/{MIRROR_NAME}", copy.path)
        with examining(copy, 0.0, trusted=True) as examination:
            examination.follow(ledger, Fold())
    except LedgerError as error:
        look.mirror = "unusable"
        look.fault("MIRROR", MIRROR_NAME, error.message)
        return None
    except (*MIRROR_ERRORS, OSError) as error:
        look.fault("MIRROR", MIRROR_NAME, f"can't be read: {describe(error)}", MIRROR_FAILED)
        return None
    finally:
        copy.disconnect()
    if examination.unusable is not None:
        look.mirror = "unusable"
        look.fault("MIRROR", MIRROR_NAME, examination.unusable, MIRROR_FAILED)
        return None
    look.mirrored = examination.head.sequence
    look.mirror = "intact" if examination.head == look.tail.end else "behind"
    return examination.head


def _anchor(look: _Look) -> None:
    if look.anchor is None or look.anchored:
        return
    sequence, hash_ = look.anchor
    if look.anchor == (0, Position().hash):
        return
    have = look.tail.end.sequence
    if have < sequence:
        told = f"ends at event {have}; event {sequence} of the anchor was cut off"
    else:
        told = f"has another event {sequence} than the anchor, whose hash is {hash_}"
    look.fault("ANCHOR", LEDGER_NAME, told)
