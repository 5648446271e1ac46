"""An independent reader of `ledger.jsonl`: which lines are valid, what they say, what they add up to.

Written from the specification, without the store's own codec: it has its own canonical JSON (RFC 8785 for
values whose numbers are integers), its own hashes, and a line counts as valid only if writing what it says
gives the same bytes. `chain_problems` says where lines don't follow one another, `fold` what they make.

It remembers the lines it has read: of a ledger that only grew, the new lines alone are looked at. It does
not know what the lines should say; that is the model's business.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any, Final

from attrs import define, field, frozen

from model.values import JSON
from stateful_tests.reader import strict

ZERO_HASH: Final = "0" * 64
PHASES: Final = frozenset(
    {"prepare", "start", "apply", "receipt", "verify", "commit", "rollback", "compensate"}
)
_WITHIN_A_RUN: Final = frozenset({"start", "receipt", "compensate"})
"""Phases of receipts and their like, whose keys count within their run."""
_LINE: Final = frozenset({"sequence", "record", "requestHash", "change", "previousHash", "hash"})
_RECORD: Final = frozenset(
    {
        "operationId",
        "runId",
        "nodeId",
        "eventType",
        "phase",
        "idempotencyKey",
        "beforeStateHash",
        "afterStateHash",
        "eventHash",
    }
)
_HEX: Final = frozenset("0123456789abcdef")
_LARGEST: Final = 2**53 - 1
_text: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def canonical(value: object) -> str:
    """RFC 8785. `ValueError` for what it has no single text of here: fractions, huge integers, surrogates."""
    if value is None or value is True or value is False:
        return _text(value)
    if type(value) is int and -_LARGEST <= value <= _LARGEST:
        return str(value)
    if isinstance(value, str):
        value.encode()
        return _text(value)
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(f"{canonical(name)}:{canonical(value[name])}" for name in names) + "}"
    raise ValueError(f"{value!r} has no place in a ledger")


def digest(value: object) -> str:
    """SHA-256 of the canonical text."""
    return sha256(canonical(value).encode()).hexdigest()


@frozen
class Entry:
    """A valid line. `key` is its idempotency key in its namespace."""

    sequence: int
    record: Mapping[str, Any]
    request_hash: str
    change: Mapping[str, Any]
    previous_hash: str
    hash: str
    size: int

    @property
    def key(self) -> tuple[str, str]:
        run = self.record["runId"] if self.record["phase"] in _WITHIN_A_RUN else ""
        return (run, self.record["idempotencyKey"])


@frozen
class Reading:
    """The lines in order, `None` for each that is not valid; the bytes after the last newline; all bytes."""

    lines: tuple[Entry | None, ...] = ()
    tail: int = 0
    size: int = 0

    @property
    def hashes(self) -> list[JSON]:
        return [None if line is None else line.hash for line in self.lines]

    @property
    def whole(self) -> bool:
        """Whether each line is valid, none is torn, and they follow one another."""
        return not self.tail and next(chain_problems(self), None) is None


def chain_problems(reading: Reading) -> Iterator[str]:
    """What is wrong with the lines, one by one and one after another."""
    previous = ZERO_HASH
    keys: set[tuple[str, str]] = set()
    for number, line in enumerate(reading.lines, 1):
        if line is None:
            yield f"line {number} is no valid line"
            continue
        if line.sequence != number:
            yield f"line {number} has the sequence {line.sequence}"
        if line.previous_hash != previous:
            yield f"line {number} does not follow the one before it"
        if line.key in keys:
            yield f"line {number} has a key that stands there already: {line.key}"
        keys.add(line.key)
        previous = line.hash


def fold(lines: Iterable[Entry | None]) -> dict[str, JSON]:
    """The rows that the lines make, from nothing."""
    rows: dict[str, JSON] = {}
    for line in lines:
        if line is not None:
            rows.update(line.change["set"])
            for name in line.change["remove"]:
                rows.pop(name, None)
    return rows


@define
class LedgerReader:
    """Reads one ledger again and again."""

    _whole: bytes = b""
    _lines: tuple[Entry | None, ...] = ()
    _known: dict[bytes, Entry | None] = field(factory=dict)

    def read(self, raw: bytes) -> Reading:
        """What `raw` holds. Never raises."""
        known, old = (self._lines, len(self._whole)) if raw.startswith(self._whole) else ((), 0)
        *fresh, tail = raw[old:].split(b"\n")
        self._lines = (*known, *(self._line(text) for text in fresh))
        self._whole = raw[: len(raw) - len(tail)]
        return Reading(self._lines, len(tail), len(raw))

    def _line(self, text: bytes) -> Entry | None:
        if text not in self._known:
            self._known[text] = read_line(text)
        return self._known[text]


def read_line(text: bytes) -> Entry | None:
    """The valid line that `text` (without its newline) is, or `None`."""
    try:
        form = strict(text.decode())
        if not _has_shape(form) or canonical(form).encode() != text:
            return None
        rest = {name: value for name, value in form.items() if name != "hash"}
        record = form["record"]
        named = {name: value for name, value in record.items() if name != "eventHash"}
        if digest(rest) != form["hash"] or digest({"attemptId": None, **named}) != record["eventHash"]:
            return None
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    return Entry(
        form["sequence"],
        record,
        form["requestHash"],
        form["change"],
        form["previousHash"],
        form["hash"],
        len(text) + 1,
    )


def _has_shape(form: Any) -> bool:
    if not isinstance(form, dict) or form.keys() != _LINE or type(form["sequence"]) is not int:
        return False
    record, change = form["record"], form["change"]
    if record.keys() - {"attemptId"} != _RECORD or change.keys() != {"set", "remove"}:
        return False
    hashes = (form["requestHash"], form["previousHash"], form["hash"], record["eventHash"])
    names = [*change["set"], *change["remove"]]
    return (
        all(map(_is_hash, hashes))
        and all(isinstance(value, str) and value for value in record.values())
        and record["phase"] in PHASES
        and all(isinstance(name, str) and name for name in names)
        and isinstance(change["remove"], list)
        and len(set(names)) == len(names)
        and change["remove"] == sorted(change["remove"], key=lambda name: name.encode("utf-16-be"))
    )


def _is_hash(value: object) -> bool:
    return isinstance(value, str) and len(value) == 64 and _HEX.issuperset(value)
