"""One strict JSON text: what the files hold, before anybody asks what it means.

Guarantees: what is parsed was exactly one JSON text and one final newline in strict UTF-8; no key stood
there twice in one object; no number was a float, `NaN` or negative, not even `-0`. Deep
nesting and numbers of a million digits are refused like anything else, and cheaply.

Doesn't: know which keys there should be. That is `codec`'s.
"""

import json
import re
from collections import Counter
from typing import Final, NoReturn

_DIGITS: Final = 16
_NEGATIVE: Final = re.compile(rb"[\[:,]\s*-")


class FormatError(ValueError):
    """Bytes that are not what the format wants. The message says where."""


def parse_json(data: bytes) -> object:
    """The one JSON text in `data`. Raises FormatError."""
    if not data.endswith(b"\n"):
        raise FormatError("the final newline is missing, so the text may be cut off")
    body = data[:-1]
    if body.strip(b" \t\r\n") != body:
        raise FormatError("there is white space around the JSON text; exactly one final newline is allowed")
    try:
        value: object = json.loads(
            body.decode("utf-8"),
            object_pairs_hook=_object,
            parse_float=_no_float,
            parse_constant=_no_float,
            # No integer of the format is negative: only where one may be there, even if inside a text, each
            # is looked at. That saves a call for each of the 15,000 integers of 3,000 commits.
            parse_int=_integer if _NEGATIVE.search(body) else None,
        )
    except RecursionError:
        raise FormatError("the JSON text is nested too deeply") from None
    except ValueError as error:
        raise FormatError(f"this is no JSON text of the store: {error}") from None
    return value


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise FormatError(f"the key {twice!r} is there twice in one object")
    return found


def _no_float(text: str) -> NoReturn:
    raise FormatError(f"{text[:40]} is no integer")


def _integer(text: str) -> int:
    if len(text) > _DIGITS or text.startswith("-"):
        raise FormatError(f"{text[:40]} is no integer of 0 … 2^53 - 1")
    return int(text)
