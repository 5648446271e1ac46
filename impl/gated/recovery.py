"""Opening: the ledger is verified whole, its unacknowledged tail cut, the mirror made to be what it says.

Guarantees: everything is decided before anything is changed: where the answer is LEDGER_INTEGRITY_FAILED, no
byte of the ledger and no row of the mirror was. Afterwards the mirror is the fold of the whole ledger. Killed
anywhere, the next recovery comes to the same. An unusable mirror is never removed, only given another name.

Doesn't: notice whole records that were cut off the end if the mirror is gone or unusable as well; an audit
with an anchor from elsewhere does.
"""

import contextlib
import re
import time
from collections.abc import Iterator
from typing import Final, Literal

from attrs import define

from impl import disk, disklog
from impl.errors import describe
from impl.gated.chain import Progress, Tail, lines
from impl.gated.connection import MIRROR_ERRORS, is_damage
from impl.gated.errors import APPEND_FAILED, MIRROR_FAILED, LedgerError, Recoverability, UncutError, broken
from impl.gated.journal import Journal
from impl.gated.lines import Line, Position
from impl.gated.mirror import Mirror
from impl.gated.place import MIRROR_NAME, SIDES, LedgerPlace, is_own_regular
from impl.gated.values import RecoveryReport
from impl.gated.verdict import Examination, Fold, examining
from impl.points import tell

ASIDE: Final = re.compile(re.escape(MIRROR_NAME) + r"\.aside-[0-9a-f]{32}(-wal|-shm)?")
"""The names of what was set aside."""
LEFTOVER: Final = re.compile(re.escape(MIRROR_NAME) + r"\.[0-9a-f]{32}\.new(-wal|-shm|-journal)?")
"""The names of new mirrors that weren't finished."""


@define
class Files:
    """The two files of one open store, and where they are."""

    place: LedgerPlace
    mirror: Mirror
    journal: Journal | None = None


def recover(files: Files, deadline: float, progress: Progress | None = None) -> RecoveryReport:
    """Recover the store under its lock; a ledger that isn't open yet is opened or made. Raises LedgerError.

    `deadline` (monotonic) is until when to wait for foreign writers of the mirror.
    """
    place, mirror = files.place, files.mirror
    tell("recovery", "before")
    with ledger_steps("opening the ledger"):
        if files.journal is None:
            files.journal = Journal.open(place.ledger_path)
    with mirror_steps("reading the mirror", "retry"):
        examination, tail = _examine(files, max(0.0, deadline - time.monotonic()), progress)
    cuttable = examination.sound and examination.head == tail.end
    if tail.bad_line is not None and not cuttable:
        raise broken(
            f"the last line of {place.ledger_path} is wrong ({tail.bad_line}), and no sound mirror that ends "
            "just before it says that it was never acknowledged. Nothing was changed"
        )
    notes = []
    with ledger_steps("making the ledger"):
        journal = files.journal
        if journal is None:
            journal = files.journal = Journal.create(place.ledger_path)
            notes.append("a new ledger was made")
        if tail.end.sequence == 0:  # whoever made it may have been killed before its name was durable
            disk.sync_directory("ledger", place.path)
        if tail.size:
            notes.append(_told(tail))
            journal.cut(tail.end.length)
        behind = not examination.sound or examination.head != tail.end
        if behind and tail.end.sequence:
            renew_last(journal, tail.end)
    with mirror_steps("catching up"):
        _remove_leftovers(place)
        replayed = 0
        aside: tuple[str, ...] = ()
        how: Literal["caught-up", "intact", "rebuilt"] = "caught-up" if behind else "intact"
        if behind and examination.sound:
            try:
                replayed = mirror.replay(_reread(journal, examination.head, tail.end))
            except MIRROR_ERRORS as error:
                if not is_damage(error):
                    raise
                examination.unusable = f"it can't be written to: {describe(error)}"
        if not examination.sound:
            if examination.unusable is not None:
                notes.append(f"the mirror was set aside: {examination.unusable}")
            aside, replayed = _rebuild(place, journal, mirror, tail.end)
            how = "rebuilt"
    tell("recovery", "after")
    return RecoveryReport(tail.size, replayed, how, aside, tuple(notes))


