"""Actions as JSON and back: the form that traces, jobs and the command line share.

`action_from_json(action_to_json(action)) == action` for every action whose values are JSON. Reading is
strict: an unknown kind or field, a missing field or a value of the wrong kind is a `ValueError` that says
what and where. Whether an action makes sense in a world is not looked at here.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, cast, get_args

import attrs

from model.gated.actions import (
    FAULTS,
    TAMPERINGS,
    Action,
    Call,
    CompensationStep,
    Fault,
    Step,
)
from model.values import JSON


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def _kind(cls: type) -> str:
    return cls.__name__[0].lower() + cls.__name__[1:]


def _fields(cls: type) -> tuple[tuple[str, str, Any], ...]:
    return tuple((field.name, _camel(field.name), field) for field in attrs.fields(cast(Any, cls)))


_CLASSES: Final[dict[str, type]] = {_kind(cls): cls for cls in get_args(Action)}
_CALLS: Final[frozenset[type]] = frozenset(get_args(Call))
_FIELDS: Final[dict[type, tuple[tuple[str, str, Any], ...]]] = {
    cls: _fields(cls) for cls in (*_CLASSES.values(), Step, CompensationStep, Fault)
}


def action_to_json(action: Action) -> dict[str, JSON]:
    """`{"do": kind, ...}` with camelCase fields; those that have their default are left out."""
    return {"do": _kind(type(action)), **_to_json(action)}


def _to_json(value: object) -> dict[str, JSON]:
    form: dict[str, JSON] = {}
    for name, key, field in _FIELDS[type(value)]:
        each = getattr(value, name)
        if field.default is not attrs.NOTHING and each == field.default and type(each) is type(field.default):
            continue
        if name == "inside":
            form[key] = action_to_json(each)
        elif name in ("faults", "steps"):
            form[key] = [_to_json(one) for one in each]
        else:
            form[key] = each
    return form


def action_from_json(form: object, where: str = "action") -> Action:
    """The action that `form` describes.

    Raises `ValueError`, naming the place below `where`, if it describes none.
    """
    mapping = _mapping(form, where)
    kind = mapping.get("do")
    cls = _CLASSES.get(kind) if isinstance(kind, str) else None
    if cls is None:
        raise ValueError(f"{where}.do: {kind!r} is no action; known are {', '.join(sorted(_CLASSES))}")
    rest = {key: value for key, value in mapping.items() if key != "do"}
    return cast(Action, _from_json(cls, rest, where))


def _from_json(cls: type, form: object, where: str) -> Any:
    mapping = _mapping(form, where)
    fields = _FIELDS[cls]
    known = {key for _, key, _ in fields}
    unknown = sorted(set(mapping) - known)
    if unknown:
        raise ValueError(f"{where}: unknown field {unknown[0]!r}; known are {', '.join(sorted(known))}")
    values: dict[str, object] = {}
    for name, key, field in fields:
        if key in mapping:
            read = _steps_of(cls) if name == "steps" else _READERS.get((cls, name)) or _READERS[None, name]
            values[name] = read(mapping[key], f"{where}.{key}")
        elif field.default is attrs.NOTHING:
            raise ValueError(f"{where}.{key}: missing in {_kind(cls)!r}")
    return cls(**values)


def _mapping(form: object, where: str) -> Mapping[str, Any]:
    if not isinstance(form, Mapping):
        raise ValueError(f"{where}: an object is needed, not {form!r}")
    return form


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{where}: a string is needed, not {value!r}")
    return value


def _text_or_none(value: object, where: str) -> str | None:
    return None if value is None else _text(value, where)


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


def _one_of(*known: str | bool | None) -> Callable[[object, str], object]:
    def read(value: object, where: str) -> object:
        if not any(value is each or (isinstance(each, str) and value == each) for each in known):
            raise ValueError(f"{where}: {value!r} is none of {', '.join(map(repr, known))}")
        return value

    return read


_MUTATIONS: Final = ({"set"}, {"remove"}, {"set", "remove"}, {"increment"}, {"raises"}, {"garbage"})


def _mutation(value: object, where: str) -> dict[str, JSON]:
    mapping = dict(_mapping(value, where))
    if mapping and set(mapping) not in _MUTATIONS:
        raise ValueError(
            f"{where}: {sorted(mapping)} is no mutation; known are set, remove, increment, raises, garbage"
        )
    _mapping(mapping.get("set", {}), f"{where}.set")
    names = mapping.get("remove", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{where}.remove: a list of names is needed, not {names!r}")
    _text(mapping.get("increment", ""), f"{where}.increment")
    _one_of(True)(mapping.get("raises", True), f"{where}.raises")
    return mapping


def _list(cls: type) -> Callable[[object, str], object]:
    def read(value: object, where: str) -> object:
        if not isinstance(value, list | tuple):
            raise ValueError(f"{where}: a list is needed, not {value!r}")
        return tuple(_from_json(cls, each, f"{where}[{index}]") for index, each in enumerate(value))

    return read


def _faults(value: object, where: str) -> object:
    faults = cast(tuple[Fault, ...], _list(Fault)(value, where))
    for index, fault in enumerate(faults):
        _one_of(*FAULTS)(fault.moment, f"{where}[{index}].moment")
        _one_of(*FAULTS[fault.moment])(fault.kind, f"{where}[{index}].kind")
        if fault.nth < 1:
            raise ValueError(f"{where}[{index}].nth: arrivals are counted from 1, not {fault.nth}")
    return faults


def _call(value: object, where: str) -> object:
    if value is None:
        return None
    action = action_from_json(value, where)
    if type(action) not in _CALLS:
        raise ValueError(f"{where}: nobody dies inside {_kind(type(action))!r}")
    return action


def _steps_of(cls: type) -> Callable[[object, str], object]:
    return _list(Step if _kind(cls) == "applySteps" else CompensationStep)


_TEXTS: Final = (
    "client", "operation_id", "run_id", "node_id", "event_type", "phase", "idempotency_key", "id",
    "receipt_id", "before_state_hash", "after_state_hash", "at", "moment",
)  # fmt: skip
_READERS: Final[dict[tuple[type | None, str], Callable[[object, str], object]]] = {
    **{(None, name): _text for name in _TEXTS},
    **{(None, name): _integer for name in ("sequence", "line", "n", "nth")},
    **{(None, name): _flag for name in ("idempotent", "applied")},
    (None, "attempt_id"): _text_or_none,
    (None, "intent"): _any,
    (None, "mutation"): _mutation,
    (None, "verifier"): _one_of(None, True, False, "raises"),
    (None, "raises"): _one_of(None, "before", "after"),
    (None, "faults"): _faults,
    (None, "kind"): _one_of(*TAMPERINGS),
    (Fault, "kind"): _text,
    (None, "inside"): _call,
}
