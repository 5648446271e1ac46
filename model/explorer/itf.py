"""A trace in the Informal Trace Format of Apalache, as revised on 2023-09-14.

Source: ADR-015, https://apalache-mc.org/docs/adr/015adr-trace.html. Integers are written as `#bigint`, sets
as `#set`, maps as `#map`, tuples of a space as lists, frozen classes as records, and `None` as the variant
`Absent`. The variables are `action_taken`, `outcome`, the fields of the shared value (or `shared`, if it has
none), and `slots`.
"""

import json
from collections.abc import Mapping

import attrs

from model.explorer.differences import fields_of
from model.explorer.properties import Trace
from model.explorer.space import G, S, State

Json = dict[str, "Json"] | list["Json"] | str | int | bool | None

DESCRIPTION = "https://apalache-mc.org/docs/adr/015adr-trace.html"


def itf(trace: Trace[G, S], *, source: str = "", description: str = "") -> str:
    """The trace as text of a file whose name ends in `.itf.json`; the options go to `#meta`."""
    states = [_state(0, "start", "", trace.start)]
    for index, move in enumerate(trace.moves, start=1):
        states.append(_state(index, str(move.label), move.outcome, move.state))
    names: list[Json] = [name for name in states[0] if name != "#meta"]
    meta: Json = {
        "format": "ITF",
        "format-description": DESCRIPTION,
        "source": source,
        "description": description,
    }
    told: Json = {"#meta": meta, "vars": names, "states": [*states]}
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def _state(index: int, action: str, outcome: str, state: State[G, S]) -> dict[str, Json]:
    told: dict[str, Json] = {"#meta": {"index": index}, "action_taken": action, "outcome": outcome}
    if attrs.has(type(state.shared)):
        for name, value in fields_of(state.shared):
            told[_name(name)] = expression(value)
    else:
        told["shared"] = expression(state.shared)
    told["slots"] = [expression(slot) for slot in state.slots]
    return told


def _name(field: str) -> str:
    """A field's name, out of the way of our own."""
    return f"{field}_" if field in ("action_taken", "outcome", "slots") else field


def expression(value: object) -> Json:
    """A value as an ITF expression; what has no form there becomes `#unserializable`."""
    if isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return {"#bigint": str(value)}
    if value is None:
        return {"tag": "Absent", "value": "U_OF_UNIT"}
    if isinstance(value, tuple | list):
        return [expression(each) for each in value]
    if isinstance(value, frozenset | set):
        return {"#set": [expression(each) for each in sorted(value, key=repr)]}
    if isinstance(value, Mapping):
        return {"#map": [[expression(key), expression(each)] for key, each in value.items()]}
    if attrs.has(type(value)):
        return {name: expression(each) for name, each in fields_of(value)}
    return {"#unserializable": repr(value)}
