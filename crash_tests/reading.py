"""Reads a trace of a kill, field by field; what is wrong is said in plain words, with its place.

A trace may have been edited, cut off, or written by another version. Each `StoryError` names the place as
`kills[0].n`, and says what is missing, of the wrong kind, or unknown there. Whether the store can still do
what the trace says is not looked at here.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from attrs import frozen

T = TypeVar("T")
_KINDS: Mapping[type, str] = {
    str: "a text",
    int: "a whole number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}


class StoryError(ValueError):
    """A trace of a kill can't be read. The message names the place in it."""


def _called(value: object) -> str:
    if value is None:
        return "null"
    told = repr(value)
    kind = _KINDS.get(type(value), f"a {type(value).__name__}")
    return f"{kind} ({told if len(told) <= 60 else told[:57] + '...'})"


def checked(value: object, kind: type[T], where: str) -> T:
    """`value`, which has to be of exactly this kind."""
    if type(value) is not kind:
        raise StoryError(f"{where}: {_KINDS[kind]} is needed, and {_called(value)} stands there")
    return value


@frozen
class Fields:
    """An object in a trace; `where` is its place, "" for the whole of it."""

    data: Mapping[str, Any]
    where: str = ""

    @classmethod
    def of(cls, value: object, where: str) -> "Fields":
        return cls(checked(value, dict, where), where)

    def place(self, name: str) -> str:
        return f"{self.where}.{name}" if self.where else name

    def any(self, name: str) -> Any:
        if name not in self.data:
            raise StoryError(f"{self.place(name)}: missing; it may have been cut off, or taken out by hand")
        return self.data[name]

    def text(self, name: str) -> str:
        return checked(self.any(name), str, self.place(name))

    def number(self, name: str) -> int:
        return checked(self.any(name), int, self.place(name))

    def flag(self, name: str) -> bool:
        return checked(self.any(name), bool, self.place(name))

    def nested(self, name: str) -> "Fields":
        return Fields.of(self.any(name), self.place(name))

    def maybe(self, name: str) -> "Fields | None":
        """The object there, or `None` for null."""
        return None if self.any(name) is None else self.nested(name)

    def free(self, name: str) -> dict[str, Any] | None:
        """An object that may be missing, and is for people only: anything else counts as missing."""
        found = self.data.get(name)
        return found if isinstance(found, dict) else None

    def items(self, name: str) -> Iterator[tuple[Any, str]]:
        """Each item of a list, with its place."""
        listed = checked(self.any(name), list, self.place(name))
        return ((one, f"{self.place(name)}[{index}]") for index, one in enumerate(listed))

    def objects(self, name: str) -> "Iterator[Fields]":
        return (Fields.of(one, where) for one, where in self.items(name))

    def each(self, name: str, read: Callable[[object, str], T]) -> tuple[T, ...]:
        """A list whose items `read(value, place)` reads, raising a `ValueError` that names the place."""
        try:
            return tuple(read(one, where) for one, where in self.items(name))
        except StoryError:
            raise
        except (ValueError, TypeError) as error:
            raise StoryError(str(error)) from None

    def version(self, known: int) -> None:
        """Refuses what another version wrote."""
        if (found := self.any("schema_version")) != known:
            raise StoryError(f"schema_version: {found!r}, and this version of holdtrue reads {known}")
