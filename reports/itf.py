"""`traces/*.itf.json`: the model's worlds along a trace, in the Informal Trace Format.

The format is Apalache's ADR 015 (https://apalache-mc.org/docs/adr/015adr-trace.html), so that tools made for
TLA+ and Quint can show a counterexample. State 0 is the world in which the trace starts; each other state is
the world after one action, with `action_taken` and `outcome` beside the world's own variables. Values of the
model are records, JSON of an action is maps and sequences, what is absent is the variant `Absent`.

It tells what the *model* says: where the store differed stands in the trace itself. Past states that a world
keeps are told by their commit numbers. Of a kill the states lead up to the action in flight and through it.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from reports.canonical import clean

FORMAT = "https://apalache-mc.org/docs/adr/015adr-trace.html"
ABSENT: Mapping[str, Any] = {"tag": "Absent", "value": "U_OF_UNIT"}
MOST_STEPS = 500
"""Longer stories have no such file: each state is a whole world."""


def render(trace: Any) -> str:
    """The file's text, ASCII. Empty if the trace can't be walked by this version of the model."""
    try:
        walked = _walk(trace)
    except (ValueError, TypeError, LookupError, AttributeError):
        return ""  # a trace of another version, or an edited one
    if walked is None:
        return ""
    worlds, told = walked
    names = [field.name for field in attrs.fields(type(worlds[0]))]
    states = [
        {
            "#meta": {"index": index},
            **{name: _past(name, getattr(world, name)) for name in names},
            "action_taken": action,
            "outcome": outcome,
        }
        for index, (world, (action, outcome)) in enumerate(zip(worlds, told, strict=True))
    ]
    whole = {
        "#meta": {
            "format": "ITF",
            "format-description": FORMAT,
            "source": f"holdtrue, model of the {trace.get('system', 'coordinator')}",
            "description": f"{trace.get('name', '')}: {trace.get('why', '')}",
        },
        "params": [],
        "vars": [*names, "action_taken", "outcome"],
        "states": states,
    }
    return json.dumps(clean(whole), indent=1) + "\n"


def _walk(trace: Any) -> tuple[list[Any], list[tuple[Any, Any]]] | None:
    """Worlds, and for each the action that led to it and its outcome, in ITF. None if there is no step."""
    actions = _actions(trace)
    if not actions or len(actions) > MOST_STEPS:
        return None
    if trace.get("system", "coordinator") == "ledger":
        from model.gated.forms import action_from_json, outcome_to_json
        from model.gated.start import initial_world
        from model.gated.stepping import step

        world: Any = initial_world()
        read, take, told_of = action_from_json, step, outcome_to_json
    else:
        import model
        from model import forms

        given = dict(trace.get("initial") or {})
        if "dropped" in given:
            given["dropped"] = frozenset(given["dropped"])
        world = model.initial_world(**given)
        read, take, told_of = forms.action_from_json, model.step, forms.outcome_to_json  # type: ignore[assignment]
    worlds, told = [world], [(dict(ABSENT), dict(ABSENT))]
    for index, form in enumerate(actions):
        world, outcome = take(world, read(form, f"steps[{index}]"))
        worlds.append(world)
        told.append((encoded(form), encoded(told_of(outcome))))
    return worlds, told


def _actions(trace: Any) -> Sequence[Any]:
    if not isinstance(trace, Mapping):
        return ()
    if trace.get("kind") == "kill":
        parts = [trace.get("history"), trace.get("flight")]
        return [one for part in parts if isinstance(part, list) for one in part]
    steps = trace.get("steps")
    return [step["action"] for step in steps] if isinstance(steps, list) else ()


def _past(name: str, value: Any) -> Any:
    if name == "earlier":
        return [encoded(state.commit_seq) for state in value]
    if name == "hosts":
        return [_host(host) for host in value]
    return encoded(value)


def _host(host: Any) -> Any:
    seen = host.seen
    return {**encoded(attrs.evolve(host, seen=None)), "seen": encoded(seen and seen.commit_seq)}


def encoded(value: Any) -> Any:
    """A value of the model, or JSON, as an ITF expression."""
    if value is None:
        return dict(ABSENT)
    if isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return {"#bigint": str(value)}
    if isinstance(value, float):
        return f"{value!r}"  # no ITF value; only a nonsensical argument can be one
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, frozenset):
        return {"#set": [encoded(one) for one in sorted(value, key=repr)]}
    if isinstance(value, Mapping):
        return {"#map": [[str(key), encoded(one)] for key, one in value.items()]}
    if attrs.has(type(value)):
        shown = (field.name for field in attrs.fields(type(value)) if field.repr)
        return {name: encoded(getattr(value, name)) for name in shown}
    return [encoded(one) for one in value]
