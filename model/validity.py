"""What a state must satisfy each time it is read and before it is written: the clauses S1-S10.

`faults` names the clauses that a state breaks, and `first_fault` the code with which it is refused, in the
specification's order: S1-S4, then row by row S5-S8, then S9, S10. Results are remembered on the state.

Hashes are not in the model's values. Two things stand for them: an audit entry holds the business content
it was made for, so S4 compares contents; and S2's and S3's hashes are right by construction. `is_successor`
tells whether a state's audit holds what another's did, which is what its hashes would show (C4).
"""

from typing import Final

from model.texts import LARGEST, is_integer, is_uuid
from model.values import ADMITTED, HOLDING, AuditEntry, Binding, Command, Row, SetMaximum, Store

CODES_OF_CLAUSES: Final = {
    "S1": "DURABILITY_FAILED",
    "S2": "DURABILITY_FAILED",
    "S3": "DURABILITY_FAILED",
    "S4": "DURABILITY_FAILED",
    "S5": "DURABILITY_FAILED",
    "S6": "ADMISSION_BINDING_CONFLICT",
    "S7": "ADMISSION_BINDING_CONFLICT",
    "S8": "ADMISSION_BINDING_CONFLICT",
    "S9": "DURABILITY_FAILED",
    "S10": "CAPACITY_EXCEEDED",
}

_STATES: Final = frozenset({"reserved", "committed", "orphan-suspect", "released", "expired"})
_remember = object.__setattr__


def _is_name(value: object) -> bool:
    return type(value) is str and value != ""


def _is_absent_or_name(value: object) -> bool:
    return value is None or _is_name(value)


def _is_absent_or_integer(value: object, least: int = 0) -> bool:
    return value is None or is_integer(value, least)


def row_has_its_shape(row: Row) -> bool:
    """S1, of a row."""
    return (
        row.state in _STATES
        and 0 <= row.updated_at <= LARGEST
        and 0 <= row.coordinator_epoch <= LARGEST
        and all(map(_is_name, (row.reservation_id, *row.binding, row.owner_id, row.principal)))
        and row.concurrency_guarantee in {"enforced", "operator-overridden"}
        and _is_absent_or_integer(row.project_admit_commit_seq, 1)
        and _is_absent_or_integer(row.reserved_expires_at)
        and _is_absent_or_integer(row.renewed_at)
        and _is_absent_or_integer(row.admit_run_version)
        and _is_absent_or_name(row.attempt_id)
        and _is_absent_or_name(row.provider_job_handle)
        and row.release_kind in {None, "normal", "force"}
        and _is_absent_or_name(row.release_proof_id)
    )


def command_has_its_shape(command: Command) -> bool:
    """S1, of a command. Its status is always `completed`, and both its commit numbers are one field."""
    request, result = command.request, command.result
    return (
        _is_name(command.caller_principal)
        and is_integer(command.commit_seq, 1)
        and (row_has_its_shape(result) if isinstance(result, Row) else is_integer(result, 1))
        and (
            is_integer(request.max_active_runs, 1)
            if isinstance(request, SetMaximum)
            else is_uuid(request.reservation_id) and _is_name(request.reason)
        )
    )


def entry_has_its_shape(entry: AuditEntry) -> bool:
    """S1, of an audit entry."""
    return (
        is_integer(entry.commit_seq, 0)
        and is_integer(entry.epoch, 0)
        and is_integer(entry.recorded_at, 0)
        and _is_name(entry.action)
        and _is_name(entry.principal)
    )


def s1(store: Store) -> bool:
    """The closed shape; `commitSeq` ≥ 1."""
    return (
        is_integer(store.commit_seq, 1)
        and is_integer(store.fencing_epoch, 0)
        and is_integer(store.last_wall_time, 0)
        and is_integer(store.max_active_runs, 1)
        and all(map(row_has_its_shape, store.rows))
        and all(map(command_has_its_shape, store.commands))
        and all(map(entry_has_its_shape, store.audit))
    )


def s2(store: Store) -> bool:
    return len(store.audit) == store.commit_seq


def s3(store: Store) -> bool:
    """Entries count from 1, `recordedAt` never falls, no `epoch` is above the stored one."""
    earlier = 0
    for number, entry in enumerate(store.audit, 1):
        if entry.commit_seq != number or entry.recorded_at < earlier or entry.epoch > store.fencing_epoch:
            return False
        earlier = entry.recorded_at
    return True


def s4(store: Store) -> bool:
    if not store.audit:
        return True
    last = store.audit[-1]
    return last.recorded_at <= store.last_wall_time and last.digest == store.business


def _s5_row(row: Row, store: Store) -> bool:
    return (
        is_uuid(row.reservation_id)
        and row.updated_at <= store.last_wall_time
        and row.coordinator_epoch <= store.fencing_epoch
    )


def _s6_row(row: Row) -> bool:
    return row.state not in ADMITTED or (
        row.project_admit_commit_seq is not None and row.reserved_expires_at is None
    )


