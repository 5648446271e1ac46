"""How the values of the store become JSON and come back: cattrs, taught not to be kind.

Guarantees: the converter takes no unknown key, fills in no missing one, coerces nothing, takes null for
nothing, and an array or an object only for what it is. `locate` says where the shape is wrong.

Doesn't: get loaded before it is needed: cattrs costs an import of 30 ms.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, get_args

import attrs
from cattrs import BaseValidationError, Converter, transform_error
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override
from cattrs.v import format_exception

from impl.shapes import SCALARS, is_literal, is_optional, without_none
from impl.values import (
    AuditEntry,
    Capacity,
    Command,
    CommandRecord,
    DirectoryIdentity,
    ForceReleaseRequest,
    Positive,
    Request,
    Reservation,
    Row,
    SetMaxActiveRunsRequest,
    Snapshot,
    State,
    StoreIdentity,
)

_CLASSES: Final = (
    Reservation,
    Row,
    SetMaxActiveRunsRequest,
    ForceReleaseRequest,
    CommandRecord,
    Command,
    AuditEntry,
    DirectoryIdentity,
    StoreIdentity,
    State,
    Capacity,
    Snapshot,
)


def locate(raw: object, kind: type) -> str:
    """Where the shape is wrong: found by decoding again, slowly, with all locations kept."""
    try:
        converter_of(True).structure(raw, kind)
    except BaseValidationError as error:
        found = transform_error(error, format_exception=_explain)[:3]
        return "; ".join(re.sub("_([a-z])", lambda part: part[1].upper(), line) for line in found)
    except Exception as error:  # noqa: BLE001 -- cattrs raises whatever the first wrong value provokes
        return f"{_explain(error, None)} @ $"
    return "the shape is wrong"


def _explain(error: BaseException, kind: type | None) -> str:
    if type(error) is ValueError:
        return str(error)
    if isinstance(error, KeyError):
        return f"the key {_camel(str(error.args[0]))} is missing"
    return format_exception(error, kind)


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def _checked(accepts: Callable[[object], bool], kind: Any) -> Callable[[Any, Any], Any]:
    """A hook that takes a value as it is, or not at all."""
    wanted = kind.__metadata__[0] if hasattr(kind, "__metadata__") else "a non-empty text"

    def hook(raw: Any, _: Any) -> Any:
        if not accepts(raw):
            raise ValueError(f"not {wanted}")
        return raw

    return hook


def _literal(kind: Any) -> Callable[[Any, Any], Any]:
    choices = get_args(kind)  # texts only; cattrs' own hook would take 1 for true

    def hook(raw: Any, _: Any) -> Any:
        if type(raw) is not str or raw not in choices:
            raise ValueError(f"not one of {', '.join(choices)}")
        return raw

    return hook


def _only(kind: type, inner: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A hook for JSON objects or arrays alone: cattrs would iterate over anything."""
    wanted = "a JSON object" if kind is dict else "a JSON array"

    def hook(raw: Any, target: Any) -> Any:
        if type(raw) is not kind:
            raise ValueError(f"not {wanted}")
        return inner(raw, target)

    return hook


def _is(kind: Any) -> Callable[[Any], bool]:
    return lambda candidate: candidate == kind


def _present(kind: Any, converter: Converter) -> Callable[[Any, Any], Any]:
    """A hook for optional fields: a key that is there has a value, never null."""
    inner = without_none(kind)
    hook = converter.get_structure_hook(inner)
    return lambda raw, _: hook(raw, inner)


def _request(converter: Converter) -> Callable[[Any, Any], Any]:
    def hook(raw: Any, _: Any) -> Any:
        kind = raw.get("kind") if type(raw) is dict else None
        target = ForceReleaseRequest if kind == "forceRelease" else SetMaxActiveRunsRequest
        return converter.structure(raw, target)

    return hook


def _result(converter: Converter) -> Callable[[Any, Any], Any]:
    positive = converter.get_structure_hook(Positive)

    def hook(raw: Any, _: Any) -> Any:
        return converter.structure(raw, Row) if type(raw) is dict else positive(raw, Positive)

    return hook


@cache
def converter_of(detailed: bool) -> Converter:
    """The converter: a fast one, or one that keeps all locations for a message."""
    converter = Converter(forbid_extra_keys=True, detailed_validation=detailed)
    for scalar, accepts in SCALARS:
        converter.register_structure_hook_func(_is(scalar), _checked(accepts, scalar))
    converter.register_structure_hook_factory(is_literal, _literal)
    converter.register_structure_hook_factory(is_optional, lambda kind: _present(kind, converter))
    converter.register_structure_hook_func(_is(Request), _request(converter))
    converter.register_structure_hook_func(_is(Row | Positive), _result(converter))
    for cls in _CLASSES:
        names: dict[str, Any] = {
            field.name: override(rename=_camel(field.name), omit_if_default=field.default is None)
            for field in attrs.fields(cls)
        }
        converter.register_unstructure_hook(cls, make_dict_unstructure_fn(cls, converter, **names))
        structure = make_dict_structure_fn(
            cls, converter, _cattrs_forbid_extra_keys=True, _cattrs_detailed_validation=detailed, **names
        )
        converter.register_structure_hook(cls, _only(dict, structure))
        for plural, container in ((Mapping[str, cls], dict), (tuple[cls, ...], list)):  # type: ignore[valid-type]  # built at run time, for cattrs alone
            inner = converter.get_structure_hook(plural)
            converter.register_structure_hook_func(_is(plural), _only(container, inner))
    return converter
