"""Checks a value against a JSON Schema, as far as the published schemas of this package use that language.

Known keywords: type, properties, required, additionalProperties, items, enum, const, pattern, minimum,
minItems, maxItems, anyOf, and references within the schema. A schema that uses another one is refused, so
that no part of a published schema is silently not looked at. A test compares with a full implementation.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

_ABOUT = frozenset({"$schema", "$id", "$defs", "title", "description"})
_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def faults(value: Any, schema: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with `value`, each with its place, as `phases[2].name: …`. ValueError for a schema that
    says more than is known here."""
    yield from _Checker(schema).faults(value, schema, "")


class _Checker:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root

    def faults(self, value: Any, schema: Mapping[str, Any], at: str) -> Iterator[str]:
        if "$ref" in schema:
            yield from self.faults(value, self._referred(schema["$ref"]), at)
            return
        if "type" in schema and not _is(value, schema["type"]):
            yield f"{at or 'the document'}: {_named(value)} where {_listed(schema['type'])} is expected"
            return
        for keyword, wanted in schema.items():
            if keyword in _ABOUT or keyword == "type":
                continue
            check = getattr(self, f"_{keyword.lower()}", None)
            if check is None:
                raise ValueError(f"the schema uses {keyword!r}, which is not known here")
            yield from check(value, wanted, schema, at)

    def _referred(self, reference: str) -> Mapping[str, Any]:
        place: Any = self._root
        for part in reference.removeprefix("#/").split("/"):
            place = place[part]
        found: Mapping[str, Any] = place
        return found

    def _properties(self, value: Any, wanted: Any, _: Any, at: str) -> Iterator[str]:
        for name, schema in wanted.items():
            if isinstance(value, dict) and name in value:
                yield from self.faults(value[name], schema, f"{at}.{name}" if at else name)

    def _required(self, value: Any, wanted: Any, _: Any, at: str) -> Iterator[str]:
        for name in wanted:
            if isinstance(value, dict) and name not in value:
                yield f"{at or 'the document'}: {name!r} is missing"

    def _additionalproperties(self, value: Any, wanted: Any, schema: Any, at: str) -> Iterator[str]:
        known = schema.get("properties", {})
        for name in value if isinstance(value, dict) else ():
            if name in known:
                continue
            if wanted is False:
                yield f"{at or 'the document'}: {name[:60]!r} is not known"
            elif isinstance(wanted, dict):
                yield from self.faults(value[name], wanted, f"{at}[{name[:60]!r}]")

    def _items(self, value: Any, wanted: Any, _: Any, at: str) -> Iterator[str]:
        for index, item in enumerate(value if isinstance(value, list) else ()):
            yield from self.faults(item, wanted, f"{at}[{index}]")

    def _enum(self, value: Any, wanted: Any, _: Any, at: str) -> Iterator[str]:
        if value not in wanted:
            yield f"{at}: {str(value)[:60]!r} is none of {', '.join(map(repr, wanted))}"

    def _const(self, value: Any, wanted: Any, _: Any, at: str) -> Iterator[str]:
        if value != wanted:
            yield f"{at}: {str(value)[:60]!r} where {wanted!r} is expected"

    def _pattern(self, value: Any, wanted: str, _: Any, at: str) -> Iterator[str]:
        if isinstance(value, str) and re.search(wanted, value) is None:
            yield f"{at}: {value[:60]!r} is not of the form {wanted}"

    def _minimum(self, value: Any, wanted: float, _: Any, at: str) -> Iterator[str]:
        if not isinstance(value, bool) and isinstance(value, int | float) and value < wanted:
            yield f"{at}: {value} is less than {wanted}"

    def _minitems(self, value: Any, wanted: int, _: Any, at: str) -> Iterator[str]:
        if isinstance(value, list) and len(value) < wanted:
            yield f"{at}: fewer than {wanted} items"

    def _maxitems(self, value: Any, wanted: int, _: Any, at: str) -> Iterator[str]:
        if isinstance(value, list) and len(value) > wanted:
            yield f"{at}: more than {wanted} items"

    def _anyof(self, value: Any, wanted: Any, _: Any, at: str) -> Iterator[str]:
        tries = [list(self.faults(value, schema, at)) for schema in wanted]
        if all(tries):
            yield min(tries, key=len)[0]


def _is(value: Any, wanted: str | list[str]) -> bool:
    names = [wanted] if isinstance(wanted, str) else wanted
    if isinstance(value, bool):
        return "boolean" in names
    if isinstance(value, float) and value.is_integer() and "integer" in names:
        return True
    return any(isinstance(value, _TYPES[name]) for name in names)


def _named(value: Any) -> str:
    return next(name for name, kinds in _TYPES.items() if isinstance(value, kinds) and _is(value, name))


def _listed(wanted: str | list[str]) -> str:
    return wanted if isinstance(wanted, str) else " or ".join(wanted)
