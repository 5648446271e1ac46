"""What came of an action on the ledger-gated store. A refusal is a value here, never an exception.

An operation whose result says `in_doubt` in so many words (`apply_steps` can) is `Accepted`: it answered.
"""

from typing import Final, Literal

from attrs import frozen

from model.values import JSON

Recoverability = Literal["retry", "rollback", "in_doubt", "operator"]

CODES: Final[frozenset[str]] = frozenset(
    {
        "LEDGER_APPEND_REQUIRED_FAILED",
        "LEDGER_INTEGRITY_FAILED",
        "SQLITE_MIRROR_FAILED",
        "SQLITE_COMMIT_AFTER_LEDGER_FAILED",
        "IDEMPOTENCY_CONFLICT",
        "VERIFY_GATE_FAILED",
        "COMPENSATION_FAILED",
    }
)
RECOVERABILITIES: Final[frozenset[str]] = frozenset({"retry", "rollback", "in_doubt", "operator"})


@frozen
class Accepted:
    """The store answered: `value` is the answer in the specification's terms (see `model.gated.forms`)."""

    value: JSON = None


@frozen
class Refused:
    """The store would not, or cannot say whether it did: a `LedgerError`.

    `rollback_failed` says that the rollback after it failed too, and is attached to this first error (L5).
    """

    code: str
    recoverability: Recoverability
    rollback_failed: bool = False


@frozen
class Raised:
    """Something that is no refusal of the store passed through.

    `mutation`: what `mutate` or the verifier raised; `step`: what a step raised; `value-error`: the
    request, or what `mutate` returned, is not of the right form.
    """

    kind: Literal["mutation", "step", "value-error"]
    rollback_failed: bool = False


@frozen
class Declined:
    """This cannot happen in this world, so the store is never asked."""

    reason: str


Outcome = Accepted | Refused | Raised | Declined
