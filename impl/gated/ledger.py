"""The public face: open a store, let things happen in it once, close it.

Guarantees: an opened `Ledger` is recovered: its mirror is the fold of its whole ledger. It may be used from
several threads, which take turns, and several processes may have the same directory open. Failures are
`LedgerError`s; ValueErrors are for what could never have been done.

Doesn't: retry, or run anything in the background.
"""

import json
from collections.abc import Callable
from os import PathLike
from types import TracebackType
from typing import Self

from impl import disk
from impl.gated.compensation import compensation_place, run_gated_compensation
from impl.gated.errors import Context, LedgerError
from impl.gated.place import open_place
from impl.gated.steps import apply_receipted_steps, steps_place
from impl.gated.store import Store
from impl.gated.transaction import run_ledger_gated_transaction
from impl.gated.values import (
    ApplyRequest,
    ApplyResult,
    CompensationRequest,
    CompensationResult,
    RecoveryReport,
    Request,
    State,
    TransactionResult,
)


class Ledger:
    """An open ledger-gated store. Made by `open_ledger`; usable in a `with`."""

    def __init__(self, store: Store, recovery: RecoveryReport) -> None:
        self._store = store
        self._recovery = recovery

    @property
    def directory(self) -> str:
        """The store's directory: its real, absolute path."""
        return self._store.place.path

    @property
    def recovery(self) -> RecoveryReport:
        """What opening had to do."""
        return self._recovery

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._store.closed

    @property
    def head(self) -> tuple[int, str]:
        """The last event's sequence and hash, as they stand now: (0, 64 zeros) if there is none.

        `f"{sequence}:{hash}"` kept elsewhere is the anchor that an audit takes.
        """
        end = self._store.during(lambda access: access.ready())
        return end.sequence, end.hash

    def state(self) -> State:
        """The state as it stands now. Changing what is returned changes nothing."""
        rows = self._store.during(lambda access: access.look(access.rows))
        return {name: json.loads(text) for name, text in rows.items()}

    def transact(self, request: Request) -> TransactionResult:
        """Let a mutation happen, once under its key. Raises LedgerError, and what `mutate` raises."""
        try:
            return self._store.during(lambda access: run_ledger_gated_transaction(access, request))
        except LedgerError as error:
            raise error.at(request)  # noqa: B904 -- the very same error, told where it struck

    def apply_steps(self, request: ApplyRequest) -> ApplyResult:
        """Run steps, once each. Raises LedgerError, and what a step raises."""
        self._refuse_if_unusable(steps_place(request))
        return apply_receipted_steps(self._store, request)

    def compensate(self, request: CompensationRequest) -> CompensationResult:
        """Undo steps. Raises LedgerError."""
        self._refuse_if_unusable(compensation_place(request))
        return run_gated_compensation(self._store, request)

    def _refuse_if_unusable(self, where: Context) -> None:
        try:
            self._store.refuse_if_unusable()
        except LedgerError as error:
            raise error.at(where)  # noqa: B904 -- the very same error, told where it struck

    def close(self) -> None:
        """Refuse every later call, and let go of the files."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_ledger(
    directory: str | PathLike[str],
    *,
    lock_timeout_s: float = 30.0,
    progress: Callable[[int, int], None] | None = None,
) -> Ledger:
    """Open the store in `directory`, making it if need be, and recover it.

    `lock_timeout_s` is how long a call waits for other processes, in seconds. `progress` is told how many
    bytes of the ledger, of how many, were verified.

    Raises LedgerError; ValueError for arguments of the wrong kind.
    """
    disk.install_from_environment()
    if (
        not (type(lock_timeout_s) is int or type(lock_timeout_s) is float)
        or not 0 <= lock_timeout_s <= 86_400
    ):
        raise ValueError("lock_timeout_s must be seconds, from 0 up to a day")
    store = Store(open_place(directory), lock_timeout_s)
    return Ledger(store, store.open(progress))
