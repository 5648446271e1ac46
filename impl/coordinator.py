"""The store's public face: open it, call its operations, close it.

Guarantees: an opened `Coordinator` is safe to use from several threads, which take turns; every call
re-reads the state under the mutex that all processes share; every answer is a frozen value, and durable
before it is given; every failure is a `CoordinatorError`, and a refused call leaves both files
byte-identical. Calling the store from inside its own callbacks is refused at once.

Doesn't: retry, cache capacity, or keep a lock between calls.
"""

import time
from collections.abc import Callable, Mapping
from os import PathLike
from types import TracebackType
from typing import Any, Self

from impl import disk
from impl.arguments import check_opening, parse
from impl.authority import Authority
from impl.directory import open_directory
from impl.errors import COMMAND_FAILED, CoordinatorError, refuse
from impl.operations import INITIALIZE, plan
from impl.transaction import Session
from impl.values import Command, Reservation, Row, Snapshot

__all__ = ["Coordinator", "open_coordinator", "wall_clock_ms"]


def wall_clock_ms() -> int:
    """The wall clock, in whole milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


class Coordinator:
    """An open store, seen from one host. Made by `open_coordinator`; usable in a `with`.

    Each operation takes the caller's opaque `context`, which the authority turns into an identity.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def directory(self) -> str:
        """The store's directory: its real, absolute path."""
        return self._session.directory.path

    @property
    def closed(self) -> bool:
        """Whether `close` was called. A closed store refuses every call."""
        return self._session.closed

    def close(self) -> None:
        """Refuse every later call, and the publication of one that is under way. Never waits."""
        self._session.closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def call(
        self,
        operation: str,
        arguments: Mapping[str, object],
        context: object,
        *,
        prepare: Callable[[Row], Callable[[], object]] | None = None,
    ) -> Any:
        """Run one operation under its wire name, with its arguments under their wire names.

        Unknown operations and unknown, missing or malformed arguments raise COMMAND_FAILED before
        anything else is looked at. `prepare` goes with `dispatch`, and only there.
        """
        return self._session.run(plan(parse(operation, arguments, prepare)), context)

    def reserve(
        self,
        context: object,
        *,
        project_id: str,
        project_control_domain_id: str,
        run_id: str,
        ttl_ms: int,
        reservation_id: str | None = None,
    ) -> Row:
        """Ask for one slot for `ttl_ms` milliseconds. Without an id the store makes one up.

        An id that its owner has reserved already for the same binding answers that row, unchanged.
        Raises CAPACITY_EXCEEDED, ADMISSION_BINDING_CONFLICT, AUTHORITY_REVOKED.
        """
        given = {
            "reservationId": reservation_id,
            "projectId": project_id,
            "projectControlDomainId": project_control_domain_id,
            "runId": run_id,
            "ttlMs": ttl_ms,
        }
        return _row(self.call("reserve", given, context))

    def commit(
        self,
        context: object,
        reservation_id: str,
        *,
        project_admit_commit_seq: int,
        attempt_id: str | None = None,
        provider_job_handle: str | None = None,
    ) -> Row:
        """Turn a reservation into a committed one, on the project's proof of admission.

        Raises ADMISSION_BINDING_CONFLICT where the proof, the time to live or the binding won't do.
        """
        given = {
            "id": reservation_id,
            "projectAdmitCommitSeq": project_admit_commit_seq,
            "attemptId": attempt_id,
            "providerJobHandle": provider_job_handle,
        }
        return _row(self.call("commit", given, context))

    def renew(self, context: object, reservation_id: str, *, ttl_ms: int | None = None) -> Row:
        """Give a reservation a new time to live of `ttl_ms` milliseconds, or note that a run still lives.

        Before admission `ttl_ms` is needed (COMMAND_FAILED); after it none is allowed.
        """
        return _row(self.call("renew", {"id": reservation_id, "ttlMs": ttl_ms}, context))

    def mark_orphan_suspect(self, context: object, reservation_id: str) -> Row:
        """Note that reconciling has given up on a committed run. It goes on holding its slot."""
        return _row(self.call("markOrphanSuspect", {"id": reservation_id}, context))

    def normal_release(self, context: object, reservation_id: str) -> Row:
        """Give the slot back, on proof that nothing of the run is alive. Raises RECONCILE_REQUIRED."""
        return _row(self.call("normalRelease", {"id": reservation_id}, context))

    def force_release(
        self,
        context: object,
        reservation_id: str,
        *,
        command_id: str,
        risk_acknowledgement: bool,
        reason: str,
    ) -> Row:
        """An operator gives a slot back without proof, at their own risk. Raises POLICY_DENIED."""
        given = {
            "id": reservation_id,
            "commandId": command_id,
            "riskAcknowledgement": risk_acknowledgement,
            "reason": reason,
        }
        return _row(self.call("forceRelease", given, context))

    def set_max_active_runs(self, context: object, *, command_id: str, max_active_runs: int) -> int:
        """An operator sets the number of slots; answers it. Raises CAPACITY_EXCEEDED below those held."""
        answer = self.call(
            "setMaxActiveRuns", {"commandId": command_id, "maxActiveRuns": max_active_runs}, context
        )
        assert isinstance(answer, int)
        return answer

    def read_reservation(self, context: object, reservation_id: str) -> Row | None:
        """The row of that id, or None. Another owner's: AUTHORITY_REVOKED."""
        answer = self.call("readReservation", {"id": reservation_id}, context)
        return None if answer is None else _row(answer)

    def read_command(self, context: object, command_id: str) -> Command | None:
        """The command of that id, or None. Another principal's: CROSS_PRINCIPAL_COMMAND."""
        answer = self.call("readCommand", {"id": command_id}, context)
        assert answer is None or isinstance(answer, Command)
        return answer

    def snapshot(self, context: object) -> Snapshot:
        """All rows, commands and counts, as after this call's own publication."""
        answer = self.call("snapshot", {}, context)
        assert isinstance(answer, Snapshot)
        return answer

    def dispatch(
        self, context: object, reservation_id: str, prepare: Callable[[Row], Callable[[], object]]
    ) -> Any:
        """Launch a committed run while no other process can release or re-fence it.

        `prepare(row)` returns a function without arguments, which is called last of all, under the mutex;
        what it returns is the answer. Neither may call the store.
        """
        return self.call("dispatch", {"id": reservation_id}, context, prepare=prepare)


