"""What came of an action. A refusal is a value here, never an exception."""

from typing import Literal

from attrs import frozen

from model.values import JSON, Command, Row, Snapshot

SideEffects = Literal["none", "unknown"]

CODES: frozenset[str] = frozenset(
    {
        "CAPACITY_EXCEEDED",
        "ADMISSION_BINDING_CONFLICT",
        "AUTHORITY_REVOKED",
        "POLICY_DENIED",
        "COMMAND_FAILED",
        "DURABILITY_FAILED",
        "RECONCILE_REQUIRED",
        "IDEMPOTENCY_CONFLICT",
        "CROSS_PRINCIPAL_COMMAND",
    }
)


@frozen
class Accepted:
    """The store did it. `value` is what the operation answers; `None` where it answers nothing.

    What an activation returns, which `dispatch` passes on, can be any JSON value.
    """

    value: Row | Snapshot | Command | JSON = None


@frozen
class Refused:
    """The store would not. `code` is one of `CODES`."""

    code: str
    side_effects: SideEffects = "none"


@frozen
class Declined:
    """The surroundings would not let this happen here, so the store is never asked."""

    reason: str


Outcome = Accepted | Refused | Declined
