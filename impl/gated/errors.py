"""What ledger-gated transactions raise: a closed set of codes, and what the caller should do after each.

Guarantees: every failure of the store reaches its caller as a `LedgerError`, with the run, node, operation,
attempt, event type and phase that it struck. `recoverability` says what next: "retry" (nothing was done),
"rollback" (all was undone; the same request may be sent again), "in_doubt" (the event may be durable: ask
again with the same key, or open the store anew), "operator" (a person must look). A rollback that failed on
the way is attached, never raised instead.

Doesn't: wrap what `mutate`, a verifier or a step raises: that passes through as it is. A malformed request is
a ValueError.
"""

from typing import Any, Final, Literal, Protocol, Self

from impl.errors import describe

LedgerCode = Literal[
    "LEDGER_APPEND_REQUIRED_FAILED",
    "LEDGER_INTEGRITY_FAILED",
    "SQLITE_MIRROR_FAILED",
    "SQLITE_COMMIT_AFTER_LEDGER_FAILED",
    "IDEMPOTENCY_CONFLICT",
    "VERIFY_GATE_FAILED",
    "COMPENSATION_FAILED",
]
Recoverability = Literal["retry", "rollback", "in_doubt", "operator"]

APPEND_FAILED: Final = "LEDGER_APPEND_REQUIRED_FAILED"
INTEGRITY_FAILED: Final = "LEDGER_INTEGRITY_FAILED"
MIRROR_FAILED: Final = "SQLITE_MIRROR_FAILED"
COMMIT_FAILED: Final = "SQLITE_COMMIT_AFTER_LEDGER_FAILED"
CONFLICT: Final = "IDEMPOTENCY_CONFLICT"
VERIFY_FAILED: Final = "VERIFY_GATE_FAILED"
COMPENSATION_FAILED: Final = "COMPENSATION_FAILED"

LEDGER_CODES: Final[tuple[LedgerCode, ...]] = (
    APPEND_FAILED,
    INTEGRITY_FAILED,
    MIRROR_FAILED,
    COMMIT_FAILED,
    CONFLICT,
    VERIFY_FAILED,
    COMPENSATION_FAILED,
)


class Context(Protocol):
    """Whatever says where an error struck."""

    @property
    def run_id(self) -> str: ...
    @property
    def node_id(self) -> str: ...
    @property
    def operation_id(self) -> str: ...
    @property
    def attempt_id(self) -> str | None: ...
    @property
    def event_type(self) -> str: ...
    @property
    def phase(self) -> str: ...


class LedgerError(Exception):
    """A refusal or a failure of a ledger-gated store.

    `run_id` and the like are None where no request is at work (opening). `cause` is what failed below;
    `rollback_error` what the rollback after it raised, if that failed as well.
    """

    def __init__(
        self,
        code: LedgerCode,
        message: str,
        recoverability: Recoverability,
        *,
        cause: BaseException | None = None,
    ) -> None:
        super().__init__(code, message, recoverability)
        self.code: LedgerCode = code
        self.message = message
        self.recoverability: Recoverability = recoverability
        self.cause = cause
        self.__cause__ = cause
        self.rollback_error: BaseException | None = None
        self.run_id: str | None = None
        self.node_id: str | None = None
        self.operation_id: str | None = None
        self.attempt_id: str | None = None
        self.event_type: str | None = None
        self.phase: str | None = None

    def at(self, where: Context) -> Self:
        """This error, told where it struck. What is known already stays."""
        if self.run_id is None:
            self.run_id = where.run_id
            self.node_id = where.node_id
            self.operation_id = where.operation_id
            self.attempt_id = where.attempt_id
            self.event_type = where.event_type
            self.phase = where.phase
        return self

    def __str__(self) -> str:
        return f"{self.code} ({self.recoverability}): {self.message}"

    def __reduce__(self) -> tuple[Any, ...]:
        # Causes need not be picklable: between processes their texts, which the message holds, must do.
        known = {
            name: getattr(self, name)
            for name in ("run_id", "node_id", "operation_id", "attempt_id", "event_type", "phase")
        }
        return (LedgerError, (self.code, self.message, self.recoverability), known)


class UncutError(Exception):
    """An append failed, and so did cutting it off: whether the record is in the ledger nobody knows."""


def attach_rollback(first: BaseException, failure: BaseException) -> None:
    """Keep what a rollback raised with the error that it came after (L5)."""
    first.add_note(f"the rollback failed as well: {describe(failure)}")
    if isinstance(first, LedgerError) and first.rollback_error is None:
        first.rollback_error = failure


def required(message: str, recoverability: Recoverability | None, failure: Exception) -> LedgerError:
    """The error for an event without which nothing may go on, after `failure` to write it.

    It is told with the recoverability of the failure itself, unless `recoverability` is given; and a rollback
    that failed as well stays attached (L5).
    """
    told = failure.recoverability if isinstance(failure, LedgerError) else "rollback"
    error = LedgerError(
        APPEND_FAILED, f"{message}: {describe(failure)}", recoverability or told, cause=failure
    )
    if isinstance(failure, LedgerError):
        error.rollback_error = failure.rollback_error
    return error


def broken(message: str, cause: BaseException | None = None) -> LedgerError:
    """The error for what must never be: a person has to look."""
    return LedgerError(INTEGRITY_FAILED, message, "operator", cause=cause)
