"""A small world of the coordinator to try tours with: one or two reservations of one host, told by worlds."""

from collections.abc import Hashable
from typing import Any, Final

from model.actions import (
    Action,
    Admit,
    AdvanceClock,
    Call,
    Close,
    Damage,
    Finish,
    Mend,
    Open,
    Quiesce,
    SetLease,
)
from model.values import JSON, World
from stateful_tests.exploring.told import Makes, ToldSpace
from stateful_tests.system import COORDINATOR, system_named

PROJECT: Final = "b0000000-0000-4000-8000-000000000001"
DOMAIN: Final = "d0000000-0000-4000-8000-000000000001"
TTL: Final = 1_000
OPENING: Final = Open("h", "holder", 1, 1)
HOUR: Final = 3_600_000


def beginning(world_clock: int) -> tuple[Action, ...]:
    lease: JSON = {
        "holderId": "holder", "fencingEpoch": 1, "endpoint": "here", "expiresAt": world_clock + 1_000 * HOUR,
    }  # fmt: skip
    return (SetLease(lease), OPENING)


def small_space(ids: int = 1, *, damage: bool = False) -> ToldSpace:
    """Reserve, admit, commit, renew, finish, release; the clock; closing and opening again; capacity is 1."""
    alphabet: dict[str, Makes] = {}

    def rule(name: str, action: Action | Makes) -> None:
        alphabet[name] = action if callable(action) else lambda _: action

    for number in range(1, ids + 1):
        name, run = _uuid("a", number), _uuid("e", number)
        bound: dict[str, JSON] = {"projectId": PROJECT, "projectControlDomainId": DOMAIN, "runId": run}
        reserve: dict[str, JSON] = {"reservationId": name, **bound, "ttlMs": TTL}
        rule(f"reserve {number}", Call("h", "alice", "reserve", reserve))
        rule(f"admit {number}", Admit(name, PROJECT, DOMAIN, run))
        rule(f"commit {number}", _commit(name))
        rule(f"renew {number}", Call("h", "alice", "renew", {"id": name, "ttlMs": TTL}))
        rule(f"finish {number}", Finish(name, "completed"))
        rule(f"quiesce {number}", Quiesce(name))
        rule(f"release {number}", Call("h", "alice", "normalRelease", {"id": name}))
    rule("late", AdvanceClock(TTL))
    rule("snapshot", Call("h", "bob", "snapshot"))
    rule("close", lambda world: Close("h") if world.hosts[0].is_open else None)
    rule("open", OPENING)
    if damage:
        rule("damage", Damage("state-truncated"))
        rule("mend", Mend("state-truncated"))
    system = system_named(COORDINATOR)
    return ToldSpace(system, alphabet, view, (beginning(system.initial({}).clock),))


def _commit(name: str) -> Makes:
    def makes(world: World) -> Action:
        numbers = {fact.reservation_id: fact.commit_seq for fact in world.facts}
        return Call("h", "alice", "commit", {"id": name, "projectAdmitCommitSeq": numbers.get(name, 1)})

    return makes


def view(world: Any) -> Hashable:
    """What of a world matters within this alphabet."""
    store = world.store
    rows = () if store is None else store.rows
    return (
        tuple(
            (row.reservation_id, row.state, row.reserved_expires_at is not None
             and row.reserved_expires_at > world.clock)
            for row in rows
        ),
        tuple((host.name, host.is_open) for host in world.hosts),
        tuple((fact.reservation_id, fact.kind, fact.status, fact.quiescent) for fact in world.facts),
        world.damage,
    )  # fmt: skip


def _uuid(kind: str, number: int) -> str:
    return f"{kind}0000000-0000-4000-8000-{number:012x}"
