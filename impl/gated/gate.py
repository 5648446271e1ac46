"""The gate that every event goes through: begin, look its key up, append, mirror, commit.

Guarantees: nothing is committed whose event was not first appended and then mirrored, in this order. Whatever
fails, what was begun is rolled back exactly once, and the first error is the one that is raised; a rollback
that fails is attached to it (L5). Keys are looked up before anything is computed (L1).

Doesn't: touch a file. `Deps` and `Handle` may be the store's or a test's; any `Exception` of theirs is taken
for that step failing.
"""

from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

from attrs import frozen

from impl.errors import describe
from impl.gated.errors import (
    APPEND_FAILED,
    COMMIT_FAILED,
    MIRROR_FAILED,
    Context,
    LedgerCode,
    LedgerError,
    Recoverability,
    UncutError,
    attach_rollback,
)
from impl.gated.lines import Draft
from impl.gated.values import LedgerRecord

_Result = TypeVar("_Result")


@frozen
class Known:
    """What stands in the ledger under a key."""

    record: LedgerRecord
    request_hash: str


class Handle(Protocol):
    """A transaction that has begun."""

    def find(self, scope: str, key: str) -> Known | None:
        """What stands under `key`, if anything does."""

    def snapshot(self) -> Mapping[str, str]:
        """The rows of the state as it stands, as canonical texts by name."""

    def append(self, draft: Draft) -> None:
        """Append the event to the ledger and sync it; if that fails, cut it off again, synced, and raise.

        Raises UncutError if it couldn't be cut off.
        """

    def mirror(self, draft: Draft) -> None:
        """Write the appended event and what it changed into the open SQLite transaction."""

    def commit(self) -> None:
        """Commit the SQLite transaction."""

    def rollback(self) -> None:
        """Undo what was mirrored."""


class Deps(Protocol):
    """Where transactions come from."""

    def begin(self) -> Handle:
        """Catch the mirror up, then begin."""


def pass_gate(
    deps: Deps,
    where: Context,
    key: tuple[str, str],
    answer: Callable[[Handle, Known], _Result],
    stage: Callable[[Handle], tuple[Draft, _Result]],
) -> _Result:
    """Answer from what is known under `key` (scope and key), or commit the event that `stage` drafts."""
    handle = _step(where, "BEGIN was not had", deps.begin, MIRROR_FAILED, "retry")
    try:
        known = _step(where, "looking the key up failed", lambda: handle.find(*key), MIRROR_FAILED, "retry")
        if known is None:
            draft, result = stage(handle)
            _commit(handle, where, draft)
            return result
        result = answer(handle, known)
    except BaseException as first:
        _roll_back_after(handle, first)
        raise
    # Known: there is nothing to commit. The answer holds, but a connection that can't even roll back doesn't.
    _step(where, "the rollback failed", handle.rollback, MIRROR_FAILED, "retry")
    return result


def _commit(handle: Handle, where: Context, draft: Draft) -> None:
    try:
        handle.append(draft)
    except LedgerError as error:
        raise error.at(where)  # noqa: B904 -- the very same error, told where it struck
    except UncutError as error:
        raise _failed(
            where, "the event may be in the ledger, and may not", error, APPEND_FAILED, "in_doubt"
        ) from error
    except Exception as error:
        raise _failed(
            where, "the event could not be appended, and is not there", error, APPEND_FAILED, "rollback"
        ) from error
    _step(
        where,
        "the event is in the ledger, but could not be mirrored",
        lambda: handle.mirror(draft),
        MIRROR_FAILED,
        "in_doubt",
    )
    _step(
        where,
        "the event is in the ledger, but the mirror's commit failed",
        handle.commit,
        COMMIT_FAILED,
        "in_doubt",
    )


def _roll_back_after(handle: Handle, first: BaseException) -> None:
    try:
        handle.rollback()
    except Exception as failure:  # noqa: BLE001 -- the first error is raised; this one goes with it
        attach_rollback(first, failure)


def _step(
    where: Context, what: str, run: Callable[[], _Result], code: LedgerCode, recoverability: Recoverability
) -> _Result:
    """Run one step of the store; what it raises becomes a LedgerError that says where."""
    try:
        return run()
    except LedgerError as error:
        raise error.at(where)  # noqa: B904 -- the very same error, told where it struck
    except Exception as error:
        raise _failed(where, what, error, code, recoverability) from error


def _failed(
    where: Context, what: str, error: Exception, code: LedgerCode, recoverability: Recoverability
) -> LedgerError:
    message = f"{what}: {describe(error)}"
    return LedgerError(code, message, recoverability, cause=error).at(where)
