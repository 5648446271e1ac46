"""Canonical JSON: the same value always has the same bytes.

The bytes are those of the JSON Canonicalization Scheme (RFC 8785): keys sorted by UTF-16 code units, no
spaces, the shortest escapes, numbers as ECMAScript writes them, UTF-8. Unlike there, integers beyond 2^53
keep all their digits.

`clean` makes any value fit for it. What no JSON text can hold is replaced, and nothing else: a lone surrogate
by its escape as six characters, a number that is not finite by null, a key that is no text by its text.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

_LONE = re.compile(r"[\ud800-\udfff]")


def canonical(value: Any) -> bytes:
    """The canonical bytes of `value`, which has been through `clean`; ValueError for a number that is not
    finite, or text with a lone surrogate; TypeError for what is no JSON."""
    return _text(value).encode("utf-8")


def clean(value: Any) -> Any:
    """`value` as plain JSON: dictionaries, lists, text, finite numbers, booleans, None."""
    if isinstance(value, str):
        return _LONE.sub(lambda found: f"\\u{ord(found.group()):04x}", value) if _lone(value) else str(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {clean(key if isinstance(key, str) else str(key)): clean(item) for key, item in value.items()}
    if isinstance(value, Sequence | set | frozenset):
        items = value if isinstance(value, Sequence) else sorted(value, key=repr)
        return [clean(item) for item in items]
    return clean(str(value))


def number(value: float) -> str:
    """A finite `value` as ECMAScript's Number::toString writes it, which RFC 8785 (3.2.2.3) asks for."""
    if not math.isfinite(value):
        raise ValueError(f"{value!r} has no JSON form")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = f"{abs(value)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(digits) - len(fraction) + int(exponent or 0)
    digits = digits.rstrip("0")
    if len(digits) <= point <= 21:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}e{point - 1:+d}"


def _text(value: Any) -> str:
    if isinstance(value, float):
        return number(value)
    if value is None or isinstance(value, bool | int | str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{_text(key)}:{_text(value[key])}" for key in keys) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(_text(item) for item in value) + "]"
    raise TypeError(f"{type(value).__name__} is no JSON")


def _lone(text: str) -> bool:
    return not text.isascii() and _LONE.search(text) is not None
