"""Canonical JSON, hashes, and which JSON values a ledger may hold.

Canonical is RFC 8785, for values whose numbers are integers: keys in the order of their UTF-16 code units,
nothing escaped that need not be. `is_plain` says which values those are.
"""

import json
from hashlib import sha256
from typing import Any, Final, TypeGuard

from model.values import JSON

LARGEST: Final = 2**53 - 1
"""The largest integer, and without its sign the smallest, that every JSON reader keeps exactly."""

_compact: Final = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
).encode


def utf16(text: str) -> bytes:
    """What canonical JSON sorts names by."""
    return text.encode("utf-16-be")


def in_order(names: "list[str] | dict[str, Any] | set[str]") -> list[str]:
    """The names as canonical JSON sorts them."""
    return sorted(names, key=utf16)


def canonical(value: JSON) -> str:
    """The canonical text of a value that `is_plain`."""
    text = _compact(value)
    # Python sorts by code points: another order only where a surrogate pair meets U+E000 or above.
    return text if text.isascii() or max(text) <= "\uffff" else _slowly(value)


def _slowly(value: JSON) -> str:
    if isinstance(value, dict):
        parts = (f"{_compact(name)}:{_slowly(value[name])}" for name in in_order(value))
        return "{" + ",".join(parts) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_slowly, value)) + "]"
    return _compact(value)


def hash_of(text: str | bytes) -> str:
    """SHA-256, as 64 lowercase hexadecimal digits."""
    return sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def is_text(value: object) -> TypeGuard[str]:
    """A string that UTF-8 can hold."""
    if not isinstance(value, str):
        return False
    return value.isascii() or not any("\ud800" <= each <= "\udfff" for each in value)


def is_name(value: object) -> TypeGuard[str]:
    """What names a row, an operation, a key: a string with something in it."""
    return is_text(value) and value != ""


def is_plain(value: object) -> bool:
    """A JSON value that a ledger may hold: no floats, no huge integers, no lone surrogates."""
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, int):
        return -LARGEST <= value <= LARGEST
    if isinstance(value, str):
        return is_text(value)
    if isinstance(value, list):
        return all(map(is_plain, value))
    if isinstance(value, dict):
        return all(is_text(name) and is_plain(each) for name, each in value.items())
    return False