def _examine(files: Files, timeout_s: float, progress: Progress | None) -> tuple[Examination, Tail]:
    tail = Tail(Position())
    fold = Fold()
    with examining(files.mirror, timeout_s) as examination:
        if files.journal is not None:
            with ledger_steps("reading the ledger"):
                ledger = lines(files.journal, tail, files.journal.size(), progress)
                examination.follow(ledger, fold)
        else:
            examination.follow(iter(()), fold)
    return examination, tail


def renew_last(journal: Journal, end: Position) -> None:
    """Make the last line durable, whoever wrote it and was killed. Raises OSError.

    All before it are: nothing is appended before what stands there was synced.
    """
    journal.renew(end.last, journal.read(end.last, end.length - end.last))


def _reread(journal: Journal, start: Position, end: Position) -> Iterator[Line]:
    """Lines that were verified before, once more: so none of them had to be kept in memory."""
    return lines(journal, Tail(start), end.length)


def _told(tail: Tail) -> str:
    if tail.bad_line is not None:
        return f"a last line of {tail.size} bytes that is wrong and was never acknowledged was cut off"
    return f"{tail.size} bytes of a last line that was never finished were cut off"


def _rebuild(
    place: LedgerPlace, journal: Journal, mirror: Mirror, end: Position
) -> tuple[tuple[str, ...], int]:
    mirror.disconnect()
    aside = _set_aside(place)
    path = f"{place.mirror_path}.{disk.random_hex()}.new"
    disklog.create_mirror(path)
    new = Mirror(path)
    try:
        replayed = new.build(_reread(journal, Position(), end))
        new.open.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        new.disconnect()
    disklog.built_mirror()
    disklog.sync_mirror(path)
    disklog.rename_mirror(path, place.mirror_path)
    disk.sync_directory("mirror", place.path)
    return aside, replayed


def _set_aside(place: LedgerPlace) -> tuple[str, ...]:
    """Give the mirror's files other names, durably: a WAL that came back would spoil the new database."""
    ending = f".aside-{disk.random_hex()}"
    names = []
    for side in SIDES:
        if disk.lstat(place.mirror_path + side) is not None:
            disklog.set_aside(place.mirror_path + side, place.mirror_path + ending + side)
            names.append(MIRROR_NAME + ending + side)
    if names:
        disk.sync_directory("mirror", place.path)
    return tuple(names)


def _remove_leftovers(place: LedgerPlace) -> None:
    """Remove unfinished new mirrors of killed recoveries."""
    for name in disk.list_names(place.path):
        if LEFTOVER.fullmatch(name):
            found = disk.lstat(f"{place.path}/{name}")
            if found is not None and is_own_regular(found):
                disk.unlink_temp(f"{place.path}/{name}")


@contextlib.contextmanager
def ledger_steps(what: str) -> Iterator[None]:
    """Steps on the ledger file: what fails there is told as such."""
    try:
        yield
    except UncutError as error:
        raise LedgerError(APPEND_FAILED, f"{what} failed: {error}", "in_doubt", cause=error) from error
    except OSError as error:
        raise LedgerError(APPEND_FAILED, f"{what} failed: {describe(error)}", "retry", cause=error) from error


@contextlib.contextmanager
def mirror_steps(what: str, recoverability: Recoverability = "in_doubt") -> Iterator[None]:
    """Steps on the mirror: what fails there is told as such. The ledger is as it should be all the same."""
    try:
        yield
    except (*MIRROR_ERRORS, OSError) as error:
        raise LedgerError(
            MIRROR_FAILED, f"{what} failed: {describe(error)}", recoverability, cause=error
        ) from error
