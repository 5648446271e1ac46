"""What counts as a text, an id and an integer: the rules that arguments and answers share.

Pure predicates over single JSON values. Who is told what when one fails is the caller's business.
"""

import re
from typing import Final, TypeGuard

LARGEST: Final = 2**53 - 1
"""The largest integer that may appear anywhere."""

LONGEST: Final = 4096
"""Code points that a string may have."""

LONGEST_TTL: Final = 86_400_000
"""Milliseconds: one day."""

_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}").fullmatch
_SURROGATE: Final = re.compile("[\ud800-\udfff]").search


def is_uuid(value: object) -> TypeGuard[str]:
    """A canonical lower-case UUID."""
    return type(value) is str and len(value) == 36 and _UUID(value) is not None


def is_integer(value: object, least: int) -> TypeGuard[int]:
    """An integer from `least` to `LARGEST`; booleans and floats are none."""
    return type(value) is int and least <= value <= LARGEST


def is_sound(value: object) -> TypeGuard[str]:
    """A string of at most `LONGEST` code points without lone surrogates. It may be empty."""
    return type(value) is str and len(value) <= LONGEST and (value.isascii() or not _SURROGATE(value))


def is_text(value: object) -> TypeGuard[str]:
    """A sound string that is not empty."""
    return is_sound(value) and value != ""


def is_telling(value: object) -> TypeGuard[str]:
    """A sound string that is not blank, that is, not empty once white space is stripped."""
    return is_sound(value) and value.strip() != ""
