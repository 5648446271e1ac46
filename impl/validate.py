"""S2-S10: what a state must satisfy each time it is read, and before it is written. (S1 is `codec`'s.)

Guarantees: `faults` yields every violation in the specified order, each with its clause, code and place;
`validate` raises the first. A state that grew out of an already validated one can be held against that
one as `trusted`: only what was vouched for, object by object, is not looked at twice, and what is new is
also held against the closed shape.

Doesn't: know which directory the state should name, or what an open store has seen before: see `ledger`.
"""

from collections.abc import Iterator
from typing import Literal

from attrs import frozen

from impl.arguments import is_uuid
from impl.canonical import ZERO_HASH, Business, entry_hash, request_hash
from impl.errors import (
    ADMISSION_BINDING_CONFLICT,
    CAPACITY_EXCEEDED,
    DURABILITY_FAILED,
    Code,
    CoordinatorError,
)
from impl.jsontext import FormatError
from impl.shapes import check_shape
from impl.values import (
    ADMITTED,
    HOLDING,
    AuditEntry,
    Command,
    ForceReleaseRequest,
    Reservation,
    Row,
    State,
)

Clause = Literal["S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8", "S9", "S10", "FILES"]


@frozen
class Fault:
    """One thing that is wrong with a store: `where` is a file or a place in the state."""

    code: Code
    clause: Clause
    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.clause} {self.where}: {self.message} ({self.code})"


def validate(state: State, business: Business, state_hash: str, trusted: State | None = None) -> None:
    """Raise the first fault of a state, if there is one. Raises CoordinatorError."""
    for fault in faults(state, business, state_hash, trusted):
        raise CoordinatorError(
            fault.code,
            f"the coordinator's state is refused, {fault}. Nothing was changed; run an audit of the "
            "directory, and restore it only while no host has it open.",
        )


def faults(
    state: State, business: Business, state_hash: str, trusted: State | None = None
) -> Iterator[Fault]:
    """All that is wrong, in the order S1 (of new parts), S2-S4, row by row S5-S8, S9, S10.

    `business` and `state_hash` are what `canonical` makes of this very state.
    """
    if trusted is not None:
        yield from _shape_faults(state, trusted)
    yield from _seal_faults(state, state_hash)
    yield from _chain_faults(state, trusted)
    yield from _latest_faults(state, business)
    yield from _row_faults(state, trusted)
    yield from _command_faults(state, trusted)
    held = slots_held(state)
    if held > state.max_active_runs:
        message = f"{held} slots are held, {state.max_active_runs} are allowed"
        yield Fault(CAPACITY_EXCEEDED, "S10", "reservations", message)


def slots_held(state: State) -> int:
    """How many rows hold a slot."""
    return sum(row.reservation.state in HOLDING for row in state.reservations.values())


def _shape_faults(state: State, trusted: State) -> Iterator[Fault]:
    """S1 for what was built here rather than decoded."""
    fresh: list[tuple[str, Row | Command]] = []
    for key, row in state.reservations.items():
        if trusted.reservations.get(key) is not row:
            fresh.append((f"reservations[{key}]", row))
    for key, command in state.commands.items():
        if trusted.commands.get(key) is not command:
            fresh.append((f"commands[{key}]", command))
    for where, value in [*fresh, *_last_entry(state)]:
        try:
            check_shape(value)
        except FormatError as error:
            yield Fault(DURABILITY_FAILED, "S1", where, str(error))


def _last_entry(state: State) -> list[tuple[str, AuditEntry]]:
    return [(f"audit[{len(state.audit) - 1}]", state.audit[-1])] if state.audit else []


def _seal_faults(state: State, state_hash: str) -> Iterator[Fault]:
    """S2."""
    if state.state_hash != state_hash:
        yield Fault(DURABILITY_FAILED, "S2", "stateHash", "is not the hash of the rest of the state")
    if len(state.audit) != state.commit_seq:
        message = f"has {len(state.audit)} entries, but commitSeq is {state.commit_seq}"
        yield Fault(DURABILITY_FAILED, "S2", "audit", message)


def _chain_faults(state: State, trusted: State | None) -> Iterator[Fault]:
    """S3. Entries that a trusted state holds already are vouched for."""
    done = _vouched(state, trusted)
    previous_hash = state.audit[done - 1].hash if done else ZERO_HASH
    previous_time = state.audit[done - 1].recorded_at if done else 0
    for place, entry in enumerate(state.audit[done:], start=done):
        where = f"audit[{place}]"
        if entry.commit_seq != place + 1:
            yield Fault(DURABILITY_FAILED, "S3", where, f"commitSeq is {entry.commit_seq}, not {place + 1}")
        if entry.previous_hash != previous_hash:
            yield Fault(DURABILITY_FAILED, "S3", where, "previousHash is not the hash before it")
        if entry.hash != entry_hash(entry):
            yield Fault(DURABILITY_FAILED, "S3", where, "hash is not the hash of the entry")
        if entry.recorded_at < previous_time:
            yield Fault(DURABILITY_FAILED, "S3", where, "recordedAt falls")
        if entry.epoch > state.fencing_epoch:
            yield Fault(DURABILITY_FAILED, "S3", where, f"epoch {entry.epoch} is above fencingEpoch")
        previous_hash = entry.hash
        previous_time = entry.recorded_at


