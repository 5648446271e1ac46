"""Actions as JSON and back: the form that traces, jobs and the wire share.

`action_from_json(action_to_json(action)) == action` for every action whose arguments are JSON. Reading is
strict: an unknown kind or field, a missing field or a value of the wrong kind is a `ValueError` that says
what and where. Whether an action makes sense in a world is not looked at here.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, cast, get_args

import attrs

from model import actions
from model.actions import Action, Answers, Disturbance, Effect, Event, Happens, Moment, Raises, Reenters
from model.values import JSON


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def _kind(cls: type) -> str:
    return cls.__name__[0].lower() + cls.__name__[1:]


_CLASSES: Final[dict[str, type]] = {_kind(cls): cls for cls in get_args(Action)}
_EVENTS: Final[frozenset[type]] = frozenset(get_args(Event))
_MOMENTS: Final[frozenset[str]] = frozenset(get_args(Moment))
_FIELDS: Final[dict[type, tuple[tuple[str, str, Any], ...]]] = {
    cls: tuple((field.name, _camel(field.name), field) for field in attrs.fields(cls))
    for cls in _CLASSES.values()
}


def _default(field: Any) -> Any:
    default = field.default
    return default.factory() if isinstance(default, attrs.Factory) else default  # type: ignore[arg-type]  # typed as a function


def action_to_json(action: Action) -> dict[str, JSON]:
    """`{"do": kind, ...}` with camelCase fields; those that have their default are left out."""
    form: dict[str, JSON] = {"do": _kind(type(action))}
    for name, key, field in _FIELDS[type(action)]:
        value = getattr(action, name)
        if field.default is not attrs.NOTHING and value == _default(field):
            continue
        if name == "disturbances":
            form[key] = [_disturbance_to_json(each) for each in value]
        elif name == "arguments":
            form[key] = dict(value)
        else:
            form[key] = value
    return form


def _disturbance_to_json(disturbance: Disturbance) -> JSON:
    return {
        "moment": disturbance.moment,
        "nth": disturbance.nth,
        "effect": _effect_to_json(disturbance.effect),
    }


def _effect_to_json(effect: Effect) -> JSON:
    if isinstance(effect, Raises):
        return {"raises": effect.code}
    if isinstance(effect, Answers):
        return {"answers": effect.value}
    if isinstance(effect, Reenters):
        return {"reenters": True}
    return {"happens": action_to_json(effect.event)}


def action_from_json(form: object, where: str = "action") -> Action:
    """The action that `form` describes.

    Raises `ValueError`, naming the place below `where`, if it describes none.
    """
    mapping = _mapping(form, where)
    kind = mapping.get("do")
    cls = _CLASSES.get(kind) if isinstance(kind, str) else None
    if cls is None:
        raise ValueError(f"{where}.do: {kind!r} is no action; known are {', '.join(sorted(_CLASSES))}")
    fields = _FIELDS[cls]
    _closed(mapping, {"do", *(key for _, key, _ in fields)}, where)
    values: dict[str, object] = {}
    for name, key, field in fields:
        if key in mapping:
            values[name] = _READERS[name](mapping[key], f"{where}.{key}")
        elif field.default is attrs.NOTHING:
            raise ValueError(f"{where}.{key}: missing in {kind!r}")
    return cast(Action, cls(**values))


def _mapping(form: object, where: str) -> Mapping[str, Any]:
    if not isinstance(form, Mapping):
        raise ValueError(f"{where}: an object is needed, not {form!r}")
    return form


def _closed(mapping: Mapping[str, Any], known: set[str], where: str) -> None:
    unknown = sorted(set(mapping) - known)
    if unknown:
        raise ValueError(f"{where}: unknown field {unknown[0]!r}; known are {', '.join(sorted(known))}")


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{where}: a string is needed, not {value!r}")
    return value


def _integer(value: object, where: str) -> int:
    if type(value) is not int:
        raise ValueError(f"{where}: an integer is needed, not {value!r}")
    return value


def _flag(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{where}: a boolean is needed, not {value!r}")
    return value


def _any(value: object, where: str) -> object:  # noqa: ARG001 - every reader takes the place
    return value


def _damage(value: object, where: str) -> str:
    kind = _text(value, where)
    if kind not in actions.DAMAGES:
        raise ValueError(f"{where}: {kind!r} is no damage; known are {', '.join(actions.DAMAGES)}")
    return kind


def _final_status(value: object, where: str) -> str:
    status = _text(value, where)
    if status not in {"completed", "failed", "blocked", "cancelled"}:
        raise ValueError(f"{where}: {status!r} is no terminal status")
    return status


def _disturbances(value: object, where: str) -> tuple[Disturbance, ...]:
    if not isinstance(value, list | tuple):
        raise ValueError(f"{where}: a list is needed, not {value!r}")
    return tuple(_disturbance(each, f"{where}[{index}]") for index, each in enumerate(value))


def _disturbance(form: object, where: str) -> Disturbance:
    mapping = _mapping(form, where)
    _closed(mapping, {"moment", "nth", "effect"}, where)
    moment = _text(mapping.get("moment"), f"{where}.moment")
    if moment not in _MOMENTS:
        raise ValueError(f"{where}.moment: {moment!r} is none; known are {', '.join(sorted(_MOMENTS))}")
    nth = _integer(mapping.get("nth"), f"{where}.nth")
    if nth < 1:
        raise ValueError(f"{where}.nth: arrivals are counted from 1, not {nth}")
    return Disturbance(cast(Moment, moment), nth, _effect(mapping.get("effect"), f"{where}.effect"))


def _effect(form: object, where: str) -> Effect:
    mapping = _mapping(form, where)
    _closed(mapping, {"raises", "answers", "reenters", "happens"}, where)
    if len(mapping) != 1:
        raise ValueError(f"{where}: exactly one of raises, answers, reenters, happens is needed")
    ((kind, value),) = mapping.items()
    if kind == "raises":
        return Raises(None if value is None else _text(value, f"{where}.raises"))
    if kind == "answers":
        return Answers(value)
    if kind == "reenters":
        if value is not True:
            raise ValueError(f"{where}.reenters: true is needed, not {value!r}")
        return Reenters()
    event = action_from_json(value, f"{where}.happens")
    if type(event) not in _EVENTS:
        raise ValueError(f"{where}.happens: {_kind(type(event))!r} is no event of the surroundings")
    return Happens(cast(Event, event))


_READERS: Final[dict[str, Callable[[object, str], object]]] = {
    "host": _text,
    "context": _text,
    "operation": _text,
    "reservation_id": _text,
    "project_id": _text,
    "project_control_domain_id": _text,
    "run_id": _text,
    "status": _final_status,
    "kind": _damage,
    "ms": _integer,
    "index": _integer,
    "arbitration": _flag,
    "arguments": lambda value, where: dict(_mapping(value, where)),
    "disturbances": _disturbances,
    "holder_id": _any,
    "epoch": _any,
    "initial_max_active_runs": _any,
    "lease": _any,
    "identity": _any,
}
