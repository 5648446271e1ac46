"""forceRelease and setMaxActiveRuns: an operator's commands, each of which takes effect once.

Guarantees: a command id is bound to one principal and one request; its answer is stored in the commit that
carries its effect, and a replay answers the same and changes nothing.

Doesn't: prove anything. Who forces a release takes the risk, and the row says so for ever.
"""

from collections.abc import Callable, Mapping
from typing import Any

from attrs import evolve

from impl.canonical import request_hash
from impl.errors import CAPACITY_EXCEEDED, CROSS_PRINCIPAL_COMMAND, IDEMPOTENCY_CONFLICT, refuse
from impl.operations.guards import caller, conflict, existing, operator
from impl.values import (
    Command,
    CommandRecord,
    ForceReleaseRequest,
    Request,
    Row,
    SetMaxActiveRunsRequest,
)
from impl.work import Work


def force_release(work: Work, arguments: Mapping[str, Any]) -> object:
    """Take a slot back without proof."""
    operator(work)
    request = ForceReleaseRequest(arguments["id"], arguments["reason"], True, "forceRelease")
    return _once(work, arguments["commandId"], request, lambda: _force(work, arguments["id"]))


def _force(work: Work, reservation_id: str) -> Row:
    row = existing(work, reservation_id)
    if row.reservation.state == "expired":
        conflict(row, "it holds no slot")
    if row.reservation.state == "released":
        conflict(row, "it holds no slot, and a proven release stays one")
    released = evolve(
        row.reservation, state="released", coordinator_epoch=work.epoch, reserved_expires_at=None
    )
    return work.put(
        row,
        released,
        release_kind="force",
        concurrency_guarantee="operator-overridden",
        updated_at=work.now,
    )


def set_max_active_runs(work: Work, arguments: Mapping[str, Any]) -> object:
    """Set the number of slots."""
    operator(work)
    maximum = arguments["maxActiveRuns"]
    request = SetMaxActiveRunsRequest(maximum, "setMaxActiveRuns")
    return _once(work, arguments["commandId"], request, lambda: _set_maximum(work, maximum))


def _set_maximum(work: Work, maximum: int) -> int:
    held = work.held()
    if maximum < held:
        refuse(CAPACITY_EXCEEDED, f"{held} slots are held; the maximum can't be set to {maximum} below them")
    work.max_active_runs = maximum
    return maximum


def _once(work: Work, command_id: str, request: Request, effect: Callable[[], Row | int]) -> Row | int:
    """The command rules."""
    principal = caller(work).principal
    asked = request_hash(request)
    known = work.commands.get(command_id)
    if known is not None:
        if known.record.caller_principal != principal:
            refuse(CROSS_PRINCIPAL_COMMAND, f"command {command_id} belongs to another principal")
        if known.record.request_hash != asked:
            refuse(IDEMPOTENCY_CONFLICT, f"command {command_id} was given with another request")
        return known.result
    result = effect()
    record = CommandRecord(
        command_id=command_id,
        kind=request.kind,
        request_hash=asked,
        caller_principal=principal,
        first_commit_seq=work.commit_seq,
        last_commit_seq=work.commit_seq,
        status="completed",
    )
    work.commands[command_id] = Command(record, result, request)
    return result
