"""The requests that facets are made of: transactions, steps and compensations, each as small as it can be.

Also what is wrong with some of them: requests that can't be made, and steps that nothing puts in order.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from attrs import evolve

from model.gated.actions import ApplySteps, Compensate, CompensationStep, Raising, Step, Transact
from model.gated.drawing import AFTER, BEFORE, OTHER
from model.gated.explorer.schemes import NOBODY
from model.values import JSON


def counting(key: str) -> Transact:
    """Adds one to the row `n`: done twice, it shows."""
    mutation: dict[str, JSON] = {"increment": "n"}
    return Transact(NOBODY, "op", "run", "node", "row.count", "apply", key, mutation, intent=key)


def putting(key: str) -> Transact:
    """Puts a row, removes another, and one that is not there."""
    mutation: dict[str, JSON] = {"set": {"ü": [key]}, "remove": ["absent", "n"]}
    return Transact(NOBODY, "op", "run", "node", "row.put", "commit", key, mutation, intent=key)


def gated(key: str, verifier: Any) -> Transact:
    """A transaction that has to pass its verifier, which says yes, no, or raises."""
    return evolve(counting(key), phase="verify", event_type="row.gate", verifier=verifier)


NONSENSE: Final[Mapping[str, Mapping[str, Any]]] = {
    "no key": {"idempotency_key": ""},
    "a float": {"intent": 0.5},
    "a receipt's phase": {"phase": "receipt"},
    "no verifier": {"phase": "verify"},
    "a verifier too many": {"verifier": True},
}
"""What makes a transaction that can't be asked for."""


def steps(
    *idempotent: bool, run: str = "run", raises: Raising | None = None, backwards: bool = False
) -> ApplySteps:
    """Steps s1, s2 … of which these are idempotent; the last may raise. `backwards`: given last first."""
    listed = [Step(f"s{n}", f"r{n}", n, each, BEFORE, AFTER) for n, each in enumerate(idempotent, 1)]
    if listed:
        listed[-1] = evolve(listed[-1], raises=raises)
    return ApplySteps(NOBODY, run, "node", "op", tuple(listed[::-1] if backwards else listed))


def undoing(*idempotent: bool, run: str = "run", raises: Raising | None = None) -> Compensate:
    """The compensation of s1, s2 …, of which the first alone was applied. That one may raise."""
    listed = [CompensationStep(f"s{n}", n, each, n == 1) for n, each in enumerate(idempotent, 1)]
    if listed:
        listed[0] = evolve(listed[0], raises=raises)
    return Compensate(NOBODY, run, "node", "op", "undo", AFTER, BEFORE, tuple(listed))


R = TypeVar("R", ApplySteps, Compensate)


def changed(action: R, at: int, **changes: Any) -> R:
    """The same, but for one of its steps."""
    listed: list[Any] = list(action.steps)
    listed[at] = evolve(listed[at], **changes)
    return evolve(action, steps=tuple(listed))


def with_equal_ids(action: R) -> R:
    return changed(action, 1, id=action.steps[0].id)


def with_equal_sequences(action: R) -> R:
    return changed(action, 1, sequence=action.steps[0].sequence)


DISORDER: Final[Mapping[str, Callable[[ApplySteps], ApplySteps]]] = {
    "equal ids": with_equal_ids,
    "equal sequences": with_equal_sequences,
    "equal receipts": lambda action: changed(action, 1, receipt_id="r1"),
    "a receipt like a start": lambda action: changed(action, 1, receipt_id="r1:started"),
    "no receipt id": lambda action: changed(action, 1, receipt_id=""),
}
"""What makes steps that nothing puts in order (L4), or that can't be asked for: the first is not
idempotent."""

OTHERWISE: Final[Mapping[str, Callable[[ApplySteps], ApplySteps]]] = {
    "the first now idempotent": lambda action: changed(action, 0, idempotent=True),
    "other content": lambda action: changed(action, 0, after_state_hash=OTHER),
    "other event type": lambda action: evolve(action, event_type="custom.receipt"),
    "other attempt": lambda action: evolve(action, attempt_id="second"),
    "one fewer": lambda action: evolve(action, steps=action.steps[1:]),
}
"""The same steps, asked for in another way."""
