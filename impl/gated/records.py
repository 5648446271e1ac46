"""Records and their hashes: what an event says of itself, and what a retry is known by.

Guarantees: `eventHash` covers every other field of a record, `attemptId: null` included where there is none,
and nothing volatile; `requestHash` covers the request with its intent. A record's text is canonical JSON.

Doesn't: know of lines or of the chain.
"""

from collections.abc import Mapping
from json.encoder import encode_basestring as quote
from typing import Final

from attrs import evolve

from impl.gated.errors import Context
from impl.gated.state import canonical, text_hash
from impl.gated.values import PHASES, STEP_PHASES, LedgerRecord, Request
from impl.jsontext import FormatError

_PHASES: Final = frozenset(PHASES)


def scope_of(phase: str, run_id: str) -> str:
    """The namespace of a line's key: its run's for lines of steps and compensations, "" for transactions."""
    return run_id if phase in STEP_PHASES else ""


def make_record(where: Context, key: str, before: str, after: str) -> LedgerRecord:
    """The record of an event, with its hash. `before` and `after` are hashes of states."""
    record = LedgerRecord(
        operation_id=where.operation_id,
        run_id=where.run_id,
        node_id=where.node_id,
        event_type=where.event_type,
        phase=where.phase,
        idempotency_key=key,
        before_state_hash=before,
        after_state_hash=after,
        event_hash="",
        attempt_id=where.attempt_id,
    )
    return evolve(record, event_hash=text_hash(record_texts(record_json(record))[0]))


def record_json(record: LedgerRecord) -> dict[str, str]:
    """A record as it stands on its line."""
    shown = {
        "operationId": record.operation_id,
        "runId": record.run_id,
        "nodeId": record.node_id,
        "eventType": record.event_type,
        "phase": record.phase,
        "idempotencyKey": record.idempotency_key,
        "beforeStateHash": record.before_state_hash,
        "afterStateHash": record.after_state_hash,
        "eventHash": record.event_hash,
    }
    if record.attempt_id is not None:
        shown["attemptId"] = record.attempt_id
    return shown


def record_from(shown: Mapping[str, str]) -> LedgerRecord:
    """The record that stands on a line that was checked."""
    return LedgerRecord(
        operation_id=shown["operationId"],
        run_id=shown["runId"],
        node_id=shown["nodeId"],
        event_type=shown["eventType"],
        phase=shown["phase"],
        idempotency_key=shown["idempotencyKey"],
        before_state_hash=shown["beforeStateHash"],
        after_state_hash=shown["afterStateHash"],
        event_hash=shown["eventHash"],
        attempt_id=shown.get("attemptId"),
    )


def request_hash(request: Request) -> str:
    """What a retry is known by."""
    return _request_hash(request, request.idempotency_key, canonical(request.intent))


def event_request_hash(record: LedgerRecord) -> str:
    """The requestHash of a line that no request with an intent stands behind: receipts and the like."""
    return _request_hash(record, record.idempotency_key, "null")


def _request_hash(where: Context, key: str, intent: str) -> str:
    attempt = "null" if where.attempt_id is None else quote(where.attempt_id)
    return text_hash(
        f'{{"attemptId":{attempt},"eventType":{quote(where.event_type)},"idempotencyKey":{quote(key)},'
        f'"intent":{intent},"nodeId":{quote(where.node_id)},"operationId":{quote(where.operation_id)},'
        f'"phase":{quote(where.phase)},"runId":{quote(where.run_id)}}}'
    )


def record_texts(record: Mapping[str, str]) -> tuple[str, str]:
    """The text that a record's eventHash covers, and the record's own.

    Raises FormatError, TypeError or KeyError where `record` has not the shape of one.
    """
    kind, key, node = record["eventType"], record["idempotencyKey"], record["nodeId"]
    operation, phase, run = record["operationId"], record["phase"], record["runId"]
    before, after = record["beforeStateHash"], record["afterStateHash"]
    if not (kind and key and node and operation and run and before and after):
        raise FormatError("one of its record's texts is empty")
    if phase not in _PHASES:
        raise FormatError("its phase is none of the eight")
    first = f'{{"afterStateHash":{quote(after)}'
    middle = f',"beforeStateHash":{quote(before)}'
    event = f',"eventHash":"{record["eventHash"]}"'
    last = (
        f',"eventType":{quote(kind)},"idempotencyKey":{quote(key)},"nodeId":{quote(node)}'
        f',"operationId":{quote(operation)},"phase":"{phase}","runId":{quote(run)}}}'
    )
    if "attemptId" not in record:
        return f'{first},"attemptId":null{middle}{last}', f"{first}{middle}{event}{last}"
    if not record["attemptId"]:
        raise FormatError("its attemptId is empty")
    attempt = f',"attemptId":{quote(record["attemptId"])}'
    return f"{first}{attempt}{middle}{last}", f"{first}{attempt}{middle}{event}{last}"
