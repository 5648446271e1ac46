"""The comparison: what the model says and what the store shows, as a list of nested differences.

A difference names its place (`reservations[…].reservation.state`) and both values; `ABSENT` stands for a
value that is not there. Kinds count: `1`, `1.0` and `true` are three things. The order of rows, of commands
and of facts is ignored, as the specification says; that of the audit is not.

It never decides who is right.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from model.values import JSON, Fact

ABSENT = "(absent)"
_MOST = 40


@frozen
class Difference:
    """At `path` the model has one value and the store another."""

    path: str
    model: JSON
    store: JSON

    def to_json(self) -> dict[str, JSON]:
        return {"path": self.path, "model": self.model, "store": self.store}

    def __str__(self) -> str:
        return f"{self.path}: model {self.model!r}, store {self.store!r}"


def differences(model: Any, store: Any, path: str = "") -> tuple[Difference, ...]:
    """Where `model` and `store` (both JSON) differ, at most 40 places, in order of path."""
    found: list[Difference] = []
    _compare(model, store, path, found)
    return tuple(found[:_MOST])


def same(model: Any, store: Any) -> bool:
    """Whether there is no difference. Quick where the values are equal."""
    if model == store:
        return _kinds_agree(model, store)
    return not differences(model, store)


def same_store(model: Mapping[str, Any] | None, store: Mapping[str, Any] | None) -> bool:
    """`same` for whole stores as the reader gives them, whose numbers are known to be integers."""
    return model == store or not differences(model, store)


def fact_to_json(fact: Fact) -> dict[str, JSON]:
    """A fact of the model's world in the terms of the target's own ledgers."""
    project, domain, run = fact.binding
    form: dict[str, JSON] = {
        "reservationId": fact.reservation_id,
        "projectId": project,
        "projectControlDomainId": domain,
        "runId": run,
        "kind": fact.kind,
        "commitSeq": fact.commit_seq,
        "runVersion": fact.run_version,
    }
    if fact.kind == "admitted":
        form |= {
            "status": fact.status,
            "stage": fact.stage,
            "requiresReadmission": fact.requires_readmission,
            "quiescent": fact.quiescent,
        }
    return form


def _compare(model: Any, store: Any, path: str, found: list[Difference]) -> None:
    if isinstance(model, Mapping) and isinstance(store, Mapping):
        for key in sorted({*model, *store}, key=str):
            inner = f"{path}.{key}" if path else str(key)
            _compare(model.get(key, ABSENT), store.get(key, ABSENT), inner, found)
        return
    if _is_list(model) and _is_list(store):
        by_id = _by_id(model), _by_id(store)
        if by_id[0] is not None and by_id[1] is not None:
            for key in sorted({*by_id[0], *by_id[1]}):
                _compare(by_id[0].get(key, ABSENT), by_id[1].get(key, ABSENT), f"{path}[{key}]", found)
            return
        for index in range(max(len(model), len(store))):
            left = model[index] if index < len(model) else ABSENT
            right = store[index] if index < len(store) else ABSENT
            _compare(left, right, f"{path}[{index}]", found)
        return
    if type(model) is not type(store) or model != store:
        found.append(Difference(path or "(all)", model, store))


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _by_id(items: Sequence[Any]) -> dict[str, Any] | None:
    """Rows by reservation id, commands by command id; `None` where the items are neither, or two alike."""
    found: dict[str, Any] = {}
    for item in items:
        if not isinstance(item, Mapping):
            return None
        inner, key = item.get("reservation"), "reservationId"
        if inner is None:
            inner, key = item.get("record"), "commandId"
        name = inner.get(key) if isinstance(inner, Mapping) else None
        if not isinstance(name, str) or name in found:
            return None
        found[name] = item
    return found


def _kinds_agree(model: Any, store: Any) -> bool:
    """Of two equal values: whether no integer stands against a boolean or a float."""
    if isinstance(model, dict):
        return all(_kinds_agree(value, store[key]) for key, value in model.items())
    if isinstance(model, list):
        return all(map(_kinds_agree, model, store))
    return type(model) is type(store)
