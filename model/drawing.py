"""Ids, arguments, answers and nonsense to draw from: the small change of a random walk.

Everything comes from a handful of ids, so that collisions happen, and is aimed at the world given, so that
something comes of it. Chance comes in as `Dice`, which `random.Random` is; nothing here makes its own.
"""

from collections.abc import Sequence
from typing import Final, Protocol, TypeVar

from model.actions import Moment
from model.surroundings import fact_of
from model.values import JSON, Binding, Identity, Lease, Row, World

T = TypeVar("T")


class Dice(Protocol):
    """What is used of `random.Random`."""

    def random(self) -> float: ...
    def randrange(self, start: int, stop: int, /) -> int: ...
    def choice(self, seq: Sequence[T], /) -> T: ...


HOSTS: Final = ("h1", "h2", "h3")
HOLDERS: Final = {"h1": "alpha", "h2": "alpha", "h3": "beta"}
CONTEXTS: Final = ("alice", "bob", "root", "eve")
TTLS: Final = (1, 10, 1000, 60_000, 86_400_000)
JUMPS: Final = (0, 1, 10, 1000, 60_000, 86_400_001)

NONSENSE: Final[tuple[JSON, ...]] = (
    None, True, False, 0, -1, 1.0, 2**53, 1e300,
    "", " ", "x", "1", "\ud800", "x" * 4097, [], {}, [1], {"a": 1},
)  # fmt: skip
"""JSON values that hardly anything takes."""


def an_id(kind: int, number: int) -> str:
    """A canonical UUID; `kind` tells reservations, projects, runs and commands apart for the reader."""
    return f"{kind:08x}-0000-4000-8000-{number:012x}"


def reservation_id(number: int) -> str:
    return an_id(0xA, number)


def command_id(number: int) -> str:
    return an_id(0xC, number)


def chance(dice: Dice, probability: float) -> bool:
    return dice.random() < probability


def weighted(dice: Dice, choices: Sequence[tuple[float, T]]) -> T:
    """One of the choices, by weight."""
    at = dice.random() * sum(weight for weight, _ in choices)
    for weight, choice in choices:
        at -= weight
        if at < 0:
            return choice
    return choices[-1][1]


def a_binding(dice: Dice) -> Binding:
    """One of eight."""
    return (an_id(0xB, 1 + dice.randrange(0, 2)), an_id(0xD, 1), an_id(0xE, 1 + dice.randrange(0, 4)))


def a_row(dice: Dice, world: World, *states: str) -> Row | None:
    """A stored row, in one of `states` if there is one; late rows more often than early ones."""
    rows = world.store.rows if world.store is not None else ()
    fitting = [row for row in rows if row.state in states] or rows
    if not fitting:
        return None
    return dice.choice(fitting[-4:] if chance(dice, 0.7) else fitting)


def a_reservation_id(dice: Dice, world: World) -> str:
    """An id that is stored, or one of the next two that are not."""
    rows = world.store.rows if world.store is not None else ()
    return reservation_id(1 + dice.randrange(0, len(rows) + 2))


def fresh_reservation_id(world: World) -> str:
    """The first id that no row has and no ledger knows."""
    rows = {row.reservation_id for row in world.store.rows} if world.store is not None else set()
    known = rows | {fact.reservation_id for fact in world.facts}
    number = 1
    while reservation_id(number) in known:
        number += 1
    return reservation_id(number)


def context_of(dice: Dice, world: World, row: Row | None) -> str:
    """Mostly the row's owner, if anybody is; sometimes anybody."""
    if row is not None and chance(dice, 0.92):
        for context, who in world.people:
            if isinstance(who, Identity) and (who.principal, who.owner_id) == (row.principal, row.owner_id):
                return context
    return dice.choice(CONTEXTS[:3] if chance(dice, 0.9) else CONTEXTS)


def lease_json(lease: Lease) -> dict[str, JSON]:
    return {
        "holderId": lease.holder_id,
        "fencingEpoch": lease.fencing_epoch,
        "endpoint": lease.endpoint,
        "expiresAt": lease.expires_at,
    }


