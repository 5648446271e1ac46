"""Files that were forged with care: good JSON, and in a state all hashes right but for the one in question.

Hashed by the independent reader's canonical text, not by the store's own code. A forgery keeps everything
but what its name says; the file that it is made from must be a good one.
"""

import json
import re
from hashlib import sha256
from typing import Any

from stateful_tests.reader import ZERO_HASH, canonical

_VERSION = re.compile(rb'"version" *: *1\b')
_ANOTHER_HASH = "1" * 64


def forged(kind: str, original: bytes) -> bytes:
    """`original` forged as `kind` says. `ValueError` if there is no such kind."""
    match kind:
        case "duplicate-key":
            return original.replace(b"{", b'{"version":1,', 1)
        case "float":
            return _VERSION.sub(b'"version":1.0', original, count=1)
        case "unsealed":
            state = json.loads(original)
            state["lastWallTime"] += 1
        case "digest":
            state = json.loads(original)
            state["maxActiveRuns"] += 1
            _seal(state)
        case "chain":
            state = json.loads(original)
            _chain(state["audit"], _ANOTHER_HASH)
            _seal(state)
        case _:
            raise ValueError(f"no such damage: {kind!r}")
    return canonical(state).encode() + b"\n"


def _seal(state: dict[str, Any]) -> None:
    state["stateHash"] = _hash_without("stateHash", state)


def _chain(audit: list[dict[str, Any]], first: str) -> None:
    """Chains the entries anew, as if there had been one before the first."""
    assert audit[0]["previousHash"] == ZERO_HASH
    previous = first
    for entry in audit:
        entry["previousHash"] = previous
        entry["hash"] = previous = _hash_without("hash", entry)


def _hash_without(name: str, values: dict[str, Any]) -> str:
    rest = {key: value for key, value in values.items() if key != name}
    return sha256(canonical(rest).encode()).hexdigest()
