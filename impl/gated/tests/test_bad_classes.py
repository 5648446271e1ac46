"""Values whose very class claims to be `str`, `int`, `list` or `dict`: no request and no state holds one.

Kinds are asked for by identity: what is kept is plain, and means the same to whoever reads it.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from impl.gated import ApplyRequest, CompensationRequest, CompensationStep, Ledger, Request, Step, open_ledger
from impl.gated.tests.bench import HASH, adding, ledger_lines
from impl.tests.nonsense import Claiming, Number, Text, claiming


class Array(list[Any], metaclass=Claiming):
    pass


class Object(dict[str, Any], metaclass=Claiming):
    pass


def nothing() -> None:
    raise AssertionError("a step was run")


def step(**changed: Any) -> Step:
    fields: dict[str, Any] = {
        "id": "s",
        "receipt_id": "r",
        "sequence": 1,
        "idempotent": True,
        "before_state_hash": HASH,
        "after_state_hash": HASH,
    }
    return Step(**(fields | changed), run=nothing)


def undoing(**changed: Any) -> CompensationStep:
    fields: dict[str, Any] = {"id": "s", "sequence": 1, "idempotent": True, "applied": True}
    return CompensationStep(**(fields | changed), run=nothing)


def applying(**changed: Any) -> ApplyRequest:
    fields: dict[str, Any] = {"run_id": "r", "node_id": "n", "operation_id": "o", "attempt_id": "a"}
    return ApplyRequest(**(fields | {"event_type": "e"} | changed), steps=[])


def compensating(**changed: Any) -> CompensationRequest:
    fields: dict[str, Any] = {"run_id": "r", "node_id": "n", "operation_id": "o", "attempt_id": "a"}
    fields |= {"idempotency_key": "k", "before_state_hash": HASH, "after_state_hash": HASH}
    return CompensationRequest(**(fields | changed), steps=[])


def requesting(**changed: Any) -> Request:
    fields: dict[str, Any] = {"attempt_id": "a", "operation_id": "op", "run_id": "run", "node_id": "node"}
    fields |= {"event_type": "e", "phase": "apply", "idempotency_key": "k"}
    return adding("k", **(fields | changed))


MAKERS: list[tuple[Callable[..., Any], str]] = [
    (step, "id receipt_id sequence idempotent before_state_hash after_state_hash"),
    (undoing, "id sequence idempotent applied"),
    (applying, "run_id node_id operation_id attempt_id event_type"),
    (
        compensating,
        "run_id node_id operation_id attempt_id idempotency_key before_state_hash after_state_hash",
    ),
    (requesting, "run_id node_id operation_id attempt_id event_type phase idempotency_key"),
]


@pytest.mark.parametrize(("make", "names"), MAKERS, ids=lambda part: getattr(part, "__name__", ""))
def test_no_field_of_a_request_is_of_such_a_class(make: Callable[..., Any], names: str) -> None:
    for name in names.split():
        right = getattr(make(), name)
        for wrong in (claiming(right), Number(1), Text("x"), None if name != "attempt_id" else 1):
            with pytest.raises(ValueError, match=f"{name} must be"):
                make(**{name: wrong})


VALUES: list[Any] = [Text("x"), Number(1), Array(), Object(), Array([1]), Object(x=1)]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_no_row_intent_or_key_within_is_of_such_a_class(ledger: Ledger, directory: Path, value: Any) -> None:
    for held in (value, [value], {"x": value}, [{"y": [value]}]):
        with pytest.raises(ValueError, match="intent holds a"):
            adding("k", intent=held)
        with pytest.raises(ValueError, match="row 'x' holds a"):
            ledger.transact(adding("k", mutate=lambda _, held=held: {"x": held}))
    for state, told in (
        ({Text("x"): 1}, "a row's name"),
        ({"x": {Text("y"): 1}}, "a key that is no text"),
        (Object(x=1), "whole state as a dict"),
        (Array(), "whole state as a dict"),
    ):
        with pytest.raises(ValueError, match=told):
            ledger.transact(adding("k", mutate=lambda _, state=state: state))
    assert ledger_lines(directory) == []


def test_a_time_limit_of_such_a_class_opens_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="lock_timeout_s must be seconds"):
        open_ledger(tmp_path / "store", lock_timeout_s=Number(3))
    assert not (tmp_path / "store").exists()
