"""The rules by which Hypothesis walks through model and store: the full action set.

Rules look at the model's world to draw what makes sense there, and spoil it now and then. No rule may
starve the others: opening, closing, damage and putting back have preconditions or come as short stories that
leave the store usable. What really ran is counted by `Coverage`, not assumed.
"""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import define, field
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from model.actions import (
    DAMAGES,
    Action,
    Admit,
    AdvanceClock,
    Call,
    Close,
    Damage,
    Disturbance,
    Finish,
    LeaveTemp,
    Mend,
    Open,
    Park,
    PutBack,
    Quiesce,
    ReadEpoch,
    SetLease,
)
from model.values import JSON, Fact, Row
from stateful_tests import draws
from stateful_tests.coverage import Coverage
from stateful_tests.lockstep import DivergedError, Judge, Lockstep, StepRecord
from stateful_tests.target import StoreTarget

_HOUR = 3_600_000


@define
class Seen:
    """What a run of the machine leaves behind: its coverage, and the shortest failing story."""

    coverage: Coverage = field(factory=Coverage)
    steps: int = 0
    examples: int = 0
    failing: tuple[StepRecord, ...] = ()

    def keep(self, records: list[StepRecord]) -> None:
        if not self.failing or len(records) < len(self.failing):
            self.failing = tuple(records)


