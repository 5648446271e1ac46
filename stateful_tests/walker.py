"""What the rules of the Hypothesis machine stand on: one example's store, steps, and helpers to aim with."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import define
from hypothesis.stateful import RuleBasedStateMachine

from model.actions import AdvanceClock, Call, Disturbance, Open, SetIdentity, SetLease
from model.values import Fact, Identity, Lease, Row
from stateful_tests import draws
from stateful_tests.lockstep import Lockstep
from stateful_tests.pair import DivergedError, Judge, StepRecord, Subject
from stateful_tests.system import COORDINATOR, Counts, system_named

HOUR = 3_600_000
"""In ms."""


@define
class Seen:
    """What a run of the machine leaves behind: its coverage, and the shortest failing story."""

    coverage: Counts
    steps: int = 0
    examples: int = 0
    failing: tuple[StepRecord, ...] = ()

    def keep(self, records: list[StepRecord]) -> None:
        if not self.failing or len(records) < len(self.failing):
            self.failing = tuple(records)


class Example(RuleBasedStateMachine):
    """One example of any system: a fresh store, and a walk through it.

    Subclasses have the rules and name their system; `machine` says where, and what to compare.
    """

    system_name: str
    root: Path
    seen: Seen
    judge: Judge | None
    target_class: Callable[[Path], Subject] | None

    def __init__(self) -> None:
        super().__init__()
        system = system_named(self.system_name)
        self.directory = Path(tempfile.mkdtemp(dir=self.root))
        self.target = (self.target_class or system.target)(self.directory / "store")
        self.pair: Any = system.pair(self.target, system.initial({}), self.judge)
        self.records: list[StepRecord] = []
        self.since_opening = 0
        self.seen.examples += 1

    def teardown(self) -> None:
        self.target.close()
        shutil.rmtree(self.directory)

    def act(self, *actions: Any) -> None:
        """Lets `actions` happen one by one; fails the example at the first difference."""
        for action in actions:
            before = self.pair.world
            record = self.pair.step(action)
            self.records.append(record)
            self.seen.coverage.see(before, record, self.pair.world)
            self.seen.steps += 1
            if record.divergence is not None:
                self.seen.keep(self.records)
                raise DivergedError(record)
        self.since_opening += 1


class Walker(Example):
    """One example of the coordinator, and helpers to aim with."""

    system_name = COORDINATOR
    pair: Lockstep

    def __init__(self) -> None:
        super().__init__()
        self.since_trouble = 0

    def call(
        self, who: str, operation: str, arguments: dict[str, Any], meanwhile: tuple[Disturbance, ...] = ()
    ) -> None:
        self.since_trouble += 1
        if self.since_trouble % 4:
            self.mend()
        hosts = [host.name for host in self.pair.world.hosts if host.is_open] or ["h1"]
        if who == "owner":
            who = self.owner(arguments.get("id"))
        self.act(Call(hosts[self.since_opening % len(hosts)], who, operation, arguments, meanwhile))

    def owner(self, name: object) -> str:
        """The context of whoever owns the row `name`; alice, if there is none."""
        rows = self.pair.world.store.rows if self.pair.world.store is not None else ()
        principals = {row.reservation_id: row.principal for row in rows}
        context = principals.get(str(name), "p-alice").removeprefix("p-")
        return context if context in draws.PEOPLE else "alice"

    def mend(self) -> None:
        """Puts right what would have every call refused; not before every fourth, so that is seen, too."""
        world = self.pair.world
        store, lease, people = world.store, world.lease, dict(world.people)
        latest = max([store.last_wall_time if store else 0, *(host.high_water for host in world.hosts)])
        if world.clock < latest:
            self.act(AdvanceClock(latest - world.clock))
        epoch = store.fencing_epoch if store is not None else 1
        live = isinstance(lease, Lease) and lease.expires_at > world.clock
        if not live or not any(host.is_open and host.epoch == epoch for host in world.hosts):
            self.act(self.lease("h1", epoch), Open("h1", "h1", epoch, 2))
        if not isinstance(people.get("alice"), Identity):
            self.act(SetIdentity("alice", {"principal": "p-alice", "ownerId": "o-alice", "operator": False}))

    def rows(self, *states: str) -> list[Row]:
        store = self.pair.world.store
        return [row for row in store.rows if row.state in states] if store is not None else []

    def running(self) -> list[Fact]:
        return [
            fact for fact in self.pair.world.facts if fact.kind == "admitted" and fact.status == "running"
        ]

    def lease(self, host: str, epoch: int, ms: int = HOUR) -> SetLease:
        return SetLease(
            {
                "holderId": host,
                "fencingEpoch": epoch,
                "endpoint": "unix:1",
                "expiresAt": self.pair.world.clock + ms,
            }
        )

    def row_id(self, pick: int, *states: str) -> str:
        """The id of a row in one of `states`, or, where there is none, of any that may exist."""
        rows = self.rows(*states)
        return rows[pick % len(rows)].reservation_id if rows else draws.RESERVATIONS[pick % 6]
