"""One line of the ledger: how it is made, and how one that was read is held against everything it must be.

Guarantees: a line is the canonical JSON of `{sequence, record, requestHash, change, previousHash, hash}`.
`check_line` takes exactly the bytes that `make_line` would make of the same content, at that place of the
chain: whatever else stands there, one flipped bit included, is a FormatError that says what is wrong.

Doesn't: know the state. Whether the hashes of states are right is not looked at here.
"""

import json
import re
from collections.abc import Mapping
from json.encoder import encode_basestring as quote
from typing import Any, Final, NamedTuple, NoReturn

from attrs import evolve, frozen

from impl.canonical import ZERO_HASH
from impl.gated.errors import Context
from impl.gated.state import canonical, check_json, in_order, is_hash, text_hash
from impl.gated.values import NO_CHANGE, PHASES, STEP_PHASES, Change, LedgerRecord, Request
from impl.jsontext import FormatError

_HASHES: Final = re.compile("[0-9a-f]{192}")
_PHASES: Final = frozenset(PHASES)
_NO_CHANGE_TEXT: Final = '{"remove":[],"set":{}}'
_FIELDS: Final = ("eventType", "idempotencyKey", "nodeId", "operationId", "phase", "runId")


@frozen
class Draft:
    """An event that is about to be appended: what a line holds beside its place in the chain."""

    record: LedgerRecord
    request_hash: str
    change: Change = NO_CHANGE

    @property
    def scope(self) -> str:
        """In which namespace the key stands."""
        return scope_of(self.record.phase, self.record.run_id)


@frozen
class Position:
    """A place in the chain: after `sequence` lines, of which the last has `hash`, at byte `length`.

    `last` is the byte at which that line starts.
    """

    sequence: int = 0
    hash: str = ZERO_HASH
    length: int = 0
    last: int = 0


class Line(NamedTuple):
    """A line that was checked, or made: what is mirrored of it. A tuple, since there are 100,000 of them."""

    sequence: int
    hash: str
    request_hash: str
    record: str
    """The record's canonical text."""
    scope: str
    key: str
    change: Mapping[str, Any]
    """As on the line: `set` and `remove`."""
    start: int
    """The byte of the ledger at which the line starts."""
    size: int
    """In bytes, with its newline."""

    @property
    def end(self) -> Position:
        """The place in the chain after this line."""
        return Position(self.sequence, self.hash, self.start + self.size, self.start)


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
    return evolve(record, event_hash=text_hash(_record_texts(record_json(record))[0]))


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


