"""What one transaction has in hand, and the steps it is made of; `model.running` puts them in order.

The looks at the clock, all of which obey the same rule (never below `lastWallTime`, nor below what this
open store has seen): step 4; in each fence, after the lease was read; at the sweep's start; after each due
row's calls, skipped or not; in `commit` after `read_admission`; in `renew` of a reserved row; step 9;
before the rename; before a dispatch's activation. There are no others.

Not in the model: failing disks, and writers that die. A transaction here is refused or runs to its end.
"""

from collections.abc import Callable
from typing import Final

from attrs import evolve

from model import surroundings
from model.actions import Disturbance
from model.callbacks import Callbacks, ClockWentBackError, RefusalError
from model.validity import first_fault, is_successor
from model.values import (
    ADMITTED,
    HOLDING,
    JSON,
    AuditEntry,
    Business,
    Command,
    Host,
    Identity,
    Row,
    Snapshot,
    Store,
    World,
)

BOOTSTRAP: Final = "coordinator-bootstrap"
"""The principal of the audit entries of `initialize`."""

Value = Row | Snapshot | Command | JSON


class Transaction(Callbacks):
    """It lives for one call of `run` and is never part of a world."""

    __slots__ = (
        "action",
        "base",
        "commands",
        "epoch",
        "expires_at",
        "high_water",
        "host",
        "identity",
        "launch",
        "maximum",
        "now",
        "opening",
        "rows",
        "seen",
    )

    def __init__(
        self, world: World, host: Host, action: str, disturbances: tuple[Disturbance, ...], opening: bool
    ) -> None:
        super().__init__(world, disturbances)
        self.host = host
        self.action = action
        self.opening = opening
        self.high_water = host.high_water
        self.seen = host.seen
        self.launch: Callable[[], Value] | None = None
        self.now = 0
        self.expires_at = 0
        self.epoch = host.epoch
        self.base: Store | None = None
        self.rows: tuple[Row, ...] = ()
        self.commands: tuple[Command, ...] = ()
        self.maximum = 0
        self.identity: Identity | None = None

    def look(self) -> int:
        """The wall clock, in ms; raises `ClockWentBackError` if it went backwards."""
        now = self.world.clock
        base = self.base
        if now < self.high_water or (base is not None and now < base.last_wall_time):
            raise ClockWentBackError("AUTHORITY_REVOKED")
        self.high_water = now
        return now

    def fence(self) -> None:
        """Reads the lease, then looks at the clock, then judges: step 5."""
        lease = self.read_lease()
        now = self.look()
        if (
            lease is None
            or lease.holder_id != self.host.holder_id
            or lease.fencing_epoch != self.host.epoch
            or lease.expires_at <= now
        ):
            raise RefusalError("AUTHORITY_REVOKED")
        if self.base is not None and self.base.fencing_epoch > self.host.epoch:
            raise RefusalError("AUTHORITY_REVOKED")
        self.expires_at = lease.expires_at

    def find(self, reservation_id: str) -> Row | None:
        for row in self.rows:
            if row.reservation_id == reservation_id:
                return row
        return None

    def put(self, row: Row, new: Row) -> Row:
        """`new` in the place of `row`."""
        self.rows = tuple(new if each is row else each for each in self.rows)
        return new

    def held(self) -> int:
        return sum(row.state in HOLDING for row in self.rows)

    def binding_is_taken(self, row: Row) -> bool:
        """Whether another row holds an admitted run of the same binding."""
        return any(
            each.state in ADMITTED and each is not row and each.binding == row.binding for each in self.rows
        )

    def check_files(self) -> None:
        """Steps 1 and 9: the store is open, and its files are what they were."""
        self.files_were_checked = True
        if self.world.damage:
            raise RefusalError("DURABILITY_FAILED")
        self.check_open()

    def check_open(self) -> None:
        """The host has not been closed; while it opens it can't be."""
        if not self.opening:
            host = surroundings.host_named(self.world, self.host.name)
            if host is None or not host.is_open:
                raise RefusalError("DURABILITY_FAILED")

    def read_store(self, initial_maximum: int) -> None:
        """Step 3."""
        world = self.world
        store = world.store
        if store is None:
            if not self.opening or world.identity_file or self.seen is not None:
                raise RefusalError("DURABILITY_FAILED")
            self.maximum = initial_maximum
            return
        fault = first_fault(store)
        if fault is not None:
            raise RefusalError(fault)
        if not world.identity_file and not (
            self.opening and store.commit_seq == 1 and store.audit[0].action == "initialize"
        ):
            raise RefusalError("DURABILITY_FAILED")
        if self.seen is not None and not is_successor(store, self.seen):
            raise RefusalError("DURABILITY_FAILED")
        self.seen = store
        if world.earlier and store is not world.earlier[-1] and store != world.earlier[-1]:
            self._believed_old_state()
        self.base = store
        self.rows, self.commands, self.maximum = store.rows, store.commands, store.max_active_runs

    def _believed_old_state(self) -> None:
        world = self.world
        if "files-stay" not in world.dropped:
            self.world = evolve(world, broken=world.broken | {"files-stay"})

    def snapshot(self) -> Snapshot:
        """To be completed with the numbers as they are after publication."""
        return Snapshot(0, self.epoch, self.maximum, self.rows, self.commands)

    def next_commit(self) -> int:
        return self.base.commit_seq + 1 if self.base is not None else 1

    def publish(self, recorded_at: int) -> None:
        """Step 10, if the state changed or there is none yet."""
        base = self.base
        differs = (
            base is None
            or base.fencing_epoch != self.epoch
            or base.max_active_runs != self.maximum
            or base.rows != self.rows
            or base.commands != self.commands
        )
        if differs:
            business = Business(self.epoch, self.maximum, self.rows, self.commands)
            principal = self.identity.principal if self.identity is not None else BOOTSTRAP
            seq = self.next_commit()
            entry = AuditEntry(seq, self.epoch, recorded_at, self.action, principal, business)
            audit = (*base.audit, entry) if base is not None else (entry,)
            store = Store(self.epoch, seq, recorded_at, self.maximum, self.rows, self.commands, audit)
            fault = first_fault(store, base)
            if fault is not None:
                raise RefusalError(fault)
            self.arrive("rename")
            if self.look() >= self.expires_at:
                raise RefusalError("AUTHORITY_REVOKED")
            # Closed during the last reading of the lease: nothing is published any more.
            self.check_open()
            self.base = self.seen = store
            world = self.world
            self.world = evolve(
                world,
                store=store,
                identity_file=True,
                earlier=(*world.earlier, store),
                broken=world.broken | self.broken,
            )
        elif not self.world.identity_file:
            self.world = evolve(self.world, identity_file=True)

    def activate(self) -> Value:
        """Step 11."""
        assert self.launch is not None
        self.check_files()
        if self.look() >= self.expires_at:
            raise RefusalError("AUTHORITY_REVOKED")
        return self.launch()
