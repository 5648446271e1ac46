"""Events to draw from, and what to do when the world is in trouble.

`an_event` aims at what the world holds: a reservation to admit, a run to end, a state to put back.
`repairs` lists what would make things good again, so that a walk can go on. Chance comes in as `Dice`.
"""

from typing import Final

from model.actions import (
    DAMAGES,
    Abandon,
    Action,
    Admit,
    AdvanceClock,
    Close,
    Damage,
    Event,
    Finish,
    Forget,
    LeaveTemp,
    Mend,
    Open,
    Park,
    PutBack,
    Quiesce,
    Resume,
    SetIdentity,
    SetLease,
)
from model.drawing import (
    CONTEXTS,
    HOLDERS,
    HOSTS,
    JUMPS,
    NONSENSE,
    Dice,
    a_binding,
    a_reservation_id,
    a_row,
    chance,
    lease_json,
    spoil,
    weighted,
)
from model.start import PEOPLE
from model.surroundings import SEEN_WHILE_RUNNING, fact_of
from model.values import JSON, Fact, Identity, Lease, World

_SEEN: Final = tuple(sorted(SEEN_WHILE_RUNNING))
_STATUSES: Final = ("completed", "failed", "blocked", "cancelled")


def _jump(dice: Dice) -> Event:
    if chance(dice, 0.1):
        return AdvanceClock(-dice.choice((1, 10, 5000, 100_000_000)))
    return AdvanceClock(weighted(dice, ((4, 1), (4, 10), (3, 1000), (2, 60_000), (1.2, JUMPS[-1]))))


def _lease(dice: Dice, world: World) -> SetLease:
    """A live lease for the stored epoch, or for the next one, or something else."""
    stored = world.store.fencing_epoch if world.store is not None else 0
    opened = [host.epoch for host in world.hosts if host.is_open and host.epoch >= stored]
    epoch = dice.choice(opened) if opened and chance(dice, 0.7) else max(stored, 1) + dice.randrange(0, 2)
    host = dice.choice(HOSTS[:2] if chance(dice, 0.85) else HOSTS)
    lasting = weighted(dice, ((1, 1), (2, 1000), (6, 10_000_000), (6, 10_000_000_000)))
    lease = lease_json(Lease(HOLDERS[host], epoch, f"unix:{host}", world.clock + lasting))
    return SetLease(lease)


def _stale_lease(dice: Dice, world: World) -> SetLease | None:
    """A live lease for a host that a newer epoch has fenced, if one is still open."""
    stored = world.store.fencing_epoch if world.store is not None else 0
    fenced = [host for host in world.hosts if host.is_open and host.epoch < stored]
    if not fenced:
        return None
    host = dice.choice(fenced)
    lease = Lease(host.holder_id, host.epoch, f"unix:{host.name}", world.clock + 10_000_000)
    return SetLease(lease_json(lease))


def _other_lease(dice: Dice, world: World) -> Event:
    stale = _stale_lease(dice, world)
    if stale is not None and chance(dice, 0.3):
        return stale
    if chance(dice, 0.7):
        return _lease(dice, world)
    if chance(dice, 0.3):
        return SetLease(dice.choice(NONSENSE))
    lease = _lease(dice, world).lease
    assert isinstance(lease, dict)
    return SetLease(spoil(dice, lease))


def _identity(dice: Dice, world: World) -> Event:
    context = dice.choice(CONTEXTS)
    known: dict[str, JSON] = {
        "principal": dice.choice(("p-alice", "p-bob", "p-root", "p-eve")),
        "ownerId": dice.choice(("o-alice", "o-bob")),
        "operator": chance(dice, 0.6),
    }
    if context == "bob" and chance(dice, 0.6):
        known = {"principal": "p-bob", "ownerId": "o-bob", "operator": True}
    elif chance(dice, 0.4):
        return SetIdentity(context, None if world.people and chance(dice, 0.5) else spoil(dice, known))
    return SetIdentity(context, known)


def _a_fact(dice: Dice, world: World, *, running: bool) -> Fact | None:
    fitting = [
        fact
        for fact in world.facts
        if fact.kind == "admitted" and (fact.status == "running") == running and not fact.quiescent
    ]
    return dice.choice(fitting) if fitting else None


