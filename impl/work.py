"""What one transaction works on: the rows as they are to become, the clock, the lease and the callbacks.

Guarantees: changes stay in this object until `transaction` publishes them, so a refusal leaves nothing
behind. Every look at the clock obeys the one rule: never below `lastWallTime`, never below what this open
store has already seen (AUTHORITY_REVOKED).

Doesn't: know the order of steps, which is `transaction`'s, or what an operation may do.
"""

from collections.abc import Callable
from typing import Any

from attrs import evolve

from impl.arguments import Host, callback, is_count
from impl.authority import Caller, ask, caller_of, lease_of
from impl.codec import to_json
from impl.errors import AUTHORITY_REVOKED, CoordinatorError, refuse
from impl.loading import Base, Memory
from impl.values import ADMITTED, HOLDING, Command, Reservation, Row


class Work:
    """One transaction's working copy, and its ways to the world outside."""

    def __init__(self, base: Base, host: Host, memory: Memory) -> None:
        self.base = base
        self.host = host
        self.memory = memory
        self.epoch = host.epoch
        self.rows: dict[str, Row] = dict(base.state.reservations)
        self.commands: dict[str, Command] = dict(base.state.commands)
        self.max_active_runs = base.state.max_active_runs
        self.now = 0
        self.caller: Caller | None = None
        self.activation: Callable[[], object] | None = None
        self.clock_error: CoordinatorError | None = None
        self._taken: set[tuple[str, str, str]] | None = None

    @property
    def changed(self) -> bool:
        """Whether anything differs from what was read."""
        state = self.base.state
        return (
            self.epoch != state.fencing_epoch
            or self.max_active_runs != state.max_active_runs
            or self.rows != state.reservations
            or self.commands != state.commands
        )

    @property
    def commit_seq(self) -> int:
        """The number of the commit that this transaction will publish, if it does."""
        return self.base.state.commit_seq + 1

    def look(self) -> int:
        """Look at the clock. Raises AUTHORITY_REVOKED if it went backwards or shows no integer."""
        found = ask("clock", lambda: self.host.clock)
        floor = max(self.base.state.last_wall_time, self.memory.clock)
        if not is_count(found) or found < floor:
            self.clock_error = CoordinatorError(
                AUTHORITY_REVOKED,
                f"the wall clock shows {found if is_count(found) else 'no time'}, below {floor}, which the "
                "store has seen: it went backwards. No time to live can be judged; set the clock right",
            )
            raise self.clock_error
        self.memory.clock = found
        return found

    def fence(self) -> int:
        """Read the lease, then look at the clock. Returns until when the lease holds (milliseconds)."""
        answer = ask("read_lease", lambda: self.host.authority.read_lease)
        at = self.look()
        lease = lease_of(answer)
        if lease.holder_id != self.host.holder_id:
            refuse(AUTHORITY_REVOKED, "the lease names another holder than this host: it was taken over")
        if lease.fencing_epoch != self.host.epoch:
            refuse(
                AUTHORITY_REVOKED,
                f"the lease has epoch {lease.fencing_epoch}, this host has {self.host.epoch}; open anew",
            )
        if lease.expires_at <= at:
            refuse(AUTHORITY_REVOKED, f"the lease ended at {lease.expires_at}, it is {at}; renew it")
        return lease.expires_at

    def authorize(self, context: object, operation: str, reservation: Reservation | None) -> Caller:
        """Ask who the caller is."""
        answer = ask(
            "authorize",
            lambda: self.host.authority.authorize,
            context,
            operation,
            to_json(reservation),
        )
        return caller_of(answer, operation)

    def read_admission(self, reservation: Reservation) -> object:
        """Ask the project what became of the admission."""
        return ask("read_admission", lambda: self.host.authority.read_admission, to_json(reservation))

    @property
    def can_arbitrate(self) -> bool:
        """Whether the project offers durable arbitration."""
        return callable(callback(self.host.authority, "abandon_admission_if_absent"))

    def abandon_admission(self, reservation: Reservation) -> object:
        """Ask the project to record ADMIT or ABANDON, whichever came first."""
        arbitrate: Any = callback(self.host.authority, "abandon_admission_if_absent")
        return ask("abandon_admission_if_absent", lambda: arbitrate, to_json(reservation))

    def read_release(self, reservation: Reservation) -> object:
        """Ask for proof that nothing of the run is alive."""
        return ask("read_release", lambda: self.host.authority.read_release, to_json(reservation))

    def put(self, row: Row, reservation: Reservation | None = None, **changes: Any) -> Row:
        """Set a row, with its reservation and other fields changed. Returns it as it now stands."""
        changed = evolve(row, reservation=reservation or row.reservation, **changes)
        self.rows[changed.reservation.reservation_id] = changed
        if self._taken is not None and changed.reservation.state in ADMITTED:
            self._taken.add(changed.reservation.binding)
        return changed

    def held(self) -> int:
        """How many slots are held."""
        return sum(row.reservation.state in HOLDING for row in self.rows.values())

    def binding_is_taken(self, row: Row) -> bool:
        """Whether an admitted row holds a slot for the same run as this one, which is not admitted."""
        if self._taken is None:  # made once: a sweep asks for each of its rows
            reservations = (each.reservation for each in self.rows.values())
            self._taken = {each.binding for each in reservations if each.state in ADMITTED}
        return row.reservation.binding in self._taken