def record_from_text(text: str) -> LedgerRecord:
    """A record from its canonical text, as the mirror keeps it. Raises FormatError."""
    try:
        shown = json.loads(text)
        record = LedgerRecord(
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
        if canonical(record_json(record)) != text or text_hash(_record_texts(shown)[0]) != record.event_hash:
            raise FormatError("the mirror's copy of a record isn't what it was")
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise FormatError(f"the mirror's copy of a record can't be read: {error}") from None
    return record


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


def make_line(draft: Draft, after: Position) -> tuple[Line, bytes]:
    """The line of `draft` in its place after `after`, and its bytes with the newline."""
    change = {"remove": list(draft.change.remove), "set": dict(draft.change.set)}
    head = f'{{"change":{canonical(change)}'
    record = _record_texts(record_json(draft.record))[1]
    tail = _tail(after.hash, record, draft.request_hash, after.sequence + 1)
    found = text_hash(head + tail)
    raw = f'{head},"hash":"{found}"{tail}\n'.encode()
    line = Line(
        after.sequence + 1,
        found,
        draft.request_hash,
        record,
        draft.scope,
        draft.record.idempotency_key,
        change,
        after.length,
        len(raw),
    )
    return line, raw


def check_line(raw: bytes, after: Position) -> Line:
    """The line in `raw` (without its newline), which must follow `after`. Raises FormatError."""
    try:
        text = raw.decode()
        shown, end = _DECODER.raw_decode(text)
        record = shown["record"]
        hashed, record_text = _record_texts(record)
        change = shown["change"]
        change_text = _NO_CHANGE_TEXT if change == _NOTHING else _change_text(change)
        found_hash, asked_hash = shown["hash"], shown["requestHash"]
        head = f'{{"change":{change_text}'
        tail = _tail(after.hash, record_text, asked_hash, after.sequence + 1)
        if end != len(text) or f'{head},"hash":"{found_hash}"{tail}' != text:
            _explain(shown, after)
        if text_hash(head + tail) != found_hash:
            raise FormatError("its hash is not that of its content")
        if text_hash(hashed) != record["eventHash"]:
            raise FormatError("its eventHash is not that of its record")
        before_hash, after_hash = record["beforeStateHash"], record["afterStateHash"]
        if _HASHES.fullmatch(before_hash + after_hash + asked_hash) is None or not (
            len(before_hash) == len(after_hash) == 64
        ):
            raise FormatError("one of its hashes is none")
    except RecursionError:
        raise FormatError("it is nested too deeply") from None
    except (KeyError, TypeError, AttributeError):
        raise FormatError("it lacks a field, or has one of another kind") from None
    except ValueError as error:
        raise FormatError(str(error)) from None
    return Line(
        after.sequence + 1,
        found_hash,
        asked_hash,
        record_text,
        record["runId"] if record["phase"] in STEP_PHASES else "",
        record["idempotencyKey"],
        change,
        after.length,
        len(raw) + 1,
    )


_NOTHING: Final[dict[str, Any]] = {"remove": [], "set": {}}


def _tail(previous_hash: str, record: str, request_hash: str, sequence: int) -> str:
    """The text of a line after the place of `hash`, which sorts behind `change`."""
    return (
        f',"previousHash":"{previous_hash}","record":{record},"requestHash":"{request_hash}",'
        f'"sequence":{sequence}}}'
    )


def _record_texts(record: Mapping[str, str]) -> tuple[str, str]:
    """The text that a record's eventHash covers, and the record's own. Raises what a wrong shape provokes."""
    for name in _FIELDS:
        if not record[name]:
            raise FormatError(f"its {name} is empty")
    if record["phase"] not in _PHASES:
        raise FormatError("its phase is none of the eight")
    attempt = None
    if "attemptId" in record:
        attempt = quote(record["attemptId"])
        if not record["attemptId"]:
            raise FormatError("its attemptId is empty")
    first = f'{{"afterStateHash":"{record["afterStateHash"]}"'
    middle = f',"beforeStateHash":"{record["beforeStateHash"]}"'
    last = (
        f',"eventType":{quote(record["eventType"])},"idempotencyKey":{quote(record["idempotencyKey"])}'
        f',"nodeId":{quote(record["nodeId"])},"operationId":{quote(record["operationId"])}'
        f',"phase":{quote(record["phase"])},"runId":{quote(record["runId"])}}}'
    )
    if attempt is None:
        return (
            f'{first},"attemptId":null{middle}{last}',
            f'{first}{middle},"eventHash":"{record["eventHash"]}"{last}',
        )
    return (
        f'{first},"attemptId":{attempt}{middle}{last}',
        f'{first},"attemptId":{attempt}{middle},"eventHash":"{record["eventHash"]}"{last}',
    )


def _change_text(change: Any) -> str:
    """The canonical text of a line's change. Raises FormatError if it is none."""
    if type(change) is not dict or len(change) != 2:
        raise FormatError("its change is none")
    rows, gone = change["set"], change["remove"]
    if type(rows) is not dict or type(gone) is not list or "" in rows or "" in gone:
        raise FormatError("its change is none")
    check_json(rows, "its change", -1)  # rows stand one level deeper here than in a state
    if gone:
        check_json(gone, "its change")
        if len({*gone, *rows}) != len(gone) + len(rows) or in_order(gone) != gone:
            raise FormatError("its change names a row twice, or not in order")
    return canonical(change)


def _no_float(text: str) -> NoReturn:
    raise FormatError(f"{text[:40]} is no integer")


_DECODER: Final = json.JSONDecoder(parse_float=_no_float, parse_constant=_no_float)


def _explain(shown: Mapping[str, Any], after: Position) -> NoReturn:
    """Say what is wrong with a line whose content, put into canonical form, isn't its bytes."""
    if shown["sequence"] != after.sequence + 1:
        raise FormatError(f"its sequence is not {after.sequence + 1}: lines are missing, or not in order")
    if shown["previousHash"] != after.hash:
        raise FormatError("its previousHash is not the hash of the line before: the chain is broken")
    if not all(is_hash(shown[name]) for name in ("hash", "requestHash", "previousHash")):
        raise FormatError("one of its hashes is none")
    raise FormatError("it is no canonical JSON of a line, or has a field too many")
