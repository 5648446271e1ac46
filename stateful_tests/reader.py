"""An independent reader of `coordinator.json`: what it says, and whether its hashes hold.

Written from the specification, without the store's own codec. It checks the shape of the state and of its
audit entries, the chain, `stateDigest`, `stateHash`, keys against ids, and that numbers are integers and no
key stands twice; rows and commands are handed on as they are, for the comparison with the model.

It remembers the last state: equal bytes are not read again, and of an audit that only grew, the new entries
alone are verified. It does not judge what only the model can know, such as whether an earlier entry's
`stateDigest` was right at its time.
"""

import json
from hashlib import sha256
from typing import Any

from attrs import define, frozen

ZERO_HASH = "0" * 64

_AUDIT = '"audit":['
_ENTRY = frozenset(
    {"commitSeq", "epoch", "recordedAt", "action", "principal", "previousHash", "stateDigest", "hash"}
)
_NUMBERS = ("version", "fencingEpoch", "commitSeq", "lastWallTime", "maxActiveRuns")
_REST = frozenset({*_NUMBERS, "directoryIdentity", "instanceId", "reservations", "commands", "stateHash"})


class BadStateError(ValueError):
    """The bytes are no valid state; the message says where."""


@frozen
class Reading:
    """What a state says in the terms of `model.forms.store_to_json`, and what is wrong with it.

    `place` is its `directoryIdentity` and `instance` its `instanceId`, for whoever knows the directory.
    """

    store: dict[str, Any] | None = None
    problems: tuple[str, ...] = ()
    place: dict[str, Any] | None = None
    instance: str | None = None


@define
class _Chain:
    """The audit verified so far: its text in the file, its entries, and the hash of its canonical text."""

    text: str
    entries: list[dict[str, Any]]
    hashed: Any
    length: int
    last: str = ZERO_HASH
    recorded: int = 0
    epoch: int = 0
    digest: str = ""


def _nothing() -> _Chain:
    head = b'{"audit":['
    return _Chain("", [], sha256(head), len(head))


def canonical(value: object) -> str:
    """RFC 8785 text of a value whose numbers are integers and whose keys are ASCII."""
    return _ENCODER.encode(value)


def strict(text: str) -> Any:
    """The JSON value of `text`. A key that stands twice, a fraction, NaN: `BadStateError`."""
    try:
        return _STRICT.decode(text)
    except (ValueError, RecursionError) as error:
        raise BadStateError(f"no JSON as it should be: {error}") from None


class StateReader:
    """Reads one state after another of the same store, cheaply where little has changed."""

    def __init__(self) -> None:
        self._raw: bytes | None = None
        self._reading = Reading()
        self._chain = _nothing()

    def read(self, raw: bytes) -> Reading:
        """What `raw` says. Never raises: what is wrong stands in `problems`, and `store` is then `None`."""
        if raw == self._raw:
            return self._reading
        try:
            reading = self._read(raw)
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            self._chain = _nothing()
            reading = Reading(problems=(f"coordinator.json: {error}",))
        self._raw, self._reading = raw, reading
        return reading

    def _read(self, raw: bytes) -> Reading:
        text = raw.decode()
        if not text.endswith("}\n"):
            raise BadStateError("it does not end with one JSON object and one newline")
        chain, fresh, rest = self._parts(text[:-1])
        _check_rest(rest)
        for entry in fresh:
            _append(chain, entry)
        if chain.epoch > rest["fencingEpoch"]:
            raise BadStateError("S3: an audit entry has an epoch above fencingEpoch")
        if len(chain.entries) != rest["commitSeq"] or not chain.entries:
            raise BadStateError(f"S2: {len(chain.entries)} audit entries at commitSeq {rest['commitSeq']}")
        if chain.recorded > rest["lastWallTime"]:
            raise BadStateError("S4: the last entry was recorded after lastWallTime")
        rows, commands = rest["reservations"], rest["commands"]
        self._check_hashes(raw, chain, rest)
        for key, row in rows.items():
            if row["reservation"]["reservationId"] != key:
                raise BadStateError(f"S5: the row at {key} has another reservationId")
        for key, command in commands.items():
            if command["record"]["commandId"] != key:
                raise BadStateError(f"S9: the command at {key} has another commandId")
        self._chain = chain
        store = {name: rest[name] for name in _NUMBERS}
        store |= {"reservations": list(rows.values()), "commands": commands, "audit": list(chain.entries)}
        return Reading(store, (), rest["directoryIdentity"], rest["instanceId"])

    def _parts(self, text: str) -> tuple[_Chain, list[dict[str, Any]], dict[str, Any]]:
        """The chain known already, the entries after it, and the state without its audit."""
        start = text.find(_AUDIT)
        if start < 0:
            return _nothing(), *_whole(text)
        start += len(_AUDIT)
        known = self._chain
        if known.entries and text.startswith(known.text, start):
            chain = _Chain(
                known.text,
                list(known.entries),
                known.hashed.copy(),
                known.length,
                known.last,
                known.recorded,
                known.epoch,
                known.digest,
            )
        else:
            chain = _nothing()
        at = start + len(chain.text)
        fresh: list[dict[str, Any]] = []
        try:
            while text[at] != "]":
                at += text[at] == "," and bool(chain.entries or fresh)
                entry, at = _PLAIN.raw_decode(text, at)
                fresh.append(entry)
        except json.JSONDecodeError:  # spaces, most likely; then the long way
            return _nothing(), *_whole(text)
        chain.text = text[start:at]
        rest = _PLAIN.decode(text[:start] + text[at:])
        if rest.pop("audit") != []:
            raise BadStateError("S1: a key stands twice: audit")
        return chain, fresh, rest

    def _check_hashes(self, raw: bytes, chain: _Chain, rest: dict[str, Any]) -> None:
        rows, commands = canonical(rest["reservations"]), canonical(rest["commands"])
        digest = (
            f'{{"commands":{commands},"fencingEpoch":{rest["fencingEpoch"]},'
            f'"maxActiveRuns":{rest["maxActiveRuns"]},"reservations":{rows}}}'
        )
        if sha256(digest.encode()).hexdigest() != chain.digest:
            raise BadStateError("S4: the last entry's stateDigest is not the digest of this state")
        tail = (
            f'],"commands":{commands},"commitSeq":{rest["commitSeq"]},'
            f'"directoryIdentity":{canonical(rest["directoryIdentity"])},'
            f'"fencingEpoch":{rest["fencingEpoch"]},"instanceId":{canonical(rest["instanceId"])},'
            f'"lastWallTime":{rest["lastWallTime"]},"maxActiveRuns":{rest["maxActiveRuns"]},'
            f'"reservations":{rows},"version":1}}'
        ).encode()
        whole = chain.hashed.copy()
        whole.update(tail)
        if whole.hexdigest() != rest["stateHash"]:
            raise BadStateError("S2: stateHash is not the hash of this state")
        # Written without spaces, each key once and no needless escape, the file is as long as its canonical
        # text and the hash in it. Otherwise look closely: keys that stand twice fail there.
        if chain.length + len(tail) + len(',"stateHash":""') + 64 + 1 != len(raw):
            strict(raw.decode())
        booleans = rows.count(":true") + rows.count(":false") + commands.count(":false")
        if booleans or commands.count(":true") != commands.count('"riskAcknowledgement":true'):
            _check_numbers(rest["reservations"], "reservations")
            _check_numbers(rest["commands"], "commands")


