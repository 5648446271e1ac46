"""One line of the ledger: how it is made, and how one that was read is held against everything it must be.

Guarantees: a line is the canonical JSON of `{sequence, record, requestHash, change, previousHash, hash}`.
`check_line` takes exactly the bytes that `make_line` would make of the same content, at that place of the
chain: whatever else stands there, one flipped bit included, is a FormatError that says what is wrong.

Doesn't: know the state. Whether the hashes of states are right is not looked at here.
"""

import json
import re
from binascii import unhexlify
from collections.abc import Callable, Mapping
from hashlib import sha256 as _sha256
from typing import Any, Final, NamedTuple, NoReturn

from attrs import frozen

from impl.canonical import ZERO_HASH, encode
from impl.gated.records import record_from, record_json, record_texts, scope_of
from impl.gated.state import DEEPEST, canonical, check_json, in_order, is_hash, text_hash
from impl.gated.values import NO_CHANGE, PHASES, STEP_PHASES, Change, LedgerRecord
from impl.jsontext import FormatError


def _no_float(text: str) -> NoReturn:
    raise FormatError(f"{text[:40]} is no integer")


NOTHING: Final[Mapping[str, Any]] = {"remove": [], "set": {}}
"""The change of a line that changes nothing."""
_DECODER: Final = json.JSONDecoder(parse_float=_no_float, parse_constant=_no_float)
_parse: Final[Callable[[str, int], tuple[Any, int]]] = vars(_DECODER)["scan_once"]
_TEXT: Final = r'[^"\\\x00-\x1f]+'
_PLAIN: Final = re.compile(
    r',"hash":"(.{64})"(,"previousHash":"(.{64})","record":({"afterStateHash":"(.{64})")'
    rf'(,"attemptId":"{_TEXT}")?(,"beforeStateHash":"(.{{64}})"),"eventHash":"(.{{64}})"(,"eventType":"{_TEXT}"'
    rf',"idempotencyKey":"({_TEXT})","nodeId":"{_TEXT}","operationId":"{_TEXT}"'
    rf',"phase":"({"|".join(PHASES)})","runId":"({_TEXT})"}}),"requestHash":"(.{{64}})","sequence":([0-9]+)}})',
    re.DOTALL,  # so that the 64 characters, each of which is held against something later, cost nothing here
)
"""A line after its change, if its record has no text that needs an escape."""
_new_tuple: Final = tuple.__new__
_LONG_NUMBER: Final = re.compile("[0-9]{16}")
_NO_CHANGE_TEXT: Final = '{"remove":[],"set":{}}'


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


class Position(NamedTuple):
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
    text: str
    """All of it, without its newline."""
    hash: str
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


def make_line(draft: Draft, after: Position) -> tuple[Line, bytes]:
    """The line of `draft` in its place after `after`, and its bytes with the newline."""
    change = {"remove": list(draft.change.remove), "set": dict(draft.change.set)}
    head = f'{{"change":{canonical(change)}'
    record = record_texts(record_json(draft.record))[1]
    tail = _tail(after.hash, record, draft.request_hash, after.sequence + 1)
    found = text_hash(head + tail)
    text = f'{head},"hash":"{found}"{tail}'
    raw = f"{text}\n".encode()
    key = draft.record.idempotency_key
    return Line(after.sequence + 1, text, found, draft.scope, key, change, after.length, len(raw)), raw


def check_line(raw: bytes, sequence: int, previous_hash: str, start: int) -> Line:
    """The line in `raw` (without its newline), which must be line `sequence`. Raises FormatError.

    `start` is the byte of the ledger at which it starts.
    """
    try:
        text = raw.decode()
        change_end = text.find('},"hash":"') + 1
        plain = _PLAIN.fullmatch(text, change_end) if text.startswith('{"change":{') else None
        if plain is None:
            found = _look_closely(text, sequence, previous_hash)
        else:
            found = _look_fast(text, text[10:change_end], plain.groups(), sequence, previous_hash)
    except RecursionError:
        raise FormatError("it is nested too deeply") from None
    except (KeyError, TypeError, AttributeError):
        raise FormatError("it lacks a field, or has one of another kind") from None
    except StopIteration:
        raise FormatError("its change is no JSON") from None
    except ValueError as error:
        raise FormatError(str(error)) from None
    # What NamedTuple's own __new__ does takes twice as long.
    return _new_tuple(Line, (sequence, text, *found, start, len(raw) + 1))


_Found = tuple[str, str, str, Mapping[str, Any]]
"""A line's hash, scope, key and change."""


