"""What changed from one state to the next, field by field, instead of the whole state again.

r2.state: reserved → committed
lease.kind: own → none
"""

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import cast

import attrs
from attrs import frozen

from model.explorer.space import G, S, State


@frozen
class Difference:
    """One field that changed: its path, and its values, told as text."""

    path: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.path}: {self.before} → {self.after}"


def differences(before: State[G, S], after: State[G, S], *, slot: str = "r") -> tuple[Difference, ...]:
    """In the order of the fields: first what is shared, then slot by slot (`r1`, `r2` …, after `slot`)."""
    found = list(_walk("", before.shared, after.shared))
    for number, (old, new) in enumerate(zip(before.slots, after.slots, strict=True), start=1):
        found += _walk(f"{slot}{number}", old, new)
    return tuple(found)


def _walk(path: str, before: object, after: object) -> Iterator[Difference]:
    if before == after:
        return
    if type(before) is type(after):
        if attrs.has(type(before)):
            for (name, old), (_, new) in zip(fields_of(before), fields_of(after), strict=True):
                yield from _walk(f"{path}.{name}" if path else name, old, new)
            return
        if isinstance(before, tuple) and isinstance(after, tuple):
            common = min(len(before), len(after))
            if len(before) == len(after) or before[:common] == after[:common]:
                for number, (old, new) in enumerate(zip_longest(before, after), start=1):
                    yield from _walk(f"{path}[{number}]", old, new)
                return
    yield Difference(path or "state", told(before), told(after))


def fields_of(value: object) -> list[tuple[str, object]]:
    """The fields of a frozen class' instance that are part of its value, by name."""
    return [(field.name, getattr(value, field.name)) for field in _fields(value)]


def _fields(value: object) -> tuple["attrs.Attribute[object]", ...]:
    return tuple(field for field in attrs.fields(cast(type[attrs.AttrsInstance], type(value))) if field.eq)


def _defaults(value: object) -> list[object]:
    return [field.default for field in _fields(value)]


def told(value: object) -> str:
    """A value as short text; of a frozen class, the fields that are not at their defaults."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value or "''"
    if isinstance(value, frozenset | set):
        return "{" + ", ".join(sorted(told(each) for each in value)) + "}"
    if isinstance(value, tuple | list):
        return "(" + ", ".join(told(each) for each in value) + ")"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{told(key)}: {told(each)}" for key, each in value.items()) + "}"
    if attrs.has(type(value)):
        shown = [
            f"{name}={told(each)}"
            for (name, each), default in zip(fields_of(value), _defaults(value), strict=True)
            if default is attrs.NOTHING or each != default
        ]
        return f"{type(value).__name__}({', '.join(shown)})"
    return str(value)


def told_state(state: State[G, S], *, slot: str = "r") -> str:
    """A whole state, one line for what is shared and one for each slot."""
    lines = [told(state.shared)]
    lines += [f"{slot}{number}: {told(each)}" for number, each in enumerate(state.slots, start=1)]
    return "\n".join(lines)
