"""The canonical JSON text (RFC 8785) of what is hashed, and the hashes.

Guarantees: for our values (objects, arrays, texts without lone surrogates, integers, booleans) `dumps` is
the RFC 8785 text in UTF-8. The text of a row or a command is made once and kept on the frozen value: at
3,000 commits making all of them anew cost 30 ms an operation. `Chain` keeps the hash state over the audit,
which sorts first in a state's text, so that one more entry doesn't hash all those before it again.

Doesn't: check shapes. Texts with lone surrogates raise UnicodeEncodeError; `codec` refuses them earlier.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from json.encoder import encode_basestring as quote
from typing import TYPE_CHECKING, Any, Final

from attrs import frozen

from impl.codec import to_json
from impl.values import AuditEntry, Command, DirectoryIdentity, Request, Row, State

if TYPE_CHECKING:
    from hashlib import _Hash

ZERO_HASH: Final = "0" * 64
"""The `previousHash` of the first audit entry."""

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _fast_encoder() -> Callable[[object, int], Iterable[str]] | None:
    """The C encoder with our options, if there is one: `JSONEncoder` makes it anew for each text."""
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return None
    encoder: Callable[[object, int], Iterable[str]] = make(
        None, _ENCODER.default, quote, None, ":", ",", True, False, False
    )
    return encoder


_FAST: Final = _fast_encoder()


def encode(value: object) -> str:
    """The text of a JSON value, without white space, its keys sorted by code point."""
    if _FAST is None:
        return _ENCODER.encode(value)
    return "".join(_FAST(value, 0))


def dumps(value: object) -> bytes:
    """The canonical text of a JSON value whose keys are ASCII."""
    return encode(value).encode()


def sha256(text: bytes) -> str:
    """The hash of a text, in lower-case hexadecimal digits."""
    return hashlib.sha256(text).hexdigest()


def request_hash(request: Request) -> str:
    """The hash that binds a command to what was asked for."""
    return sha256(dumps(to_json(request)))


def value_text(value: Row | Command | DirectoryIdentity) -> bytes:
    """The canonical text of a value, made once."""
    text = value.text
    if text is None:
        text = dumps(to_json(value))
        # A cache on a frozen value: the text depends on nothing but the value itself.
        object.__setattr__(value, "text", text)
    return text


def entry_hash(entry: AuditEntry) -> str:
    """The hash that an entry must carry: over all its other fields."""
    before, after = _entry_halves(entry)
    return sha256((before + after).encode())


def entry_text(entry: AuditEntry) -> bytes:
    """The canonical text of an audit entry."""
    before, after = _entry_halves(entry)
    return f'{before},"hash":{quote(entry.hash)}{after}'.encode()


def _entry_halves(entry: AuditEntry) -> tuple[str, str]:
    """The text before and after the place of `hash`: it sorts between `epoch` and `previousHash`."""
    return (
        f'{{"action":{quote(entry.action)},"commitSeq":{entry.commit_seq},"epoch":{entry.epoch}',
        f',"previousHash":{quote(entry.previous_hash)},"principal":{quote(entry.principal)},'
        f'"recordedAt":{entry.recorded_at},"stateDigest":{quote(entry.state_digest)}}}',
    )


@frozen
class Chain:
    """The text of an audit, and the hash state that has taken in a state's text up to its end."""

    text: bytes
    hasher: "_Hash"

    @classmethod
    def of(cls, entries: Iterable[AuditEntry]) -> "Chain":
        """The chain of a whole audit."""
        text = b",".join(map(entry_text, entries))
        return cls(text, hashlib.sha256(b'{"audit":[' + text))

    def extended(self, entry: AuditEntry) -> "Chain":
        """The chain with one entry more."""
        more = entry_text(entry)
        if self.text:
            more = b"," + more
        hasher = self.hasher.copy()
        hasher.update(more)
        return Chain(self.text + more, hasher)


@frozen
class Business:
    """The canonical texts of rows and commands, and the business digest over them."""

    reservations: bytes
    commands: bytes
    digest: str


def business_of(
    fencing_epoch: int, max_active_runs: int, rows: Mapping[str, Row], commands: Mapping[str, Command]
) -> Business:
    """Rows and commands as texts, and their digest together with epoch and maximum."""
    rows_text = keyed(rows, _sorted_keys(rows))
    commands_text = keyed(commands, _sorted_keys(commands))
    digest = hashlib.sha256(b'{"commands":')
    digest.update(commands_text)
    digest.update(b',"fencingEpoch":%d,"maxActiveRuns":%d,"reservations":' % (fencing_epoch, max_active_runs))
    digest.update(rows_text)
    digest.update(b"}")
    return Business(rows_text, commands_text, digest.hexdigest())


def keyed(values: Mapping[str, Any], keys: Iterable[str]) -> bytes:
    """An object's text, with its keys in the given order."""
    return b"{" + b",".join([quote(key).encode() + b":" + value_text(values[key]) for key in keys]) + b"}"


def _sorted_keys(values: Mapping[str, object]) -> list[str]:
    """Keys in the order of RFC 8785: by UTF-16 code unit, which is by code point where all is ASCII."""
    if all(map(str.isascii, values)):
        return sorted(values)
    return sorted(values, key=lambda key: key.encode("utf-16-be"))


def state_hash_of(state: State, chain: Chain, business: Business) -> str:
    """The hash that a state must carry: over all its other fields."""
    hasher = chain.hasher.copy()
    hasher.update(b'],"commands":')
    hasher.update(business.commands)
    hasher.update(scalars(state))
    hasher.update(business.reservations)
    hasher.update(b',"version":1}')
    return hasher.hexdigest()


def scalars(state: State) -> bytes:
    """The part of a state's text between its commands and its reservations."""
    return (
        f',"commitSeq":{state.commit_seq},"directoryIdentity":'.encode()
        + value_text(state.directory_identity)
        + f',"fencingEpoch":{state.fencing_epoch},"instanceId":{quote(state.instance_id)},'
        f'"lastWallTime":{state.last_wall_time},"maxActiveRuns":{state.max_active_runs},'
        '"reservations":'.encode()
    )


def file_of(state: State, chain: Chain, business: Business) -> bytes:
    """The content of coordinator.json: one JSON text, rows in their own order, and a final newline."""
    rows = business.reservations
    commands = business.commands
    if not _is_sorted(state.reservations):
        rows = keyed(state.reservations, state.reservations)
    if not _is_sorted(state.commands):
        commands = keyed(state.commands, state.commands)
    return b"".join(
        (
            b'{"audit":[',
            chain.text,
            b'],"commands":',
            commands,
            scalars(state),
            rows,
            f',"stateHash":{quote(state.state_hash)},"version":1}}\n'.encode(),
        )
    )


def _is_sorted(values: Mapping[str, object]) -> bool:
    keys = list(values)
    return keys == sorted(keys)
