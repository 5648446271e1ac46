"""Step 3: reading the two files, and what an open store remembers of them.

Guarantees: a state is believed only if it is private, whole, valid, names this directory, and belongs to
the identity beside it. An open store refuses a state older than the one it last read whole or published,
another one with the same commitSeq, and a later one whose audit doesn't hold the hash it had seen (C4).
Validation is skipped only for bytes identical to those last validated, which were just re-read.

Doesn't: write. It says whether genesis is due or was interrupted (C1); `transaction` acts on it.
"""

from collections.abc import Mapping
from typing import TypeVar

from attrs import define, evolve, frozen

from impl import disk
from impl.canonical import Chain, business_of, state_hash_of
from impl.codec import decode_identity, decode_state
from impl.directory import Directory
from impl.errors import DURABILITY_FAILED, refuse
from impl.files import check_file
from impl.jsontext import FormatError
from impl.validate import validate
from impl.values import DirectoryIdentity, State, StoreIdentity

_Value = TypeVar("_Value")


@frozen
class Known:
    """A state that was read whole or published: its bytes, its value, its audit's text."""

    raw: bytes
    state: State
    chain: Chain


@define
class Memory:
    """What one open store remembers between calls. None of it is ever trusted as capacity."""

    known: Known | None = None
    synced: bool = False
    """Whether this store itself has made `known` durable."""
    clock: int = 0
    """The latest look at the clock, in milliseconds since the epoch."""
    identity_raw: bytes = b""
    identity: StoreIdentity | None = None

    def accept(self, known: Known) -> None:
        """Take `known` as the latest state. Raises DURABILITY_FAILED if it can't follow the one before."""
        before = self.known
        if known is before:
            return
        if before is not None:
            _refuse_rollback(before.state, known.state)
        self.known = known
        self.synced = False


def _refuse_rollback(seen: State, found: State) -> None:
    told = "the state was put back or replaced while this store was open, which could grant slots twice. "
    told += "Close all hosts, find out who wrote the file, and open again"
    if found.commit_seq < seen.commit_seq:
        refuse(DURABILITY_FAILED, f"commitSeq fell from {seen.commit_seq} to {found.commit_seq}: {told}")
    if found.commit_seq == seen.commit_seq and found.state_hash != seen.state_hash:
        refuse(DURABILITY_FAILED, f"commitSeq {seen.commit_seq} has another stateHash than before: {told}")
    if found.audit[seen.commit_seq - 1].hash != seen.audit[-1].hash:
        refuse(DURABILITY_FAILED, f"the audit lacks the entry seen at commitSeq {seen.commit_seq}: {told}")


@frozen
class Base:
    """What a transaction starts from."""

    state: State
    """What was read; for genesis an empty one with commitSeq 0."""
    chain: Chain
    exists: bool
    """Whether a state file exists."""
    identity: StoreIdentity | None
    """What the identity file holds; None if genesis is due or was interrupted."""


def load(directory: Directory, memory: Memory, *, initialize: bool, maximum: int, epoch: int) -> Base:
    """Read and check both files. Raises DURABILITY_FAILED, the codes of S6-S8 and S10, or OSError."""
    identity = _read_identity(directory, memory)
    raw = disk.read_file("state", directory.state_path, lambda found: check_file(directory.state_path, found))
    if raw is None:
        if identity is not None:
            refuse(
                DURABILITY_FAILED,
                f"{directory.state_path} is missing, but the store's identity is there: a new state would "
                "forget admitted runs. Restore the state while no host has the store open",
            )
        if not initialize or memory.known is not None:
            refuse(DURABILITY_FAILED, f"there is no store in {directory.path} any more; open it anew")
        return _genesis(directory, maximum, epoch)
    known = _recognise(raw, directory, memory)
    check_names(directory.state_path, known.state.directory_identity, directory)
    if identity is None:
        _check_interrupted_genesis(directory, known.state, initialize)
    elif known.state.instance_id != identity.instance_id:
        refuse(
            DURABILITY_FAILED,
            f"{directory.state_path} and {directory.identity_path} are of two stores (instanceId differs)",
        )
    memory.accept(known)
    return Base(known.state, known.chain, True, identity)


