"""Lines that nobody wrote, by somebody who knows the format: right in themselves, wrong in their place.

Flipped bytes spoil a line; these have hashes that are theirs. What tells them from what was written is the
chain, the keys, and what the mirror has seen.
"""

import json
from typing import Any, Final

from stateful_tests.gated.reader import canonical, digest

KINDS: Final = ("line-resealed", "key-repeated", "event-misnamed")
"""A line says something else, and its hash is of that; another line at the end, that follows the last one,
under the key of a line that stands there; one whose eventHash is not that of its record."""


def forged(whole: bytes, kind: str, line: int) -> bytes:
    """The ledger's bytes after a forgery with the line of that number. `ValueError` for any other kind."""
    *lines, tail = whole.split(b"\n")
    form = json.loads(lines[line - 1])
    if kind == "line-resealed":
        form["record"]["operationId"] += "?"
        lines[line - 1] = _sealed(form)
    elif kind in KINDS:
        last = json.loads(lines[-1])
        form["sequence"], form["previousHash"] = last["sequence"] + 1, last["hash"]
        if kind == "event-misnamed":
            form["record"]["idempotencyKey"] += "?"
        lines.append(_sealed(form, event=kind == "key-repeated"))
    else:
        raise ValueError(f"no such forgery: {kind}")
    return b"\n".join((*lines, tail))


def _sealed(form: dict[str, Any], *, event: bool = True) -> bytes:
    record = form["record"]
    if event:
        named = {name: value for name, value in record.items() if name != "eventHash"}
        record["eventHash"] = digest({"attemptId": None, **named})
    form["hash"] = digest({name: value for name, value in form.items() if name != "hash"})
    return canonical(form).encode()
