"""audit_directory: what is wrong with a store on disk, told as a whole.

Guarantees: reads only, takes no lock, needs no host; never raises for a bad store; goes on after a fault as
far as that makes sense, so that one look tells all.

Doesn't: wait for a writer. While hosts are at work a publication between two reads may show as a fault;
audit again.
"""

import stat
from collections import Counter
from collections.abc import Iterator, Mapping
from os import PathLike

from attrs import frozen

from impl import disk
from impl.canonical import Chain, business_of, state_hash_of
from impl.codec import decode_identity, decode_state
from impl.directory import Directory, path_of
from impl.errors import DURABILITY_FAILED, describe
from impl.files import IDENTITY_NAME, LOCK_NAME, STATE_NAME, directory_faults, file_faults
from impl.jsontext import FormatError
from impl.publish import LEFTOVER
from impl.validate import Clause, Fault, faults, slots_held
from impl.values import DirectoryIdentity, State, StoreIdentity

__all__ = ["AuditReport", "Fault", "audit_directory"]


@frozen
class AuditReport:
    """What an audit found. Numbers are None where no state could be read."""

    directory: str
    faults: tuple[Fault, ...]
    commit_seq: int | None = None
    fencing_epoch: int | None = None
    rows: Mapping[str, int] | None = None
    """How many rows there are in each state."""
    held: int | None = None
    maximum: int | None = None
    entries: int | None = None
    """How many audit entries there are."""
    commands: int | None = None
    leftovers: int = 0
    """Temp files of killed writers: no fault, the next transaction removes them."""


def audit_directory(directory: str | PathLike[str]) -> AuditReport:
    """Look at the store in `directory`, and at nothing else. Raises COMMAND_FAILED if that is no path."""
    path = path_of(directory)
    found: list[Fault] = []
    try:
        state, leftovers = _look(path, found)
    except Exception as error:  # noqa: BLE001 -- an audit tells what it couldn't read instead of failing
        found.append(_fault(path, f"can't be read: {describe(error)}"))
        return AuditReport(path, tuple(found))
    if state is None:
        return AuditReport(path, tuple(found), leftovers=leftovers)
    return AuditReport(
        directory=path,
        faults=tuple(found),
        commit_seq=state.commit_seq,
        fencing_epoch=state.fencing_epoch,
        rows=dict(Counter(row.reservation.state for row in state.reservations.values())),
        held=slots_held(state),
        maximum=state.max_active_runs,
        entries=len(state.audit),
        commands=len(state.commands),
        leftovers=leftovers,
    )


def _fault(where: str, message: str, clause: Clause = "FILES") -> Fault:
    return Fault(DURABILITY_FAILED, clause, where, message)


def _look(path: str, found: list[Fault]) -> tuple[State | None, int]:
    standing = disk.lstat(path)
    if standing is None:
        found.append(_fault(path, "there is no such directory"))
        return None, 0
    if not stat.S_ISDIR(standing.st_mode):
        found.extend(_fault(path, message) for message in directory_faults(path, standing))
        return None, 0
    names = disk.list_names(path)
    leftovers = sum(LEFTOVER.fullmatch(name) is not None for name in names)
    if STATE_NAME not in names and IDENTITY_NAME not in names:
        # Whatever this directory is, it is not for us to say how private it should be.
        found.append(_fault(path, "there is no store in this directory"))
        return None, leftovers
    found.extend(_fault(path, message) for message in directory_faults(path, standing))
    if disk.real_path(path) != path:
        found.append(_fault(path, "is reached through a symlink; a store is named by its real path"))
    here = Directory(path, standing.st_dev, standing.st_ino)
    lock = disk.lstat(here.lock_path)
    if lock is not None:  # a missing one is no fault: the next transaction makes it
        found.extend(_fault(LOCK_NAME, message) for message in file_faults(here.lock_path, lock))
    identity = _identity(here, found)
    state = _state(here, found)
    if STATE_NAME not in names:
        found.append(_fault(STATE_NAME, "is missing beside its identity"))
    elif IDENTITY_NAME not in names:
        found.append(_fault(IDENTITY_NAME, "is missing beside its state; if its making was cut off, open it"))
    if state is not None and identity is not None and state.instance_id != identity.instance_id:
        found.append(_fault(IDENTITY_NAME, "instanceId is not that of the state"))
    return state, leftovers


def _read(subject: disk.Subject, path: str, name: str, found: list[Fault]) -> bytes | None:
    standing = disk.lstat(path)
    if standing is None:
        return None
    messages = list(file_faults(path, standing))
    found.extend(_fault(name, message) for message in messages)
    if not stat.S_ISREG(standing.st_mode):
        return None  # what a FIFO or a device says is no content of the store's
    try:
        return disk.read_file(subject, path, lambda _: None)
    except OSError as error:
        if not messages:
            found.append(_fault(name, f"can't be read: {error}"))
        return None


def _identity(here: Directory, found: list[Fault]) -> StoreIdentity | None:
    raw = _read("identity", here.identity_path, IDENTITY_NAME, found)
    if raw is None:
        return None
    try:
        identity = decode_identity(raw)
    except FormatError as error:
        found.append(_fault(IDENTITY_NAME, str(error)))
        return None
    named = DirectoryIdentity(identity.canonical_path, identity.dev, identity.ino)
    found.extend(_misnamed(IDENTITY_NAME, named, here))
    return identity


def _state(here: Directory, found: list[Fault]) -> State | None:
    raw = _read("state", here.state_path, STATE_NAME, found)
    if raw is None:
        return None
    try:
        state = decode_state(raw)
    except FormatError as error:
        found.append(_fault(STATE_NAME, str(error), "S1"))
        return None
    business = business_of(state.fencing_epoch, state.max_active_runs, state.reservations, state.commands)
    state_hash = state_hash_of(state, Chain.of(state.audit), business)
    found.extend(faults(state, business, state_hash))
    found.extend(_misnamed(STATE_NAME, state.directory_identity, here))
    return state


def _misnamed(name: str, named: DirectoryIdentity, here: Directory) -> Iterator[Fault]:
    if named != here.identity:
        yield _fault(
            name,
            f"names {named.canonical_path} (device {named.dev}, inode {named.ino}), but stands in "
            f"{here.path} (device {here.dev}, inode {here.ino}): the store was copied or moved",
        )
