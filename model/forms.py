"""The JSON forms of values and outcomes, in the specification's own terms.

Guarantees: what is rendered here names fields as the specification does, leaves absent optional ones out,
and is pure. Rows, commands and audit entries are rendered once and then remembered, since the comparison
asks for them after every action.

Not guaranteed: a private copy. The dictionaries handed out are shared, so treat them as read-only. Nothing
here has hashes in it but `requestHash`, which is a function of the request alone.
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Final

from model.action_forms import action_from_json, action_to_json
from model.outcomes import Accepted, Outcome, Refused
from model.values import JSON, AuditEntry, Command, ForceRelease, Row, SetMaximum, Snapshot, Store
from model.world_forms import world_from_json, world_to_json

__all__ = [
    "action_from_json",
    "action_to_json",
    "canonical",
    "command_to_json",
    "outcome_to_json",
    "request_to_json",
    "reservation_to_json",
    "row_to_json",
    "store_to_json",
    "value_to_json",
    "world_from_json",
    "world_to_json",
]

_OPTIONAL_IN_RESERVATION: Final = (
    ("projectAdmitCommitSeq", "project_admit_commit_seq"),
    ("attemptId", "attempt_id"),
    ("providerJobHandle", "provider_job_handle"),
    ("reservedExpiresAt", "reserved_expires_at"),
    ("renewedAt", "renewed_at"),
)
_OPTIONAL_IN_ROW: Final = (
    ("admitRunVersion", "admit_run_version"),
    ("releaseKind", "release_kind"),
    ("releaseProofId", "release_proof_id"),
)

_remember = object.__setattr__


def canonical(value: JSON) -> str:
    """RFC 8785 text of a value whose numbers are integers and whose keys are ASCII."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def reservation_to_json(row: Row) -> dict[str, JSON]:
    """A row's `reservation`, a fresh dictionary: what the authority's callbacks are given."""
    form: dict[str, JSON] = {
        "reservationId": row.reservation_id,
        "state": row.state,
        "slots": 1,
        "projectId": row.project_id,
        "projectControlDomainId": row.project_control_domain_id,
        "runId": row.run_id,
        "coordinatorEpoch": row.coordinator_epoch,
    }
    for key, name in _OPTIONAL_IN_RESERVATION:
        value = getattr(row, name)
        if value is not None:
            form[key] = value
    return form


def row_to_json(row: Row) -> dict[str, JSON]:
    if row.memo is not None:
        return row.memo
    form: dict[str, JSON] = {
        "reservation": reservation_to_json(row),
        "ownerId": row.owner_id,
        "principal": row.principal,
        "updatedAt": row.updated_at,
        "concurrencyGuarantee": row.concurrency_guarantee,
    }
    for key, name in _OPTIONAL_IN_ROW:
        value = getattr(row, name)
        if value is not None:
            form[key] = value
    _remember(row, "memo", form)
    return form


def request_to_json(request: SetMaximum | ForceRelease) -> dict[str, JSON]:
    if isinstance(request, SetMaximum):
        return {"kind": "setMaxActiveRuns", "maxActiveRuns": request.max_active_runs}
    return {
        "kind": "forceRelease",
        "reservationId": request.reservation_id,
        "riskAcknowledgement": True,
        "reason": request.reason,
    }


def command_to_json(command: Command) -> dict[str, JSON]:
    if command.memo is not None:
        return command.memo
    request = request_to_json(command.request)
    form: dict[str, JSON] = {
        "request": request,
        "record": {
            "commandId": command.command_id,
            "kind": request["kind"],
            "requestHash": sha256(canonical(request).encode()).hexdigest(),
            "callerPrincipal": command.caller_principal,
            "firstCommitSeq": command.commit_seq,
            "lastCommitSeq": command.commit_seq,
            "status": "completed",
        },
        "result": row_to_json(command.result) if isinstance(command.result, Row) else command.result,
    }
    _remember(command, "memo", form)
    return form


def snapshot_to_json(snapshot: Snapshot) -> dict[str, JSON]:
    states = [row.state for row in snapshot.rows]
    reserved, committed = states.count("reserved"), states.count("committed")
    suspect = states.count("orphan-suspect")
    overridden = any(row.concurrency_guarantee == "operator-overridden" for row in snapshot.rows)
    return {
        "commitSeq": snapshot.commit_seq,
        "fencingEpoch": snapshot.fencing_epoch,
        "capacity": {
            "maxActiveRuns": snapshot.max_active_runs,
            "active": reserved + committed + suspect,
            "reserved": reserved,
            "committed": committed,
            "orphanSuspect": suspect,
        },
        "concurrencyGuarantee": "operator-overridden" if overridden else "enforced",
        "reservations": [row_to_json(row) for row in snapshot.rows],
        "commands": [command_to_json(command) for command in snapshot.commands],
    }


def value_to_json(value: Row | Snapshot | Command | JSON) -> JSON:
    """What an operation answers, in the specification's terms; a JSON value is its own form."""
    if isinstance(value, Row):
        return row_to_json(value)
    if isinstance(value, Command):
        return command_to_json(value)
    if isinstance(value, Snapshot):
        return snapshot_to_json(value)
    return value


def outcome_to_json(outcome: Outcome) -> dict[str, JSON]:
    if isinstance(outcome, Accepted):
        return {"accepted": value_to_json(outcome.value)}
    if isinstance(outcome, Refused):
        return {"refused": outcome.code, "sideEffects": outcome.side_effects}
    return {"declined": outcome.reason}


def _entry_to_json(entry: AuditEntry) -> dict[str, JSON]:
    if entry.memo is not None:
        return entry.memo
    form: dict[str, JSON] = {
        "commitSeq": entry.commit_seq,
        "epoch": entry.epoch,
        "recordedAt": entry.recorded_at,
        "action": entry.action,
        "principal": entry.principal,
    }
    _remember(entry, "memo", form)
    return form


def store_to_json(store: Store) -> Mapping[str, JSON]:
    """The durable state without hashes and identity; rows in order, commands by id."""
    return {
        "version": 1,
        "fencingEpoch": store.fencing_epoch,
        "commitSeq": store.commit_seq,
        "lastWallTime": store.last_wall_time,
        "maxActiveRuns": store.max_active_runs,
        "reservations": [row.memo or row_to_json(row) for row in store.rows],
        "commands": {command.command_id: command_to_json(command) for command in store.commands},
        "audit": [entry.memo or _entry_to_json(entry) for entry in store.audit],
    }
