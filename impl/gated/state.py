"""State as named rows of JSON, and its one canonical text.

Guarantees: `canonical` is the RFC 8785 text of any value that `check_json` takes: exact types only (None,
bool, int within ±(2^53 - 1), str without lone surrogates, list, dict with such keys), no floats, at most 100
levels deep. Keys sort by UTF-16 code unit. Two states are the same exactly if their texts are.

Doesn't: touch a file, or know what a row means.
"""

import json
import re
from collections.abc import Iterable, Mapping
from json.encoder import encode_basestring as quote
from typing import Any, Final, TypeGuard

from impl.arguments import is_encodable
from impl.canonical import encode, sha256
from impl.values import MAX_INTEGER

DEEPEST: Final = 100
EMPTY_STATE_HASH: Final = sha256(b"{}")

_HASH: Final = re.compile("[0-9a-f]{64}")
_FIRST_ASTRAL: Final = "\U00010000"
_UNSORTED: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def is_hash(value: object) -> TypeGuard[str]:
    """Whether `value` is a SHA-256 in lower-case hexadecimal digits."""
    return type(value) is str and _HASH.fullmatch(value) is not None


def is_name(value: object) -> TypeGuard[str]:
    """Whether `value` is a non-empty text without lone surrogates."""
    return type(value) is str and value != "" and is_encodable(value)


def check_json(value: object, where: str, depth: int = 0) -> None:
    """Raise ValueError unless `value` is a JSON value that can be kept. `where` names it."""
    kind = type(value)
    if value is None or kind is bool:
        return
    if kind is str:
        if not is_encodable(value):  # type: ignore[arg-type]  # a str: mypy doesn't narrow by `kind`
            raise ValueError(f"{where} holds a lone surrogate, which UTF-8 can't")
    elif kind is int:
        if not -MAX_INTEGER <= value <= MAX_INTEGER:  # type: ignore[operator]  # an int: as above
            raise ValueError(f"{where} holds an integer beyond ±(2^53 - 1)")
    elif kind is not list and kind is not dict:
        raise ValueError(
            f"{where} holds a {kind.__name__}; only null, bool, int, str, list and dict are kept"
        )
    elif depth >= DEEPEST:
        raise ValueError(f"{where} is nested more than {DEEPEST} levels deep")
    elif kind is list:
        for item in value:  # type: ignore[attr-defined]  # a list: as above
            check_json(item, where, depth + 1)
    else:
        for name, item in value.items():  # type: ignore[attr-defined]  # a dict: as above
            if type(name) is not str:
                raise ValueError(f"{where} has a key that is no text")
            check_json(name, where)
            check_json(item, where, depth + 1)


def check_state(value: object) -> None:
    """Raise ValueError unless `value` is a state: a dict of named rows. The message names the row."""
    if type(value) is not dict:
        raise ValueError(f"mutate must return the whole state as a dict, not a {type(value).__name__}")
    for name, row in value.items():
        if not is_name(name):
            raise ValueError("a row's name must be a non-empty text without lone surrogates")
        check_json(row, f"row {name[:60]!r}")


def canonical(value: object) -> str:
    """The canonical text of a JSON value that `check_json` takes."""
    text = encode(value)
    if not text.isascii() and max(text) >= _FIRST_ASTRAL:
        return _UNSORTED.encode(_sorted(value))
    return text


def _sorted(value: Any) -> Any:
    """`value` with all keys in the order of RFC 8785. Only texts beyond U+FFFF sort otherwise in Python."""
    if type(value) is dict:
        return {name: _sorted(value[name]) for name in in_order(value)}
    if type(value) is list:
        return [_sorted(item) for item in value]
    return value


def in_order(names: Iterable[str]) -> list[str]:
    """Names in the order of RFC 8785: by UTF-16 code unit."""
    listed = list(names)
    if all(map(str.isascii, listed)):
        return sorted(listed)
    return sorted(listed, key=lambda name: name.encode("utf-16-be"))


def state_text(rows: Mapping[str, str]) -> str:
    """The canonical text of a state whose rows are given as canonical texts."""
    return "{" + ",".join([f"{quote(name)}:{rows[name]}" for name in in_order(rows)]) + "}"


def text_hash(text: str) -> str:
    """The SHA-256 of a text in UTF-8."""
    return sha256(text.encode())