def _admit(dice: Dice, world: World) -> Event:
    rows = world.store.rows if world.store is not None else ()
    open_rows = [
        row for row in rows if row.state == "reserved" and fact_of(world, row.reservation_id) is None
    ]
    row = dice.choice(open_rows) if open_rows else a_row(dice, world)
    if row is None:
        return _jump(dice)
    return Admit(row.reservation_id, *row.binding)


def _abandon(dice: Dice, world: World) -> Event:
    row = a_row(dice, world, "reserved")
    if row is None or chance(dice, 0.1):
        return Abandon(a_reservation_id(dice, world), *a_binding(dice))
    return Abandon(row.reservation_id, *row.binding)


def _stop(dice: Dice, world: World) -> Event:
    fact = _a_fact(dice, world, running=True)
    if fact is None:
        return _admit(dice, world)
    if chance(dice, 0.4):
        return Park(fact.reservation_id)
    return Finish(fact.reservation_id, dice.choice(_STATUSES))


def _quiesce(dice: Dice, world: World) -> Event:
    fact = _a_fact(dice, world, running=False)
    return Quiesce(fact.reservation_id) if fact is not None else _stop(dice, world)


def _put_back(dice: Dice, world: World) -> Event:
    """Mostly one of the last few states."""
    many = len(world.earlier)
    if not many:
        return _jump(dice)
    return PutBack(max(0, many - 1 - dice.randrange(0, 4)) if chance(dice, 0.7) else dice.randrange(0, many))


def _dropped(dice: Dice, world: World) -> Event:
    """What only a world without some assumption lets happen."""
    if not world.facts:
        return _admit(dice, world)
    name = dice.choice(world.facts).reservation_id
    return Resume(name) if "parked-stays" in world.dropped else Forget(name)


def an_event(dice: Dice, world: World, host: str) -> Event:
    """Something that happens around the store; `host` is who might be closed."""
    kind = weighted(
        dice,
        (
            (8, "clock"),
            (11, "admit"),
            (2, "abandon"),
            (5, "stop"),
            (7, "quiesce"),
            (2, "lease"),
            (2, "identity"),
            (1.2, "close"),
            (0.8, "put back"),
            (0.8, "temp"),
            (0.8, "damage"),
            (3 if world.dropped else 0, "dropped"),
        ),
    )
    if kind == "close":
        return Close(host)
    if kind == "temp":
        return LeaveTemp()
    if kind == "damage":
        return Damage(dice.choice(DAMAGES if chance(dice, 0.7) else _SEEN))
    if kind == "clock":
        return _jump(dice)
    makers = {
        "admit": _admit,
        "abandon": _abandon,
        "stop": _stop,
        "quiesce": _quiesce,
        "lease": _other_lease,
        "identity": _identity,
        "put back": _put_back,
        "dropped": _dropped,
    }
    return makers[kind](dice, world)


def repairs(dice: Dice, world: World) -> list[Action]:
    """What would make good what is wrong now; nothing if all is well."""
    actions: list[Action] = [Mend(kind) for kind in sorted(world.damage)]
    store, lease = world.store, world.lease
    stored = store.fencing_epoch if store is not None else 0
    latest = max((host.high_water for host in world.hosts if host.is_open), default=0)
    behind = max(latest, store.last_wall_time if store is not None else 0) - world.clock
    if behind > 0:
        actions.append(AdvanceClock(behind + dice.choice(JUMPS[:3])))
    if not isinstance(lease, Lease) or lease.expires_at <= world.clock or lease.fencing_epoch < stored:
        actions.append(_lease(dice, world))
    elif not any(
        host.is_open and (host.holder_id, host.epoch) == (lease.holder_id, lease.fencing_epoch)
        for host in world.hosts
    ):
        fitting = [name for name in HOSTS if HOLDERS[name] == lease.holder_id]
        if fitting:
            maximum = 1 + dice.randrange(0, 4)
            actions.append(Open(dice.choice(fitting), lease.holder_id, lease.fencing_epoch, maximum))
        else:
            actions.append(_lease(dice, world))
    if world.earlier and store is not world.earlier[-1]:
        actions.append(PutBack(len(world.earlier) - 1))
    people = dict(world.people)
    for context, who in PEOPLE:
        if not isinstance(people.get(context), Identity):
            known: dict[str, JSON] = {"principal": who.principal, "ownerId": who.owner_id}
            actions.append(SetIdentity(context, {**known, "operator": who.operator}))
    return actions
