"""The surroundings that a store under test lives in: authority, wall clock, project ledgers, who is who.

Mutable, and told a second time, from the specification: it shares no code with the model's surroundings, so
that a slip in either shows as a difference. It does what it is told; what the surroundings may or may not do
is the model's business. Disturbances strike by their arrival within one transaction, which `begin` starts.

It knows no store and no file: what happens there (`PutBack`, `Damage`, `Close` …) is handed on to whoever
owns them.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from attrs import define, field

from model.actions import (
    Abandon,
    Admit,
    AdvanceClock,
    Answers,
    Disturbance,
    Event,
    Finish,
    Forget,
    Happens,
    Park,
    Quiesce,
    Raises,
    Reenters,
    Resume,
    SetIdentity,
    SetLease,
)
from model.values import JSON

START = 1_790_000_000_000
"""The wall clock's first reading, in milliseconds since the epoch."""


@define
class Ledger:
    """What one project durably says of one reservation."""

    reservation_id: str
    project_id: str
    project_control_domain_id: str
    run_id: str
    kind: str
    commit_seq: int
    run_version: int
    status: str = "running"
    stage: str = "running"
    requires_readmission: bool = False
    quiescent: bool = False

    def names(self) -> dict[str, Any]:
        return {
            "reservationId": self.reservation_id,
            "projectId": self.project_id,
            "projectControlDomainId": self.project_control_domain_id,
            "runId": self.run_id,
        }

    def to_json(self) -> dict[str, JSON]:
        """In the terms in which `stateful_tests.compare` renders the model's facts."""
        seen = self.names() | {
            "kind": self.kind,
            "commitSeq": self.commit_seq,
            "runVersion": self.run_version,
        }
        if self.kind == "admitted":
            seen |= {
                "status": self.status,
                "stage": self.stage,
                "requiresReadmission": self.requires_readmission,
                "quiescent": self.quiescent,
            }
        return seen


@define
class Surroundings:
    """Everything around the store that can change, and the truth that its callbacks answer.

    `refusal` makes a coordinator error of a given code, `elsewhere` gets the events that are none of ours,
    and `reenter` calls the store of the named host from inside its own callback. `revision` counts changes to
    the ledgers (and more), `struck` lists what struck in this transaction: `moment/read_lease/raises`,
    `meanwhile/advanceClock` …
    """

    refusal: Callable[[str], Exception]
    elsewhere: Callable[[Any], None]
    reenter: Callable[[str, str], JSON]
    clock: int = START
    lease: JSON = None
    people: dict[str, JSON] = field(factory=lambda: {name: dict(who) for name, who in PEOPLE.items()})
    ledgers: dict[str, Ledger] = field(factory=dict)
    project_seq: int = 0
    launched: list[str] = field(factory=list)
    revision: int = 0
    struck: list[str] = field(factory=list)
    shown: list[tuple[str, JSON]] = field(factory=list)
    """What `authorize` was shown in this transaction."""
    _disturbances: tuple[Disturbance, ...] = ()
    _arrivals: Counter[str] = field(factory=Counter)

    def begin(self, disturbances: tuple[Disturbance, ...]) -> None:
        """A transaction starts: arrivals count from 1 again, and nothing has struck yet."""
        self._disturbances = disturbances
        if disturbances:
            self._arrivals.clear()
        if self.struck:
            self.struck.clear()
        if self.shown:
            self.shown.clear()

    def read_clock(self) -> int:
        return self.clock

    def happen(self, event: Event) -> None:
        self.revision += 1
        match event:
            case AdvanceClock(ms):
                self.clock += ms
            case SetLease(lease):
                self.lease = lease
            case SetIdentity(context, identity):
                self.people[context] = identity
            case Admit() | Abandon():
                self._record(event)
            case Finish(reservation_id, status):
                self._move(reservation_id, status=status, stage="terminal")
            case Park(reservation_id):
                self._move(reservation_id, status="paused", stage="parked", requires_readmission=True)
            case Quiesce(reservation_id):
                self.ledgers[reservation_id].quiescent = True
            case Resume(reservation_id):
                self._move(reservation_id, status="running", stage="running", requires_readmission=False)
                self.ledgers[reservation_id].quiescent = False
            case Forget(reservation_id):
                del self.ledgers[reservation_id]
            case _:
                self.elsewhere(event)

    def _record(self, event: Admit | Abandon) -> None:
        self.project_seq += 1
        self.revision += 1
        admitted = isinstance(event, Admit)
        self.ledgers[event.reservation_id] = Ledger(
            event.reservation_id,
            event.project_id,
            event.project_control_domain_id,
            event.run_id,
            kind="admitted" if admitted else "abandoned",
            commit_seq=self.project_seq,
            run_version=1 if admitted else 0,
        )

    def _move(self, reservation_id: str, **changes: Any) -> None:
        ledger = self.ledgers[reservation_id]
        for name, value in changes.items():
            setattr(ledger, name, value)
        ledger.run_version += 1

    def arrive(self, moment: str, host: str, context: str = "") -> Answers | None:
        """One arrival at `moment`: what strikes there strikes. Raises what is to be raised."""
        if not self._disturbances:
            return None
        self._arrivals[moment] += 1
        last: Raises | Answers | Reenters | None = None
        for disturbance in self._disturbances:
            if disturbance.moment != moment or disturbance.nth != self._arrivals[moment]:
                continue
            self.struck.append(f"moment/{moment}/{type(disturbance.effect).__name__.lower()}")
            if isinstance(disturbance.effect, Happens):
                name = type(disturbance.effect.event).__name__
                self.struck.append(f"meanwhile/{name[0].lower()}{name[1:]}")
                self.happen(disturbance.effect.event)
            elif last is None:
                last = disturbance.effect
        if isinstance(last, Raises):
            raise RuntimeError("the callback failed") if last.code is None else self.refusal(last.code)
        if isinstance(last, Reenters):
            return Answers(self.reenter(host, context))
        return last

    def admission(self, reservation: Mapping[str, Any]) -> dict[str, JSON]:
        """What `read_admission` truly answers for `reservation`."""
        ledger = self.ledgers.get(reservation["reservationId"])
        if ledger is None:
            asked = ("reservationId", "projectId", "projectControlDomainId", "runId")
            absence = {name: reservation[name] for name in asked}
            return {"status": "not-admitted", **absence, "runVersion": 0}
        if ledger.kind == "admitted":
            return ledger.names() | {
                "projectAdmitCommitSeq": ledger.commit_seq,
                "runVersion": ledger.run_version,
            }
        return ledger.names() | {
            "status": "abandoned",
            "abandonmentCommitSeq": ledger.commit_seq,
            "runVersion": ledger.run_version,
        }

    def arbitrate(self, reservation: Mapping[str, Any]) -> dict[str, JSON]:
        """What `abandon_admission_if_absent` does: ADMIT or ABANDON, whichever came first, durably."""
        if reservation["reservationId"] not in self.ledgers:
            self._record(
                Abandon(
                    reservation["reservationId"],
                    reservation["projectId"],
                    reservation["projectControlDomainId"],
                    reservation["runId"],
                )
            )
        return self.admission(reservation)

    def release(self, reservation: Mapping[str, Any]) -> dict[str, JSON] | None:
        """What `read_release` truly answers for `reservation`."""
        ledger = self.ledgers.get(reservation["reservationId"])
        if ledger is None or ledger.kind != "admitted":
            return None
        return ledger.names() | {
            "projectAdmitCommitSeq": ledger.commit_seq,
            "runVersion": ledger.run_version,
            "proofId": f"proof-{ledger.commit_seq}-{ledger.run_version}",
            "status": ledger.status,
            "stage": ledger.stage,
            "requiresReadmission": ledger.requires_readmission,
            "providerNoLiveProcessTree": ledger.quiescent,
            "noAmbiguousJobs": ledger.quiescent,
            "reconcileTimeoutOnly": False,
        }