def _read_identity(directory: Directory, memory: Memory) -> StoreIdentity | None:
    path = directory.identity_path
    raw = disk.read_file("identity", path, lambda found: check_file(path, found))
    if raw is None:
        return None
    if memory.identity is None or raw != memory.identity_raw:
        try:
            identity = decode_identity(raw)
        except FormatError as error:
            refuse(DURABILITY_FAILED, f"{path} is no identity of a store: {error}")
        names = DirectoryIdentity(identity.canonical_path, identity.dev, identity.ino)
        check_names(path, names, directory)
        memory.identity_raw = raw
        memory.identity = identity
    return memory.identity


def _recognise(raw: bytes, directory: Directory, memory: Memory) -> Known:
    """The state in `raw`, validated now or when the very same bytes were last read."""
    if memory.known is not None and memory.known.raw == raw:
        return memory.known
    try:
        return read_whole(raw, memory.known)
    except FormatError as error:
        refuse(DURABILITY_FAILED, f"{directory.state_path} is no state of a store (S1): {error}")


def read_whole(raw: bytes, known: Known | None = None) -> Known:
    """Decode and validate a state. Raises FormatError (S1) or CoordinatorError (S2-S10).

    What `known` has in the very same bytes, or as an equal row, needn't be decoded and validated again.
    """
    state = None if known is None else decode_grown(raw, known)
    if known is None or state is None:
        trusted = None
        state = decode_state(raw)
        chain = Chain.of(state.audit)
    else:
        trusted = known.state
        chain = known.chain
        for entry in state.audit[len(trusted.audit) :]:
            chain = chain.extended(entry)
    business = business_of(state.fencing_epoch, state.max_active_runs, state.reservations, state.commands)
    validate(state, business, state_hash_of(state, chain, business), trusted)
    return Known(raw, state, chain)


def decode_grown(raw: bytes, known: Known) -> State | None:
    """A state whose file begins with the audit of the known one, byte for byte; None if it doesn't.

    With 3,000 commits, of which another process made the last, this takes 20 ms instead of 70.
    """
    head = b'{"audit":[' + known.chain.text
    if not raw.startswith(head):
        return None
    rest = raw[len(head) :]
    if rest.startswith(b",{"):
        rest = rest[1:]
    elif not rest.startswith(b"]"):
        return None
    grown = decode_state(b'{"audit":[' + rest)
    return evolve(
        grown,
        audit=known.state.audit + grown.audit,
        reservations=_same(grown.reservations, known.state.reservations),
        commands=_same(grown.commands, known.state.commands),
    )


def _same(found: Mapping[str, _Value], before: Mapping[str, _Value]) -> dict[str, _Value]:
    """The values found, but the very objects of before where they are equal: those keep their texts."""
    return {key: before[key] if before.get(key) == value else value for key, value in found.items()}


def check_names(path: str, names: DirectoryIdentity, directory: Directory) -> None:
    if names != directory.identity:
        refuse(
            DURABILITY_FAILED,
            f"{path} names the directory {names.canonical_path} (device {names.dev}, inode {names.ino}), but "
            f"stands in {directory.path} (device {directory.dev}, inode {directory.ino}). The store was "
            "copied or moved; a copy is not the store",
        )


def _check_interrupted_genesis(directory: Directory, state: State, initialize: bool) -> None:
    if state.commit_seq != 1 or state.audit[0].action != "initialize":
        refuse(
            DURABILITY_FAILED,
            f"{directory.identity_path} is missing beside a state of {state.commit_seq} commits. "
            "Restore it while no host has the store open",
        )
    if not initialize:
        refuse(
            DURABILITY_FAILED,
            f"{directory.identity_path} is missing: the store's making was interrupted. Open it again",
        )


def _genesis(directory: Directory, maximum: int, epoch: int) -> Base:
    state = State(
        fencing_epoch=epoch,
        commit_seq=0,
        last_wall_time=0,
        directory_identity=directory.identity,
        instance_id=new_uuid(),
        max_active_runs=maximum,
        reservations={},
        commands={},
        audit=(),
        state_hash="",
        version=1,
    )
    return Base(state, Chain.of(()), False, None)


def identity_for(state: State) -> StoreIdentity:
    """The identity that belongs to a state."""
    names = state.directory_identity
    return StoreIdentity(names.canonical_path, names.dev, names.ino, state.instance_id, version=1)


def new_uuid() -> str:
    """A random UUID (version 4), canonical and in lower case."""
    digits = disk.random_hex()
    variant = "89ab"[int(digits[16], 16) % 4]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"
