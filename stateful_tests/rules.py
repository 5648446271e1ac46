"""The rules by which Hypothesis walks through model and store: the full action set.

Rules look at the model's world to draw what makes sense there, and spoil it now and then. No rule may
starve the others: opening, closing, damage and putting back have preconditions or come as short stories that
leave the store usable. What really ran is counted by `Coverage`, not assumed.
"""

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from model.actions import (
    DAMAGES,
    Abandon,
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
    SetIdentity,
)
from model.values import JSON
from stateful_tests import draws
from stateful_tests.walker import HOUR, Walker


class StoreMachine(Walker):
    """The rules. `machine.machine_class` says where the stores stand."""

    @initialize(maximum=st.integers(1, 3), arbitration=st.booleans())
    def first_opening(self, maximum: int, arbitration: bool) -> None:
        self.act(self.lease("h1", 1), Open("h1", "h1", 1, maximum, arbitration))

    @rule(
        n=draws.reservations,
        run=draws.runs,
        ttl=draws.ttls,
        who=draws.people,
        meanwhile=draws.disturbed("rename"),
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

    @precondition(lambda self: len(self.rows("committed", "orphan-suspect")) < 4)
    @rule(run=draws.runs, who=st.sampled_from(("alice", "alice", "bob")), late=st.booleans())
    def a_run_is_admitted(self, run: str, who: str, late: bool) -> None:
        """From reserve to commit, or so late that the sweep has to commit it: what depth is made of."""
        store = self.pair.world.store
        used = {row.reservation_id for row in store.rows} if store is not None else set()
        name = next((one for one in draws.MORE if one not in used), draws.MORE[0])
        ids: dict[str, JSON] = {"reservationId": name, "runId": run, "projectId": draws.PROJECT}
        self.call(who, "reserve", {**ids, "projectControlDomainId": draws.DOMAIN, "ttlMs": 1_000})
        self.act(Admit(name, draws.PROJECT, draws.DOMAIN, run))
        if late:
            self.act(AdvanceClock(1_000))
            self.call(who, "snapshot", {})
        self.call(who, "commit", {"id": name, "projectAdmitCommitSeq": self.pair.world.project_seq})

    @precondition(lambda self: self.rows("reserved"))
    @rule(
        pick=draws.picks,
        wrong=st.booleans(),
        meanwhile=draws.disturbed("read_admission"),
        attempt=st.none() | draws.runs,
    )
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
    @rule(pick=draws.picks, who=draws.owners, handle=st.sampled_from((None, "job", "other")))
    def commit_again(self, pick: int, who: str, handle: str | None) -> None:
        row = next(row for row in self.rows("committed", "orphan-suspect"))
        arguments: dict[str, JSON] = {
            "id": self.row_id(pick, "committed", "orphan-suspect"),
            "projectAdmitCommitSeq": row.project_admit_commit_seq,
            "providerJobHandle": handle,
        }
        self.call(who, "commit", arguments)

    @rule(pick=draws.picks, ttl=st.none() | draws.ttls, who=draws.owners, meanwhile=draws.disturbed())
    def renew(self, pick: int, ttl: int | None, who: str, meanwhile: tuple[Disturbance, ...]) -> None:
        states = ("committed", "orphan-suspect") if ttl is None else ("reserved",)
        self.call(who, "renew", {"id": self.row_id(pick, *states), "ttlMs": ttl}, meanwhile)

    @precondition(lambda self: self.rows("committed", "orphan-suspect"))
    @rule(pick=draws.picks, who=draws.owners)
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
    @rule(pick=draws.picks, who=draws.owners, meanwhile=draws.disturbed("read_release"))
    def normal_release(self, pick: int, who: str, meanwhile: tuple[Disturbance, ...]) -> None:
        found = self.row_id(pick, "committed", "orphan-suspect", "released")
        self.call(who, "normalRelease", {"id": found}, meanwhile)

    @rule(pick=draws.picks, command=draws.commands, who=draws.operators, meanwhile=draws.disturbed("rename"))
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

    @rule(
        n=draws.reservations,
        command=draws.commands,
        who=draws.owners,
        meanwhile=draws.disturbed("read_admission", "abandon_admission_if_absent"),
    )
    def read(self, n: str, command: str, who: str, meanwhile: tuple[Disturbance, ...]) -> None:
        self.call(who, "snapshot", {}, meanwhile)
        self.call(who, "readReservation", {"id": n})
        self.call("root", "readCommand", {"id": command})
        self.act(ReadEpoch())

    @precondition(lambda self: self.rows("committed"))
    @rule(pick=draws.picks, who=draws.owners, meanwhile=draws.disturbed("prepare", "activation"))
    def dispatch(self, pick: int, who: str, meanwhile: tuple[Disturbance, ...]) -> None:
        self.call(who, "dispatch", {"id": self.row_id(pick, "committed")}, meanwhile)

    @rule(operation=st.sampled_from(sorted(draws.OPERATIONS)), pick=draws.picks, wrong=draws.nonsense)
    def spoiled_arguments(self, operation: str, pick: int, wrong: JSON) -> None:
        arguments = dict(draws.OPERATIONS[operation])
        names = [*arguments, "more"]
        arguments[names[pick % len(names)]] = wrong
        self.call("root", operation, arguments)

    @rule(who=st.sampled_from(("alice", "bob")), operator=st.booleans(), known=st.booleans())
    def people_change(self, who: str, operator: bool, known: bool) -> None:
        """Someone becomes an operator, or nobody; the next call mends the latter."""
        identity: JSON = {"principal": f"p-{who}", "ownerId": f"o-{who}", "operator": operator}
        self.act(SetIdentity(who, identity if known or operator else None))

    @precondition(lambda self: self.rows("reserved"))
    @rule(pick=draws.picks)
    def a_project_abandons(self, pick: int) -> None:
        rows = self.rows("reserved")
        row = rows[pick % len(rows)]
        self.act(Abandon(row.reservation_id, *row.binding))

    @rule(ms=draws.amounts)
    def time_passes(self, ms: int) -> None:
        self.act(AdvanceClock(ms))
        if ms < 0:
            self.call("alice", "snapshot", {})
            self.act(AdvanceClock(-ms))

    @rule(host=draws.hosts, newer=st.sampled_from((0, 0, 1)), ms=st.sampled_from((HOUR, 1_000)))
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

    @precondition(lambda self: self.since_opening >= 3)
    @rule(who=draws.people)
    def a_temporary_file_is_left(self, who: str) -> None:
        self.act(LeaveTemp())
        self.call(who, "snapshot", {})