def _row(answer: object) -> Row:
    assert isinstance(answer, Row)
    assert isinstance(answer.reservation, Reservation)
    return answer


def open_coordinator(
    directory: str | PathLike[str],
    *,
    initial_max_active_runs: int,
    epoch: int,
    holder_id: str,
    authority: Authority,
    clock: Callable[[], int] = wall_clock_ms,
    lock_timeout_s: float = 30.0,
) -> Coordinator:
    """Open the store in `directory` as a host, making directory and store if need be.

    `initial_max_active_runs` counts only when the store is made. `clock` answers milliseconds since the
    epoch. `lock_timeout_s` is how long a call waits for the mutex, in seconds.

    Raises COMMAND_FAILED for arguments of the wrong kind, AUTHORITY_REVOKED where this host may not act
    (by its lease or by a newer epoch), DURABILITY_FAILED for a directory or files that can't be trusted.
    """
    try:
        disk.install_from_environment()
    except ValueError as error:
        refuse(COMMAND_FAILED, str(error))
    host = check_opening(
        initial_max_active_runs=initial_max_active_runs,
        epoch=epoch,
        holder_id=holder_id,
        authority=authority,
        clock=clock,
        lock_timeout_s=lock_timeout_s,
    )
    store = Coordinator(Session(open_directory(directory), host))
    try:
        store._session.run(INITIALIZE, None)
    except CoordinatorError:
        store.close()
        raise
    return store