class HostAuthority:
    """The trusted callbacks of one host whose project has no arbitration of its own."""

    def __init__(self, surroundings: Surroundings, host: str) -> None:
        self._around = surroundings
        self._host = host

    def read_lease(self) -> JSON:
        said = self._around.arrive("read_lease", self._host)
        return copied(said.value if said else self._around.lease)

    def authorize(self, context: str, operation: str, reservation: dict[str, JSON] | None) -> JSON:
        self._around.shown.append((operation, reservation))
        said = self._around.arrive("authorize", self._host, context)
        return copied(said.value if said else self._around.people.get(context))

    def read_admission(self, reservation: Mapping[str, Any]) -> JSON:
        said = self._around.arrive("read_admission", self._host)
        return copied(said.value) if said else self._around.admission(reservation)

    def read_release(self, reservation: Mapping[str, Any]) -> JSON:
        said = self._around.arrive("read_release", self._host)
        return copied(said.value) if said else self._around.release(reservation)


class ArbitratingAuthority(HostAuthority):
    """The trusted callbacks of one host, arbitration of ADMIT against ABANDON included."""

    def abandon_admission_if_absent(self, reservation: Mapping[str, Any]) -> JSON:
        said = self._around.arrive("abandon_admission_if_absent", self._host)
        return copied(said.value) if said else self._around.arbitrate(reservation)


def copied(value: JSON) -> JSON:
    """A deep copy of a JSON value (`copy.deepcopy` takes ten times as long)."""
    if isinstance(value, dict):
        return {key: copied(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [copied(inner) for inner in value]
    return value


PEOPLE: Mapping[str, dict[str, JSON]] = {
    "alice": {"principal": "p-alice", "ownerId": "o-alice", "operator": False},
    "bob": {"principal": "p-bob", "ownerId": "o-bob", "operator": False},
    "root": {"principal": "p-root", "ownerId": "o-root", "operator": True},
}
"""Who the contexts of a fresh world are; "eve" is nobody."""