def _look_fast(
    text: str, change_text: str, pieces: tuple[str, ...], sequence: int, previous_hash: str
) -> _Found:
    """What a line holds whose texts have no escapes: but for the change it is canonical by its very shape.

    Nearly every line is such a one, and opening looks at each: this takes a third of looking closely.
    """
    (
        found, tail, previous, first, after, attempt, middle, before, event, last, key, phase, run, asked,
        number,
    ) = pieces  # fmt: skip
    hashes = before + after + asked
    if (
        previous != previous_hash
        or number != str(sequence)
        or not (unhexlify(hashes) and hashes == hashes.lower())
    ):
        return _look_closely(text, sequence, previous_hash)  # which says what is wrong, if anything is
    change = NOTHING
    if change_text != _NO_CHANGE_TEXT:
        change, _ = _parse(change_text, 0)
        usual = (
            change_text.startswith('{"remove":[],"set":{"')
            and len(change) == 2
            and "" not in change["set"]
            and change_text.isascii()
            and _LONG_NUMBER.search(change_text) is None
            and (len(change_text) < 2 * DEEPEST or not _may_be_deep(change_text))
        )
        if (encode(change) if usual else _change_text(change)) != change_text:
            raise FormatError("its change is no canonical JSON")
    if _sha256(f'{{"change":{change_text}{tail}'.encode()).hexdigest() != found:
        raise FormatError("its hash is not that of its content")
    attempt = ',"attemptId":null' if attempt is None else attempt
    if _sha256(f"{first}{attempt}{middle}{last}".encode()).hexdigest() != event:
        raise FormatError("its eventHash is not that of its record")
    return found, run if phase in STEP_PHASES else "", key, change


def _look_closely(text: str, sequence: int, previous_hash: str) -> _Found:
    """What any line holds: the text that these contents must have is put together and compared."""
    shown, end = _DECODER.raw_decode(text)
    record, change, found, asked = shown["record"], shown["change"], shown["hash"], shown["requestHash"]
    hashed, record_text = record_texts(record)
    head = f'{{"change":{_change_text(change)}'
    tail = _tail(previous_hash, record_text, asked, sequence)
    if f'{head},"hash":"{found}"{tail}' != text or end != len(text):
        _explain(shown, sequence, previous_hash)
    if text_hash(head + tail) != found:
        raise FormatError("its hash is not that of its content")
    if text_hash(hashed) != record["eventHash"]:
        raise FormatError("its eventHash is not that of its record")
    if not is_hash(asked):
        raise FormatError("its requestHash is none")
    scope = scope_of(record["phase"], record["runId"])
    return found, scope, record["idempotencyKey"], change


def stored(text: str) -> tuple[LedgerRecord, str]:
    """The record and the requestHash of a line's text that was checked when it was stored.

    Raises FormatError if it isn't what it was.
    """
    try:
        shown = json.loads(text)
        check_line(text.encode(), shown["sequence"], shown["previousHash"], 0)
        return record_from(shown["record"]), shown["requestHash"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise FormatError(f"the mirror's copy of a line is not what it was: {error}") from None


def _tail(previous_hash: str, record: str, request_hash: str, sequence: int) -> str:
    """The text of a line after the place of `hash`, which sorts behind `change`."""
    return (
        f',"previousHash":"{previous_hash}","record":{record},"requestHash":"{request_hash}",'
        f'"sequence":{sequence}}}'
    )


def _change_text(change: Any) -> str:
    """The canonical text of a line's change. Raises FormatError, TypeError or KeyError if it is none."""
    rows, gone = change["set"], change["remove"]
    if type(rows) is not dict or "" in rows or len(change) != 2:
        raise FormatError("its change is none")
    if gone or type(gone) is not list:
        if type(gone) is not list or "" in gone or in_order(gone) != gone:
            raise FormatError("its change names rows to remove that are none, or not in order")
        if len({*gone, *rows}) != len(gone) + len(rows):
            raise FormatError("its change names a row twice")
    text = canonical(change)
    # What was parsed from this text has the right kinds. Only the limits are left, and most texts can't
    # come near them.
    if _LONG_NUMBER.search(text) or _may_be_deep(text):
        check_json(rows, "its change", -1)  # rows stand one level deeper here than in a state
    return text


def _may_be_deep(text: str) -> bool:
    return text.count("{") + text.count("[") > DEEPEST


def _explain(shown: Mapping[str, Any], sequence: int, previous_hash: str) -> NoReturn:
    """Say what is wrong with a line whose content, put into canonical form, isn't its bytes."""
    if shown["sequence"] != sequence:
        raise FormatError(f"its sequence is not {sequence}: lines are missing, or not in order")
    if shown["previousHash"] != previous_hash:
        raise FormatError("its previousHash is not the hash of the line before: the chain is broken")
    if not all(is_hash(shown[name]) for name in ("hash", "requestHash", "previousHash")):
        raise FormatError("one of its hashes is none")
    raise FormatError("it is no canonical JSON of a line, or has a field too many")