def _vouched(state: State, trusted: State | None) -> int:
    """How many audit entries need no second look."""
    if trusted is None or state.fencing_epoch < trusted.fencing_epoch:
        return 0
    done = len(trusted.audit)
    return done if state.audit[:done] == trusted.audit else 0


def _latest_faults(state: State, business: Business) -> Iterator[Fault]:
    """S4."""
    if not state.audit:
        return
    latest = state.audit[-1]
    if latest.recorded_at > state.last_wall_time:
        yield Fault(DURABILITY_FAILED, "S4", "lastWallTime", "is before the last recordedAt")
    if latest.state_digest != business.digest:
        message = "is not the digest of the epoch, maximum, rows and commands that stand here"
        yield Fault(DURABILITY_FAILED, "S4", f"audit[{len(state.audit) - 1}].stateDigest", message)


def _row_faults(state: State, trusted: State | None) -> Iterator[Fault]:
    """S5-S8, row by row."""
    bindings: dict[tuple[str, str, str], str] = {}
    for key, row in state.reservations.items():
        where = f"reservations[{key}]"
        reservation = row.reservation
        if trusted is None or trusted.reservations.get(key) is not row:
            yield from _id_faults(where, key, reservation)
        if row.updated_at > state.last_wall_time:
            yield Fault(DURABILITY_FAILED, "S5", where, "updatedAt is after lastWallTime")
        if reservation.coordinator_epoch > state.fencing_epoch:
            yield Fault(DURABILITY_FAILED, "S5", where, "coordinatorEpoch is above fencingEpoch")
        if reservation.state in ADMITTED:
            if reservation.project_admit_commit_seq is None:
                message = f"{reservation.state} without projectAdmitCommitSeq"
                yield Fault(ADMISSION_BINDING_CONFLICT, "S6", where, message)
            if reservation.reserved_expires_at is not None:
                message = f"{reservation.state} with reservedExpiresAt: an admitted run has no time to live"
                yield Fault(ADMISSION_BINDING_CONFLICT, "S6", where, message)
        if reservation.state == "reserved":
            if reservation.reserved_expires_at is None:
                yield Fault(ADMISSION_BINDING_CONFLICT, "S7", where, "reserved without reservedExpiresAt")
            if reservation.project_admit_commit_seq is not None:
                message = "reserved with projectAdmitCommitSeq"
                yield Fault(ADMISSION_BINDING_CONFLICT, "S7", where, message)
        if reservation.state in ADMITTED:
            other = bindings.setdefault(reservation.binding, key)
            if other != key:
                message = f"holds a slot for the same project, domain and run as {other}"
                yield Fault(ADMISSION_BINDING_CONFLICT, "S8", where, message)


def _id_faults(where: str, key: str, reservation: Reservation) -> Iterator[Fault]:
    """S5's part that depends on the row alone."""
    if key != reservation.reservation_id:
        yield Fault(DURABILITY_FAILED, "S5", where, "the key is not the row's reservationId")
    if not _are_uuids(reservation):
        yield Fault(DURABILITY_FAILED, "S5", where, "an id is no canonical lower-case UUID")


def _are_uuids(reservation: Reservation) -> bool:
    ids = (reservation.reservation_id, *reservation.binding, reservation.attempt_id)
    return all(value is None or is_uuid(value) for value in ids)


def _command_faults(state: State, trusted: State | None) -> Iterator[Fault]:
    """S9."""
    for key, command in state.commands.items():
        where = f"commands[{key}]"
        record = command.record
        if record.last_commit_seq > state.commit_seq:
            yield Fault(DURABILITY_FAILED, "S9", where, "lastCommitSeq is above commitSeq")
        if trusted is not None and trusted.commands.get(key) is command:
            continue
        if key != record.command_id:
            yield Fault(DURABILITY_FAILED, "S9", where, "the key is not the command's commandId")
        if not is_uuid(record.command_id):
            yield Fault(DURABILITY_FAILED, "S9", where, "commandId is no canonical lower-case UUID")
        if record.status != "completed":
            yield Fault(DURABILITY_FAILED, "S9", where, "status is not completed")
        if record.first_commit_seq != record.last_commit_seq:
            yield Fault(DURABILITY_FAILED, "S9", where, "firstCommitSeq is not lastCommitSeq")
        result = command.result
        if isinstance(result, Row) and not _are_uuids(result.reservation):
            yield Fault(DURABILITY_FAILED, "S9", where, "an id in the result is no canonical lower-case UUID")
        request = command.request
        if isinstance(request, ForceReleaseRequest) and not is_uuid(request.reservation_id):
            yield Fault(DURABILITY_FAILED, "S9", where, "the request's id is no canonical lower-case UUID")
        if request is not None:
            if request.kind != record.kind:
                yield Fault(DURABILITY_FAILED, "S9", where, "the request is of another kind than the record")
            if request_hash(request) != record.request_hash:
                yield Fault(DURABILITY_FAILED, "S9", where, "requestHash is not the hash of the request")
