"""A whole world as JSON and back, for keeping one in a file.

`world_from_json(world_to_json(world)) == world`. Rows, commands, digests, audit entries and states recur
many times in a world's past, so each is written once, into a pool, and referred to by its number.
Speed is not aimed at: comparisons use `model.forms.store_to_json`.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

import attrs

from model.values import (
    JSON,
    AuditEntry,
    Business,
    Command,
    Fact,
    ForceRelease,
    Host,
    Identity,
    Lease,
    Raw,
    Row,
    SetMaximum,
    Store,
    World,
)

_POOLED: Final[dict[type, str]] = {
    Row: "rows",
    Command: "commands",
    Business: "digests",
    AuditEntry: "entries",
    Store: "stores",
}
_PLAIN: Final[dict[str, type]] = {
    cls.__name__: cls for cls in (SetMaximum, ForceRelease, Lease, Raw, Identity, Host, Fact)
}


@attrs.define
class _Pools:
    """Numbers each pooled value by identity; keeps it alive so that identities stay apart."""

    numbers: dict[int, int] = attrs.field(factory=dict)
    forms: dict[str, list[JSON]] = attrs.field(factory=lambda: {name: [] for name in _POOLED.values()})
    alive: list[object] = attrs.field(factory=list)

    def refer(self, value: object) -> JSON:
        pool = _POOLED[type(value)]
        number = self.numbers.get(id(value))
        if number is None:
            form = _fields_to_json(value, self)
            number = len(self.forms[pool])
            self.forms[pool].append(form)
            self.numbers[id(value)] = number
            self.alive.append(value)
        return {pool: number}


def _fields_to_json(value: object, pools: _Pools) -> dict[str, JSON]:
    cls = type(value)
    return {
        field.name: _to_json(getattr(value, field.name), pools)
        for field in attrs.fields(cast(Any, cls))
        if field.init and (field.default is attrs.NOTHING or getattr(value, field.name) != field.default)
    }


def _to_json(value: object, pools: _Pools) -> JSON:
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, tuple):
        return [_to_json(each, pools) for each in value]
    if isinstance(value, frozenset):
        return cast(JSON, sorted(value))
    if type(value) in _POOLED:
        return pools.refer(value)
    return {"is": type(value).__name__, **_fields_to_json(value, pools)}


def world_to_json(world: World) -> dict[str, JSON]:
    pools = _Pools()
    form = _fields_to_json(world, pools)
    return {"pools": cast(JSON, pools.forms), "world": form}


def world_from_json(form: Mapping[str, Any]) -> World:
    """Raises `ValueError` or `KeyError` for what `world_to_json` cannot have written."""
    read: dict[str, list[object]] = {}

    def value_from(each: Any) -> object:
        if isinstance(each, list):
            return tuple(value_from(one) for one in each)
        if not isinstance(each, Mapping):
            return each
        if "is" in each:
            return build(_PLAIN[each["is"]], {key: one for key, one in each.items() if key != "is"})
        ((pool, number),) = each.items()
        return read[pool][number]

    def build(cls: Callable[..., Any], fields: Mapping[str, Any]) -> Any:
        return cls(**{name: value_from(one) for name, one in fields.items()})

    for cls, pool in _POOLED.items():
        read[pool] = []
        for each in form["pools"][pool]:
            read[pool].append(build(cls, each))
    fields = dict(form["world"])
    for name in ("damage", "dropped", "broken"):
        if name in fields:
            fields[name] = frozenset(fields[name])
    world = {name: one if isinstance(one, frozenset) else value_from(one) for name, one in fields.items()}
    return World(**cast(Any, world))
