"""What came of an action on the ledger-gated store, as the target tells it.

`refusal` also looks whether an error says where it struck, as each must: one that doesn't, or that was struck
by a failing step and names no cause, is told as `Crashed`.
"""

import traceback
from pathlib import Path
from typing import Any

from attrs import frozen

from impl.gated import LedgerError
from model.gated.actions import ApplySteps, Compensate, Transact
from model.values import JSON

_CAUSED = ("LEDGER_APPEND_REQUIRED_FAILED", "SQLITE_MIRROR_FAILED", "SQLITE_COMMIT_AFTER_LEDGER_FAILED")


@frozen
class Answered:
    """The store did it and answered this, as JSON."""

    value: JSON

    def to_json(self) -> dict[str, JSON]:
        return {"accepted": self.value}


@frozen
class Refusal:
    """The store refused, or failed, with an error of its own."""

    code: str
    recoverability: str
    rollback_failed: bool = False

    def to_json(self) -> dict[str, JSON]:
        form: dict[str, JSON] = {"refused": self.code, "recoverability": self.recoverability}
        return {**form, "rollbackFailed": True} if self.rollback_failed else form


@frozen
class Passed:
    """Something that is no refusal of the store passed through: `mutation`, `step`, `value-error`."""

    kind: str
    rollback_failed: bool = False

    def to_json(self) -> dict[str, JSON]:
        form: dict[str, JSON] = {"raised": self.kind}
        return {**form, "rollbackFailed": True} if self.rollback_failed else form


@frozen
class Crashed:
    """The store broke its contract: what came out of it is nothing that may come out of it."""

    text: str

    def to_json(self) -> dict[str, JSON]:
        return {"crashed": self.text}


Result = Answered | Refusal | Passed | Crashed


def refusal(error: LedgerError, action: Any, *, struck: bool = False) -> Refusal | Crashed:
    """`error` as a result, if it says where it struck and, with `struck`, what by."""
    wrong = _misplaced(error, action)
    if wrong is None and struck and error.code in _CAUSED and error.cause is None:
        wrong = "a step of the store failed, and its error names no cause"
    if wrong is not None:
        return Crashed(f"{wrong}: {told(error)}")
    return Refusal(error.code, error.recoverability, error.rollback_error is not None)


def _misplaced(error: LedgerError, action: Any) -> str | None:
    """What is wrong with the place that `error` names."""
    if not isinstance(action, Transact | ApplySteps | Compensate):
        return None
    for name in ("run_id", "node_id", "operation_id", "attempt_id"):
        if getattr(error, name) != getattr(action, name):
            return f"{name} is {getattr(error, name)!r}"
    phases, types = _places(action)
    if error.phase not in phases:
        return f"phase is {error.phase!r}"
    if types and error.event_type not in types:
        return f"event_type is {error.event_type!r}"
    return None


def _places(action: Transact | ApplySteps | Compensate) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The phases and event types that an error of `action` may name; no types: any."""
    if isinstance(action, Transact):
        return (action.phase,), (action.event_type,)
    if isinstance(action, ApplySteps):
        return ("start", "receipt"), (action.event_type,)
    return ("compensate",), ()


def told(error: BaseException) -> str:
    """The exception and where it came from, without this machine's paths."""
    frames = traceback.extract_tb(error.__traceback__)
    place = " < ".join(f"{Path(frame.filename).name}:{frame.name}" for frame in reversed(frames[-3:]))
    return f"{type(error).__name__}: {error} ({place})"