def _ids_of(dice: Dice, row: Row | None) -> dict[str, JSON]:
    binding = row.binding if row is not None else a_binding(dice)
    return {
        "reservationId": row.reservation_id if row is not None else reservation_id(1),
        "projectId": binding[0],
        "projectControlDomainId": binding[1],
        "runId": binding[2],
    }


def an_admission(dice: Dice, world: World, row: Row | None) -> dict[str, JSON]:
    """A proof of admission, true if there is a fact to tell the truth about."""
    fact = fact_of(world, row.reservation_id) if row is not None else None
    seq = fact.commit_seq if fact is not None else 1 + dice.randrange(0, 3)
    version = fact.run_version if fact is not None else dice.randrange(0, 2)
    return {**_ids_of(dice, row), "projectAdmitCommitSeq": seq, "runVersion": version}


def a_release(dice: Dice, world: World, row: Row | None) -> dict[str, JSON]:
    """A release proof that would free the slot but for one thing, or for nothing."""
    proof: dict[str, JSON] = {
        **an_admission(dice, world, row),
        "proofId": "proof-drawn",
        "status": dice.choice(("completed", "failed", "blocked", "cancelled", "paused")),
        "stage": dice.choice(("terminal", "parked")),
        "requiresReadmission": chance(dice, 0.7),
        "providerNoLiveProcessTree": True,
        "noAmbiguousJobs": True,
        "reconcileTimeoutOnly": False,
    }
    spoilt: tuple[tuple[str, JSON], ...] = (
        ("providerNoLiveProcessTree", False), ("noAmbiguousJobs", False), ("reconcileTimeoutOnly", True),
        ("projectAdmitCommitSeq", 99), ("runVersion", 0), ("projectId", an_id(0xB, 7)), ("status", "running"),
        ("status", "paused"), ("stage", "running"), ("requiresReadmission", False), ("proofId", " "),
        ("reservationId", reservation_id(99)), ("providerNoLiveProcessTree", 1),
    )  # fmt: skip
    if chance(dice, 0.85):
        key, value = dice.choice(spoilt)
        proof[key] = value
    return proof


def an_answer(dice: Dice, world: World, moment: Moment, row: Row | None) -> JSON:
    """What a callback might say instead of the truth: right, nearly right, or nonsense."""
    if chance(dice, 0.15) or moment in ("prepare", "activation"):
        return dice.choice(NONSENSE)
    answer: dict[str, JSON]
    if moment == "read_lease":
        lease = world.lease
        answer = lease_json(lease if isinstance(lease, Lease) else Lease("alpha", 1, "e", world.clock + 1000))
    elif moment == "authorize":
        operator = chance(dice, 0.5)
        answer = {"principal": dice.choice(("p-alice", "p-bob")), "ownerId": "o-alice", "operator": operator}
    elif moment == "read_release":
        answer = a_release(dice, world, row)
    elif chance(dice, 0.6):
        answer = an_admission(dice, world, row)
    else:
        status = dice.choice(("abandoned", "not-admitted", "lost"))
        answer = {**_ids_of(dice, row), "status": status, "abandonmentCommitSeq": 1, "runVersion": 0}
    return spoil(dice, answer) if chance(dice, 0.5) else answer


def spoil(dice: Dice, values: dict[str, JSON]) -> dict[str, JSON]:
    """One value left out, replaced by nonsense, or one too many."""
    if not values or chance(dice, 0.15):
        return {**values, "surplus": 1}
    key = dice.choice(sorted(values))
    if chance(dice, 0.3):
        return {name: value for name, value in values.items() if name != key}
    value = values[key]
    if isinstance(value, str) and chance(dice, 0.4):
        return {**values, key: dice.choice((value.upper(), value + "\n", f"{{{value}}}", value[:-1]))}
    if isinstance(value, int) and chance(dice, 0.4):
        return {**values, key: dice.choice((float(value), str(value), -value, bool(value), value + 2**53))}
    return {**values, key: dice.choice(NONSENSE)}
