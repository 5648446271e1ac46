"""The store's one error: a closed set of codes, and what a caller may rely on after each.

Guarantees: every failure of the store reaches its caller as a `CoordinatorError`; `code` is one of
`CODES`; `side_effects` is "none" when nothing of the store's state has changed, "unknown" when an I/O
step or a callback failed half-way: then the old state is readable or, once the rename happened, the new
one. `recovery_action` is always "operator": a machine should not retry blindly.

Doesn't: `KeyboardInterrupt`, `SystemExit` and the like pass through untouched.
"""

from typing import Final, Literal, NoReturn

Code = Literal[
    "CAPACITY_EXCEEDED",
    "ADMISSION_BINDING_CONFLICT",
    "AUTHORITY_REVOKED",
    "POLICY_DENIED",
    "COMMAND_FAILED",
    "DURABILITY_FAILED",
    "RECONCILE_REQUIRED",
    "IDEMPOTENCY_CONFLICT",
    "CROSS_PRINCIPAL_COMMAND",
]
SideEffects = Literal["none", "unknown"]

CAPACITY_EXCEEDED: Final = "CAPACITY_EXCEEDED"
ADMISSION_BINDING_CONFLICT: Final = "ADMISSION_BINDING_CONFLICT"
AUTHORITY_REVOKED: Final = "AUTHORITY_REVOKED"
POLICY_DENIED: Final = "POLICY_DENIED"
COMMAND_FAILED: Final = "COMMAND_FAILED"
DURABILITY_FAILED: Final = "DURABILITY_FAILED"
RECONCILE_REQUIRED: Final = "RECONCILE_REQUIRED"
IDEMPOTENCY_CONFLICT: Final = "IDEMPOTENCY_CONFLICT"
CROSS_PRINCIPAL_COMMAND: Final = "CROSS_PRINCIPAL_COMMAND"

CODES: Final[tuple[Code, ...]] = (
    CAPACITY_EXCEEDED,
    ADMISSION_BINDING_CONFLICT,
    AUTHORITY_REVOKED,
    POLICY_DENIED,
    COMMAND_FAILED,
    DURABILITY_FAILED,
    RECONCILE_REQUIRED,
    IDEMPOTENCY_CONFLICT,
    CROSS_PRINCIPAL_COMMAND,
)


class CoordinatorError(Exception):
    """A refusal or a failure of the store.

    `code` says which rule, `message` says what, where, the likely cause and what to do,
    `side_effects` says whether the store's state may have changed.
    """

    def __init__(self, code: Code, message: str, *, side_effects: SideEffects = "none") -> None:
        message = _printable(message)
        super().__init__(code, message, side_effects)
        self.code: Code = code
        self.message = message
        self.side_effects: SideEffects = side_effects
        self.recovery_action: Literal["operator"] = "operator"

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only arguments defeat the default; errors do travel between worker processes.
        return (_rebuild, (self.code, self.message, self.side_effects))


def _rebuild(code: Code, message: str, side_effects: SideEffects) -> CoordinatorError:
    return CoordinatorError(code, message, side_effects=side_effects)


def refuse(code: Code, message: str) -> NoReturn:
    """Raise a refusal: nothing of the store's state has changed."""
    raise CoordinatorError(code, message)


def _printable(text: str) -> str:
    """A text with its lone surrogates, which no encoding can hold, as numbers. Paths may have some."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def describe(error: BaseException) -> str:
    """What an exception says, even one that can't say it, as a text that can be printed."""
    name = type(error).__name__
    try:
        return _printable(f"{name}: {error}")
    except Exception:  # noqa: BLE001 -- a foreign exception whose text fails must not hide what happened
        return name


def io_failure(what: str, error: BaseException) -> CoordinatorError:
    """The error for a step that failed half-way: the old state is readable or, after the rename, the new."""
    return CoordinatorError(
        DURABILITY_FAILED,
        f"{what}: {describe(error)}. The state on disk is the one before this call or the one after it, "
        "whole; mend the cause, read the store, then decide whether to call again.",
        side_effects="unknown",
    )
