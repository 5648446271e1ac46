"""What the owner of a store has decided otherwise, declared in a TOML file, each with a reason.

Three things can be declared: another error code, an operation that there is not, a field of a row that is
not kept. A declared deviation is no violation; how often each was met is counted under `deviation/…`, and one
that was never met is told as such. Reading is strict: what isn't known is an error that names the place.

An acceptance where the model refuses, or the other way round, can't be declared: after it the two have
nothing to say to each other.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from model.actions import OPERATIONS
from model.outcomes import CODES
from model.values import JSON

ANY: Final = "*"
_PLACES: Final = (*OPERATIONS, "open", "readEpoch", ANY)
_FIELDS_OF_ROWS: Final = (
    *("attemptId", "providerJobHandle", "renewedAt", "coordinatorEpoch"),
    *("updatedAt", "admitRunVersion", "releaseKind", "releaseProofId", "concurrencyGuarantee"),
)


class PolicyError(ValueError):
    """A policy file can't be read. The message says what, where, and what to do."""


@frozen
class Code:
    """Where the model refuses with `model`, this store does with `store`."""

    operation: str
    model: str
    store: str
    reason: str

    @property
    def key(self) -> str:
        return f"deviation/code {self.operation} {self.model} is {self.store}"


@frozen
class Missing:
    """There is no such operation."""

    operation: str
    reason: str

    @property
    def key(self) -> str:
        return f"deviation/no {self.operation}"


@frozen
class Unkept:
    """Rows have no such field, or it says something else."""

    name: str
    reason: str

    @property
    def key(self) -> str:
        return f"deviation/no field {self.name}"


@frozen
class Policy:
    """All that is declared. Nothing, by default."""

    codes: tuple[Code, ...] = ()
    missing: tuple[Missing, ...] = ()
    fields: tuple[Unkept, ...] = ()

    @property
    def declared(self) -> tuple[Code | Missing | Unkept, ...]:
        return (*self.codes, *self.missing, *self.fields)

    def code_for(self, operation: str, model: str, store: str) -> Code | None:
        """The declaration that has `store` stand for `model` there."""
        for one in self.codes:
            if one.operation in (operation, ANY) and (one.model, one.store) == (model, store):
                return one
        return None

    def to_json(self) -> dict[str, JSON]:
        return {
            "code": [
                {"operation": one.operation, "model": one.model, "store": one.store, "reason": one.reason}
                for one in self.codes
            ],
            "missing": [{"operation": one.operation, "reason": one.reason} for one in self.missing],
            "field": [{"name": one.name, "reason": one.reason} for one in self.fields],
        }


def load(path: Path) -> Policy:
    """The policy in `path`. `PolicyError` if it can't be read."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PolicyError(f"{path}: the policy can't be opened: {error.strerror}. Check the path.") from None
    except UnicodeDecodeError as error:
        raise PolicyError(f"{path}: byte {error.start} is no UTF-8, and TOML is.") from None
    except tomllib.TOMLDecodeError as error:
        raise PolicyError(f"{path}: no TOML: {error}") from None
    try:
        return from_json(data)
    except PolicyError as error:
        raise PolicyError(f"{path}: {error}") from None


def from_json(data: Mapping[str, Any]) -> Policy:
    """The policy that `data`, parsed TOML, declares. `PolicyError` names the place that doesn't fit."""
    _known(data, {"code", "missing", "field"}, "at the top")
    policy = Policy(
        tuple(_code(one, where) for one, where in _tables(data, "code")),
        tuple(_missing(one, where) for one, where in _tables(data, "missing")),
        tuple(_field(one, where) for one, where in _tables(data, "field")),
    )
    keys = [one.key for one in policy.declared]
    for key in keys:
        if keys.count(key) > 1:
            raise PolicyError(f"declared twice: {key.removeprefix('deviation/')}. Keep one of them.")
    return policy


def _code(table: Mapping[str, Any], where: str) -> Code:
    _known(table, {"operation", "model", "store", "reason"}, where)
    operation = _one_of(table, "operation", _PLACES, where)
    model = _one_of(table, "model", tuple(sorted(CODES)), where)
    return Code(operation, model, _text(table, "store", where), _text(table, "reason", where))


def _missing(table: Mapping[str, Any], where: str) -> Missing:
    _known(table, {"operation", "reason"}, where)
    return Missing(_one_of(table, "operation", OPERATIONS, where), _text(table, "reason", where))


def _field(table: Mapping[str, Any], where: str) -> Unkept:
    _known(table, {"name", "reason"}, where)
    return Unkept(_one_of(table, "name", _FIELDS_OF_ROWS, where), _text(table, "reason", where))


def _tables(data: Mapping[str, Any], name: str) -> list[tuple[Mapping[str, Any], str]]:
    tables = data.get(name, [])
    if not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
        raise PolicyError(f"{name}: write it as [[{name}]], once for each deviation")
    return [(one, f"{name}[{index}]") for index, one in enumerate(tables)]


def _known(table: Mapping[str, Any], known: set[str], where: str) -> None:
    unknown = sorted(set(table) - known)
    if unknown:
        raise PolicyError(f"{where}: unknown key {unknown[0]!r}; known are {', '.join(sorted(known))}")


def _text(table: Mapping[str, Any], key: str, where: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value.strip():
        raise PolicyError(
            f"{where}.{key}: a text is needed, and it is {'missing' if value is None else value!r}"
        )
    return value


def _one_of(table: Mapping[str, Any], key: str, known: tuple[str, ...], where: str) -> str:
    value = _text(table, key, where)
    if value not in known:
        raise PolicyError(f"{where}.{key}: {value!r}; known are {', '.join(known)}")
    return value
