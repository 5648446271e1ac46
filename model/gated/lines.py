"""Records and lines: how they are hashed, written, read and replayed.

`sealed` builds a line, `parsed` reads one strictly: bytes are a valid line only if writing what they say
gives the same bytes. Whether a line stands where it belongs in a chain is `chain_breaks_at`'s business.
"""

import json
from collections.abc import Iterable
from typing import Any, Final, cast

from model.gated.actions import PHASES
from model.gated.texts import canonical, hash_of, in_order, is_name, is_plain, utf16
from model.gated.values import (
    NO_HASH,
    RECEIPT_PHASES,
    Change,
    Foul,
    Line,
    Name,
    Record,
    State,
)
from model.values import JSON

_RECORD: Final = {
    "operationId": "operation_id",
    "runId": "run_id",
    "nodeId": "node_id",
    "eventType": "event_type",
    "phase": "phase",
    "idempotencyKey": "idempotency_key",
    "beforeStateHash": "before_state_hash",
    "afterStateHash": "after_state_hash",
    "eventHash": "event_hash",
}
NOTHING: Final = Change()
_DIGITS: Final = frozenset("0123456789abcdef")


def record(
    *,
    operation_id: str,
    run_id: str,
    node_id: str,
    event_type: str,
    phase: str,
    idempotency_key: str,
    attempt_id: str | None,
    before: str,
    after: str,
) -> Record:
    """The record of an event, its hash included."""
    event_hash = hash_of(
        canonical(
            {
                "operationId": operation_id,
                "runId": run_id,
                "nodeId": node_id,
                "eventType": event_type,
                "phase": phase,
                "idempotencyKey": idempotency_key,
                "beforeStateHash": before,
                "afterStateHash": after,
                "attemptId": attempt_id,
            }
        )
    )
    return Record(
        operation_id,
        run_id,
        node_id,
        event_type,
        phase,
        idempotency_key,
        before,
        after,
        event_hash,
        attempt_id,
    )


def request_hash(
    *,
    operation_id: str,
    run_id: str,
    node_id: str,
    event_type: str,
    phase: str,
    idempotency_key: str,
    attempt_id: str | None,
    intent: JSON = None,
) -> str:
    """What tells an honest retry from another request under the same key."""
    return hash_of(
        canonical(
            {
                "operationId": operation_id,
                "runId": run_id,
                "nodeId": node_id,
                "eventType": event_type,
                "phase": phase,
                "idempotencyKey": idempotency_key,
                "attemptId": attempt_id,
                "intent": intent,
            }
        )
    )


def record_to_json(entry: Record) -> dict[str, JSON]:
    form: dict[str, JSON] = {key: getattr(entry, name) for key, name in _RECORD.items()}
    if entry.attempt_id is not None:
        form["attemptId"] = entry.attempt_id
    return form


def change_to_json(change: Change) -> dict[str, JSON]:
    return {
        "set": {name: json.loads(value) for name, value in change.set},
        "remove": list(change.remove),
    }


def line_to_json(line: Line) -> dict[str, JSON]:
    return {
        "sequence": line.sequence,
        "record": record_to_json(line.record),
        "requestHash": line.request_hash,
        "change": change_to_json(line.change),
        "previousHash": line.previous_hash,
        "hash": line.hash,
    }


def name_of(entry: Record) -> Name:
    """The record's key in its namespace; only its phase says which that is."""
    run = entry.run_id if entry.phase in RECEIPT_PHASES else ""
    return run, entry.idempotency_key


def sealed(sequence: int, entry: Record, requested: str, change: Change, previous: str) -> Line:
    """The line that says this, with its hash and its bytes."""
    # Canonical JSON by hand, in the order of its names: the parts need be rendered only once.
    start = f'{{"change":{canonical(change_to_json(change))},'
    rest = (
        f'"previousHash":"{previous}","record":{canonical(record_to_json(entry))},'
        f'"requestHash":"{requested}","sequence":{sequence}}}'
    )
    digest = hash_of(start + rest)
    text = f'{start}"hash":"{digest}",{rest}\n'.encode()
    return Line(sequence, entry, requested, change, previous, digest, text, name_of(entry))


def parsed(text: bytes) -> Line | Foul:
    """The line that these bytes, which end in their only newline, are; or `Foul`."""
    try:
        form = json.loads(text.decode())
        line = _from_form(form)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Foul(text)
    return line if line is not None and line.text == text else Foul(text)


def _from_form(form: Any) -> Line | None:
    entry, change = form["record"], form["change"]
    texts = [entry[key] for key in _RECORD]
    attempt = entry.get("attemptId")
    if not all(map(is_name, texts)) or not (attempt is None or is_name(attempt)):
        return None
    if entry["phase"] not in PHASES or type(form["sequence"]) is not int:
        return None
    if not all(map(is_hash, (entry["eventHash"], form["requestHash"], form["previousHash"]))):
        return None
    made = record(
        operation_id=entry["operationId"],
        run_id=entry["runId"],
        node_id=entry["nodeId"],
        event_type=entry["eventType"],
        phase=entry["phase"],
        idempotency_key=entry["idempotencyKey"],
        attempt_id=attempt,
        before=entry["beforeStateHash"],
        after=entry["afterStateHash"],
    )
    rows, gone = change["set"], change["remove"]
    if made.event_hash != entry["eventHash"] or not _is_change(rows, gone):
        return None
    changes = Change(tuple((name, canonical(rows[name])) for name in in_order(rows)), tuple(gone))
    return sealed(form["sequence"], made, form["requestHash"], changes, form["previousHash"])


def _is_change(rows: Any, gone: Any) -> bool:
    return (
        isinstance(rows, dict)
        and isinstance(gone, list)
        and is_plain(rows)
        and all(map(is_name, (*rows, *gone)))
        and gone == in_order(set(gone))
    )


def is_hash(value: object) -> bool:
    return isinstance(value, str) and len(value) == 64 and _DIGITS.issuperset(value)


def chain_breaks_at(entries: Iterable[Line | Foul]) -> int | None:
    """The index of the first entry that is no valid successor of those before it, if there is one."""
    previous = NO_HASH
    for index, entry in enumerate(entries):
        if isinstance(entry, Foul) or entry.sequence != index + 1 or entry.previous_hash != previous:
            return index
        previous = entry.hash
    return None


def difference(before: State, after: State) -> Change:
    """What makes `after` of `before`."""
    old, new = dict(before.rows), dict(after.rows)
    changed = tuple((name, text) for name, text in after.rows if old.get(name) != text)
    return Change(changed, tuple(name for name, _ in before.rows if name not in new))


def replayed(state: State, change: Change) -> State:
    """The state after one more line."""
    if change == NOTHING:
        return state
    rows = dict(state.rows)
    rows.update(change.set)
    for name in change.remove:
        rows.pop(name, None)
    return State(tuple(sorted(rows.items(), key=lambda row: utf16(row[0]))))


def fold(lines: Iterable[Line]) -> State:
    """The state that a ledger makes, from nothing."""
    state = State()
    for line in lines:
        state = replayed(state, line.change)
    return state


def state_of(value: object) -> State | None:
    """The state that this JSON value is, if it is one."""
    if not isinstance(value, dict) or not all(map(is_name, value)) or not is_plain(value):
        return None
    rows = cast(dict[str, JSON], value)
    return State(tuple((name, canonical(rows[name])) for name in in_order(rows)))