class StoreMachine(RuleBasedStateMachine):
    """One example: a fresh store, and a walk through it. Subclasses made by `machine_class` say where."""

    root: Path
    seen: Seen
    judge: Judge | None
    target_class: Callable[[Path], StoreTarget]

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp(dir=self.root))
        self.target = self.target_class(self.directory / "store")
        self.pair = Lockstep(self.target, judge=self.judge)
        self.records: list[StepRecord] = []
        self.since_opening = 0
        self.seen.examples += 1

    def teardown(self) -> None:
        self.target.close()
        shutil.rmtree(self.directory)

    def act(self, *actions: Action) -> None:
        """Lets `actions` happen one by one; fails the example at the first difference."""
        for action in actions:
            before = self.pair.world
            record = self.pair.step(action)
            self.records.append(record)
            self.seen.coverage.see(before, record)
            self.seen.steps += 1
            if record.divergence is not None:
                self.seen.keep(self.records)
                raise DivergedError(record)
        self.since_opening += 1

    def call(
        self, who: str, operation: str, arguments: dict[str, Any], meanwhile: tuple[Disturbance, ...] = ()
    ) -> None:
        hosts = [host.name for host in self.pair.world.hosts if host.is_open] or ["h1"]
        self.act(Call(hosts[self.since_opening % len(hosts)], who, operation, arguments, meanwhile))

    def rows(self, *states: str) -> list[Row]:
        store = self.pair.world.store
        return [row for row in store.rows if row.state in states] if store is not None else []

    def running(self) -> list[Fact]:
        return [
            fact for fact in self.pair.world.facts if fact.kind == "admitted" and fact.status == "running"
        ]

    def lease(self, host: str, epoch: int, ms: int = _HOUR) -> SetLease:
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

    @initialize(maximum=st.integers(1, 3), arbitration=st.booleans())
    def first_opening(self, maximum: int, arbitration: bool) -> None:
        self.act(self.lease("h1", 1), Open("h1", "h1", 1, maximum, arbitration))

    @rule(
        n=draws.reservations,
        run=draws.runs,
        ttl=draws.ttls,
        who=draws.people,
        meanwhile=draws.disturbances,
    )
    def reserve(self, n: str, run: str, ttl: int, who: str, meanwhile: tuple[Disturbance, ...]) -> None:
        arguments = {
            "reservationId": n,
            "projectId": draws.PROJECT,
            "projectControlDomainId": draws.DOMAIN,
            "runId": run,
            "ttlMs": ttl,
        }
        self.call(who, "reserve", arguments, meanwhile)

    @precondition(lambda self: self.rows("reserved"))
    @rule(pick=draws.picks, wrong=st.booleans(), meanwhile=draws.disturbances, attempt=st.none() | draws.runs)
    def admit_and_commit(
        self, pick: int, wrong: bool, meanwhile: tuple[Disturbance, ...], attempt: str | None
    ) -> None:
        rows = self.rows("reserved")
        row = rows[pick % len(rows)]
        self.act(Admit(row.reservation_id, *row.binding))
        sequence = next(
            (fact.commit_seq for fact in self.pair.world.facts if fact.reservation_id == row.reservation_id),
            1,
        )
        arguments: dict[str, JSON] = {
            "id": row.reservation_id,
            "projectAdmitCommitSeq": sequence + wrong,
            "attemptId": attempt,
        }
        self.call("bob" if row.principal == "p-bob" else "alice", "commit", arguments, meanwhile)

    @precondition(lambda self: self.rows("committed", "orphan-suspect"))
    @rule(pick=draws.picks, who=draws.people, handle=st.sampled_from((None, "job", "other")))
    def commit_again(self, pick: int, who: str, handle: str | None) -> None:
        row = next(row for row in self.rows("committed", "orphan-suspect"))
        arguments: dict[str, JSON] = {
            "id": self.row_id(pick, "committed", "orphan-suspect"),
            "projectAdmitCommitSeq": row.project_admit_commit_seq,
            "providerJobHandle": handle,
        }
        self.call(who, "commit", arguments)

    @rule(pick=draws.picks, ttl=st.none() | draws.ttls, who=draws.people, meanwhile=draws.disturbances)
    def renew(self, pick: int, ttl: int | None, who: str, meanwhile: tuple[Disturbance, ...]) -> None:
        states = ("committed", "orphan-suspect") if ttl is None else ("reserved",)
        self.call(who, "renew", {"id": self.row_id(pick, *states), "ttlMs": ttl}, meanwhile)

    @precondition(lambda self: self.rows("committed", "orphan-suspect"))
    @rule(pick=draws.picks, who=draws.people)
    def mark_orphan_suspect(self, pick: int, who: str) -> None:
        self.call(who, "markOrphanSuspect", {"id": self.row_id(pick, "committed", "orphan-suspect")})

    @precondition(lambda self: self.running())
    @rule(pick=draws.picks, parked=st.booleans(), quiet=st.booleans())
    def run_stops(self, pick: int, parked: bool, quiet: bool) -> None:
        facts = self.running()
        stopped = facts[pick % len(facts)].reservation_id
        self.act(Park(stopped) if parked else Finish(stopped, "completed"))
        if quiet:
            self.act(Quiesce(stopped))

    @precondition(lambda self: self.rows("committed", "orphan-suspect", "released"))
    @rule(pick=draws.picks, who=draws.people, meanwhile=draws.disturbances)
    def normal_release(self, pick: int, who: str, meanwhile: tuple[Disturbance, ...]) -> None:
        found = self.row_id(pick, "committed", "orphan-suspect", "released")
        self.call(who, "normalRelease", {"id": found}, meanwhile)

    @rule(pick=draws.picks, command=draws.commands, who=draws.operators, meanwhile=draws.disturbances)
    def force_release(self, pick: int, command: str, who: str, meanwhile: tuple[Disturbance, ...]) -> None:
        arguments: dict[str, JSON] = {
            "id": self.row_id(pick, "committed", "orphan-suspect", "reserved"),
            "commandId": command,
            "riskAcknowledgement": True,
            "reason": "it hangs",
        }
        self.call(who, "forceRelease", arguments, meanwhile)

    @rule(maximum=st.integers(1, 4), command=draws.commands, who=draws.operators)
    def set_maximum(self, maximum: int, command: str, who: str) -> None:
        self.call(who, "setMaxActiveRuns", {"commandId": command, "maxActiveRuns": maximum})

    @rule(n=draws.reservations, command=draws.commands, who=draws.people, meanwhile=draws.disturbances)
    def read(self, n: str, command: str, who: str, meanwhile: tuple[Disturbance, ...]) -> None:
        self.call(who, "snapshot", {}, meanwhile)
        self.call(who, "readReservation", {"id": n})
        self.call("root", "readCommand", {"id": command})
        self.act(ReadEpoch())

    @precondition(lambda self: self.rows("committed"))
    @rule(pick=draws.picks, who=draws.people, meanwhile=draws.disturbances)
    def dispatch(self, pick: int, who: str, meanwhile: tuple[Disturbance, ...]) -> None:
        self.call(who, "dispatch", {"id": self.row_id(pick, "committed")}, meanwhile)

    @rule(operation=st.sampled_from(sorted(draws.OPERATIONS)), pick=draws.picks, wrong=draws.nonsense)
    def spoiled_arguments(self, operation: str, pick: int, wrong: JSON) -> None:
        arguments = dict(draws.OPERATIONS[operation])
        names = [*arguments, "more"]
        arguments[names[pick % len(names)]] = wrong
        self.call("root", operation, arguments)

    @rule(ms=draws.amounts)
    def time_passes(self, ms: int) -> None:
        self.act(AdvanceClock(ms))
        if ms < 0:
            self.call("alice", "snapshot", {})
            self.act(AdvanceClock(-ms))

    @rule(host=draws.hosts, newer=st.sampled_from((0, 0, 1)), ms=st.sampled_from((_HOUR, 1_000)))
    def lease_is_renewed(self, host: str, newer: int, ms: int) -> None:
        """Whoever holds the lease goes on; now and then another takes over, or its epoch is a newer one."""
        store = self.pair.world.store
        self.act(self.lease(host if newer else "h1", (store.fencing_epoch if store else 1) + newer, ms))

    @precondition(lambda self: self.since_opening >= 5)
    @rule(host=draws.hosts, newer=st.booleans(), arbitration=st.booleans(), maximum=st.integers(0, 3))
    def reopen(self, host: str, newer: bool, arbitration: bool, maximum: int) -> None:
        store = self.pair.world.store
        epoch = (store.fencing_epoch if store else 1) + newer
        self.act(self.lease("h1", epoch), Open(host, "h1", epoch, maximum, arbitration))
        self.since_opening = 0

    @precondition(lambda self: self.since_opening >= 5)
    @rule(host=draws.hosts)
    def close(self, host: str) -> None:
        self.act(Close(host))
        self.act(Call(host, "alice", "snapshot"))

    @precondition(lambda self: self.since_opening >= 3)
    @rule(kind=st.sampled_from(DAMAGES), host=draws.hosts)
    def files_are_damaged(self, kind: str, host: str) -> None:
        self.act(Damage(kind))
        self.call("alice", "snapshot", {})
        self.act(ReadEpoch(), Open(host, "h1", 1, 1), Mend(kind))

    @precondition(lambda self: len(self.pair.world.earlier) > 1)
    @rule(pick=draws.picks, stays=st.booleans())
    def an_older_state_is_put_back(self, pick: int, stays: bool) -> None:
        last = len(self.pair.world.earlier) - 1
        self.act(PutBack(pick % (last + 1)))
        self.call("alice", "snapshot", {})
        if not stays:
            self.act(PutBack(last))

    @rule()
    def a_temporary_file_is_left(self) -> None:
        self.act(LeaveTemp())