def _whole(text: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    rest = strict(text)
    return rest.pop("audit"), rest


def _check_rest(rest: dict[str, Any]) -> None:
    if rest.keys() != _REST:
        raise BadStateError(f"S1: unknown or missing keys {sorted(rest.keys() ^ _REST)}")
    for name in _NUMBERS:
        if type(rest[name]) is not int:
            raise BadStateError(f"S1: {name} is no integer: {rest[name]!r}")
    if rest["version"] != 1:
        raise BadStateError(f"S1: version is {rest['version']!r}")


def _append(chain: _Chain, entry: dict[str, Any]) -> None:
    """Verifies one more entry and adds it to the chain."""
    number = len(chain.entries) + 1
    if entry.keys() != _ENTRY:
        raise BadStateError(f"S1: audit entry {number} has unknown or missing keys")
    if not all(type(entry[name]) is int for name in ("commitSeq", "epoch", "recordedAt")):
        raise BadStateError(f"S1: audit entry {number} has a number of the wrong kind")
    if entry["commitSeq"] != number:
        raise BadStateError(f"S3: audit entry {number} says {entry['commitSeq']}")
    if entry["previousHash"] != chain.last:
        raise BadStateError(f"S3: audit entry {number} does not name the hash before it")
    if entry["recordedAt"] < chain.recorded:
        raise BadStateError(f"S3: audit entry {number} was recorded before the one before it")
    body = {name: value for name, value in entry.items() if name != "hash"}
    if sha256(canonical(body).encode()).hexdigest() != entry["hash"]:
        raise BadStateError(f"S3: the hash of audit entry {number} is wrong")
    part = (("," if chain.entries else "") + canonical(entry)).encode()
    chain.hashed.update(part)
    chain.length += len(part)
    chain.last, chain.recorded, chain.digest = entry["hash"], entry["recordedAt"], entry["stateDigest"]
    chain.epoch = max(chain.epoch, entry["epoch"])
    del body["previousHash"], body["stateDigest"]
    chain.entries.append(body)


def _check_numbers(value: Any, where: str) -> None:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "riskAcknowledgement":
                continue
            _check_numbers(inner, f"{where}.{key}")
    elif isinstance(value, bool):
        raise BadStateError(f"S1: {where} is a boolean")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise BadStateError("S1: a key stands twice")
    return found


def _no_number(text: str) -> Any:
    raise BadStateError(f"S1: {text} is no integer")


_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))
_PLAIN = json.JSONDecoder(parse_float=_no_number, parse_constant=_no_number)
_STRICT = json.JSONDecoder(object_pairs_hook=_once, parse_float=_no_number, parse_constant=_no_number)