def _s7_row(row: Row) -> bool:
    return row.state != "reserved" or (
        row.reserved_expires_at is not None and row.project_admit_commit_seq is None
    )


def s5(store: Store) -> bool:
    """No two rows have one id, either: ids are the keys of one JSON object."""
    ids = {row.reservation_id for row in store.rows}
    return len(ids) == len(store.rows) and all(_s5_row(row, store) for row in store.rows)


def s6(store: Store) -> bool:
    return all(map(_s6_row, store.rows))


def s7(store: Store) -> bool:
    return all(map(_s7_row, store.rows))


def s8(store: Store) -> bool:
    admitted = [row.binding for row in store.rows if row.state in ADMITTED]
    return len(set(admitted)) == len(admitted)


def s9(store: Store) -> bool:
    """A stored request has its record's kind and hash by construction; its answer has that kind too."""
    ids = {command.command_id for command in store.commands}
    return len(ids) == len(store.commands) and all(
        is_uuid(command.command_id)
        and command.commit_seq <= store.commit_seq
        and isinstance(command.result, int) == isinstance(command.request, SetMaximum)
        for command in store.commands
    )


def s10(store: Store) -> bool:
    return sum(row.state in HOLDING for row in store.rows) <= store.max_active_runs


_CLAUSES: Final = (
    ("S1", s1),
    ("S2", s2),
    ("S3", s3),
    ("S4", s4),
    ("S5", s5),
    ("S6", s6),
    ("S7", s7),
    ("S8", s8),
    ("S9", s9),
    ("S10", s10),
)


def faults(store: Store, known: Store | None = None) -> tuple[str, ...]:
    """The clauses that `store` breaks, in order; `known` is a valid state that it has grown from."""
    if store.faults is None:
        if known is not None and known.faults == () and _grew_well(store, known):
            _remember(store, "faults", ())
        else:
            _remember(store, "faults", tuple(clause for clause, holds in _CLAUSES if not holds(store)))
    assert store.faults is not None
    return store.faults


def _grew_well(store: Store, known: Store) -> bool:
    """All clauses at once, where one entry was appended to the audit of `known`, which is valid.

    Looks only at what `known` does not have, since a model is asked after every action. False means only
    that the clauses have to be looked at one by one.
    """
    entry = store.audit[-1]
    return (
        store.commit_seq == known.commit_seq + 1 == len(store.audit) == entry.commit_seq
        and known.fencing_epoch <= entry.epoch <= store.fencing_epoch <= LARGEST
        and known.audit[-1].recorded_at <= entry.recorded_at <= store.last_wall_time <= LARGEST
        and known.last_wall_time <= store.last_wall_time
        and entry_has_its_shape(entry)
        and entry.digest.rows is store.rows
        and entry.digest.commands is store.commands
        and entry.digest.fencing_epoch == store.fencing_epoch
        and entry.digest.max_active_runs == store.max_active_runs
        and is_integer(store.max_active_runs, 1)
        and _rows_grew_well(store, known)
        and (store.commands is known.commands or (s9(store) and command_has_its_shape(store.commands[-1])))
    )


def _rows_grew_well(store: Store, known: Store) -> bool:
    """Every row stands where it stood, the new ones after them; held slots and bindings are counted anew."""
    old = known.rows
    held = 0
    bindings = []
    for place, row in enumerate(store.rows):
        state = row.state
        if state in HOLDING:
            held += 1
            if state in ADMITTED:
                bindings.append(row.binding)
        if place < len(old) and row is old[place]:
            continue
        if place < len(old) and row.reservation_id != old[place].reservation_id:
            return False
        if not (row_has_its_shape(row) and _s5_row(row, store) and _s6_row(row) and _s7_row(row)):
            return False
    added = {row.reservation_id for row in store.rows[len(old) :]}
    return (
        held <= store.max_active_runs
        and len(set(bindings)) == len(bindings)
        and len(added) == len(store.rows) - len(old)
        and all(row.reservation_id not in added for row in old)
    )


def first_fault(store: Store, known: Store | None = None) -> str | None:
    """The code with which `store` is refused, or `None` if it is as it must be."""
    broken = faults(store, known)
    if not broken:
        return None
    if broken[0] in {"S1", "S2", "S3", "S4", "S9", "S10"}:
        return CODES_OF_CLAUSES[broken[0]]
    return CODES_OF_CLAUSES[_first_fault_of_rows(store) or broken[0]]


def _first_fault_of_rows(store: Store) -> str | None:
    bindings: set[Binding] = set()
    for row in store.rows:
        if not _s5_row(row, store):
            return "S5"
        if not _s6_row(row):
            return "S6"
        if not _s7_row(row):
            return "S7"
        if row.state in ADMITTED:
            if row.binding in bindings:
                return "S8"
            bindings.add(row.binding)
    return None


def is_successor(store: Store, seen: Store) -> bool:
    """Whether an open store that has seen `seen` may believe `store` (C4)."""
    if store is seen:
        return True
    if store.commit_seq <= seen.commit_seq:
        return store == seen
    return store.audit[: len(seen.audit)] == seen.audit
