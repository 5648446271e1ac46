"""The kinds of single values that the closed shapes are made of, and a check of values built here.

Guarantees: each kind that `values` marks has one predicate, which neither coerces nor raises; `check_shape`
holds a value that was built here, not decoded, against the same predicates, field by field.

Doesn't: decode. `codec` does, with these predicates.
"""

import re
from collections.abc import Callable
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin

import attrs

from impl.arguments import is_count, is_encodable, is_positive, is_uuid
from impl.jsontext import FormatError
from impl.values import AuditEntry, Command, Count, Hash, One, Positive, Row, Text, Uuid, Yes

_HASH: Final = re.compile("[0-9a-f]{64}")


def _is_hash(value: object) -> bool:
    return type(value) is str and _HASH.fullmatch(value) is not None


def _is_stored_text(value: object) -> bool:
    return type(value) is str and value != "" and is_encodable(value)


SCALARS: Final[tuple[tuple[Any, Callable[[object], bool]], ...]] = (
    (Count, is_count),
    (Positive, is_positive),
    (One, lambda value: type(value) is int and value == 1),
    (Yes, lambda value: value is True),
    (Text, _is_stored_text),
    (str, _is_stored_text),
    (Hash, _is_hash),
    (Uuid, is_uuid),
)


def is_literal(kind: Any) -> bool:
    origin: object = get_origin(kind)
    return origin is Literal


def is_optional(kind: Any) -> bool:
    return get_origin(kind) in (Union, UnionType) and NoneType in get_args(kind)


def without_none(kind: Any) -> Any:
    return Union[tuple(arg for arg in get_args(kind) if arg is not NoneType)]  # noqa: UP007 -- a run-time tuple


def check_shape(value: Row | Command | AuditEntry) -> None:
    """Hold a value that was built here against the closed shape, as if read. Raises FormatError."""
    _check_fields(value, type(value).__name__)


def _check_fields(value: Any, where: str) -> None:
    for name, optional, accepts in _field_checks(type(value)):
        found = getattr(value, name)
        if found is None and optional:
            continue
        if accepts is None:
            _check_fields(found, f"{where}.{name}")
        elif not accepts(found):
            raise FormatError(f"{where}.{name} is {type(found).__name__}, not what the shape wants")


_FieldChecks = list[tuple[str, bool, Callable[[object], bool] | None]]
_known: Final[dict[type, _FieldChecks]] = {}


def _field_checks(cls: Any) -> _FieldChecks:
    """Each field of a class: whether it may be absent, and its check (None: the value's own fields)."""
    found = _known.get(cls)
    if found is None:
        if not attrs.has(cls):
            raise FormatError(f"a {cls.__name__} stands where an object should")
        attrs.resolve_types(cls, include_extras=True)
        found = [
            (field.name, field.default is None, _check_of(field.type))
            for field in attrs.fields(cls)
            if field.init
        ]
        _known[cls] = found
    return found


def _check_of(kind: Any) -> Callable[[object], bool] | None:
    if is_optional(kind):
        kind = without_none(kind)
    for scalar, accepts in SCALARS:
        if kind == scalar:
            return accepts
    if kind == Row | Positive:
        return lambda value: is_positive(value) if type(value) is int else _has_shape(value)
    if is_literal(kind):
        return lambda value: type(value) is str and value in get_args(kind)
    return None


def _has_shape(value: object) -> bool:
    _check_fields(value, "")
    return isinstance(value, Row)
