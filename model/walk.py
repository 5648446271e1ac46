"""A random walk over the model: every operation, every refusal, every event, aimed at the world it meets.

`draw(dice, world)` gives one action; `walk(dice, length)` a whole story from the start. The same dice give
the same story. What is drawn is mostly sensible, so that histories grow; a part of it is nonsense, late,
early, by the wrong person, or disturbed in the middle. Where the world is in trouble (a lease run out, a
clock set back, a file damaged) every second action mends it, so that a story does not end in refusals.

Nothing drawn is sure to be possible: what the model declines, a caller just draws again.
"""

from collections.abc import Callable, Iterator
from typing import Final

from model.actions import (
    Action,
    AdvanceClock,
    Answers,
    Call,
    Disturbance,
    Effect,
    Event,
    Happens,
    Moment,
    Open,
    Raises,
    ReadEpoch,
    Reenters,
)
from model.drawing import (
    CONTEXTS,
    HOLDERS,
    HOSTS,
    JUMPS,
    NONSENSE,
    TTLS,
    Dice,
    a_binding,
    a_reservation_id,
    a_row,
    an_answer,
    an_id,
    chance,
    command_id,
    context_of,
    fresh_reservation_id,
    spoil,
    weighted,
)
from model.outcomes import CODES, Declined
from model.start import initial_world
from model.stepping import step
from model.surroundings import fact_of, happen
from model.values import JSON, ForceRelease, Host, Lease, Row, World
from model.weather import an_event, repairs

_ORDERED_CODES: Final = tuple(sorted(CODES))

Arguments = dict[str, JSON]


def _reserve(dice: Dice, world: World) -> tuple[Row | None, Arguments]:
    row = a_row(dice, world) if chance(dice, 0.2) else None
    name = row.reservation_id if row is not None else fresh_reservation_id(world)
    binding = row.binding if row is not None and chance(dice, 0.7) else a_binding(dice)
    ids: Arguments = {
        "reservationId": name,
        "projectId": binding[0],
        "projectControlDomainId": binding[1],
        "runId": binding[2],
    }
    return row, {**ids, "ttlMs": dice.choice(TTLS)}


def _commit(dice: Dice, world: World) -> tuple[Row | None, Arguments]:
    rows = world.store.rows if world.store is not None else ()
    known = {fact.reservation_id for fact in world.facts if fact.kind == "admitted"}
    ready = [row for row in rows if row.state == "reserved" and row.reservation_id in known]
    row = dice.choice(ready) if ready and chance(dice, 0.7) else a_row(dice, world, "reserved", "committed")
    name = row.reservation_id if row is not None else a_reservation_id(dice, world)
    fact = fact_of(world, name)
    right = fact is not None and chance(dice, 0.9)
    arguments: Arguments = {"id": name}
    arguments["projectAdmitCommitSeq"] = fact.commit_seq if fact and right else 1 + dice.randrange(0, 4)
    if chance(dice, 0.35):
        arguments["attemptId"] = an_id(0xAA, 1 + dice.randrange(0, 2))
    if chance(dice, 0.25):
        arguments["providerJobHandle"] = dice.choice(("job-1", "job-ü"))
    return row, arguments


def _renew(dice: Dice, world: World) -> tuple[Row | None, Arguments]:
    row, arguments = _one(dice, world, "reserved", "committed", "orphan-suspect")
    wants_ttl = row is None or row.state == "reserved"
    if wants_ttl != chance(dice, 0.15):
        arguments["ttlMs"] = dice.choice(TTLS)
    return row, arguments


def _one(dice: Dice, world: World, *states: str) -> tuple[Row | None, Arguments]:
    row = a_row(dice, world, *states) if chance(dice, 0.85) else a_row(dice, world)
    if row is None or chance(dice, 0.06):
        return None, {"id": a_reservation_id(dice, world)}
    return row, {"id": row.reservation_id}


def _orphan(dice: Dice, world: World) -> tuple[Row | None, Arguments]:
    return _one(dice, world, "committed")


def _normal_release(dice: Dice, world: World) -> tuple[Row | None, Arguments]:
    rows = world.store.rows if world.store is not None else ()
    over = [fact.reservation_id for fact in world.facts if fact.quiescent]
    ready = [
        row for row in rows if row.reservation_id in over and row.state in ("committed", "orphan-suspect")
    ]
    if ready and chance(dice, 0.7):
        row = dice.choice(ready)
        return row, {"id": row.reservation_id}
    return _one(dice, world, "committed", "orphan-suspect")


def _force_release(dice: Dice, world: World) -> tuple[Row | None, Arguments]:
    commands = world.store.commands if world.store is not None else ()
    if commands and chance(dice, 0.3):
        known = dice.choice(commands)
        if isinstance(known.request, ForceRelease):
            again: Arguments = {"id": known.request.reservation_id, "reason": known.request.reason}
            return None, {**again, "commandId": known.command_id, "riskAcknowledgement": True}
    _, arguments = _one(dice, world, "reserved", "committed", "orphan-suspect")
    arguments["commandId"] = command_id(1 + dice.randrange(0, len(commands) + 2))
    arguments["riskAcknowledgement"] = True if chance(dice, 0.9) else dice.choice(NONSENSE)
    arguments["reason"] = (
        dice.choice(("lost", "“gone” \u0001")) if chance(dice, 0.9) else dice.choice(NONSENSE)
    )
    return None, arguments


def _set_maximum(dice: Dice, world: World) -> tuple[Row | None, Arguments]:
    commands = world.store.commands if world.store is not None else ()
    name = command_id(1 + dice.randrange(0, len(commands) + 2))
    return None, {"commandId": name, "maxActiveRuns": 1 + dice.randrange(0, 5)}


def _read_command(dice: Dice, world: World) -> tuple[Row | None, Arguments]:
    commands = world.store.commands if world.store is not None else ()
    return None, {"id": command_id(1 + dice.randrange(0, len(commands) + 1))}


def _snapshot(_dice: Dice, _world: World) -> tuple[Row | None, Arguments]:
    return None, {}


_CALLS: Final[tuple[tuple[float, tuple[str, Callable[[Dice, World], tuple[Row | None, Arguments]]]], ...]] = (
    (20, ("reserve", _reserve)),
    (18, ("commit", _commit)),
    (9, ("renew", _renew)),
    (5, ("markOrphanSuspect", _orphan)),
    (12, ("normalRelease", _normal_release)),
    (7, ("forceRelease", _force_release)),
    (7, ("setMaxActiveRuns", _set_maximum)),
    (4, ("readReservation", _one)),
    (4, ("readCommand", _read_command)),
    (5, ("snapshot", _snapshot)),
    (7, ("dispatch", _orphan)),
)
_OPERATORS: Final = frozenset({"forceRelease", "setMaxActiveRuns", "readCommand"})


def _fits(host: Host, world: World) -> bool:
    lease = world.lease
    return (
        host.is_open
        and isinstance(lease, Lease)
        and (host.holder_id, host.epoch) == (lease.holder_id, lease.fencing_epoch)
    )


def _a_host(dice: Dice, world: World) -> str:
    """Mostly one whom the lease names."""
    fitting = [host.name for host in world.hosts if _fits(host, world)]
    return dice.choice(fitting if fitting and chance(dice, 0.9) else [host.name for host in world.hosts])


def _call(dice: Dice, world: World) -> Action:
    if not world.hosts:
        return _open(dice, world)
    operation, fill = weighted(dice, _CALLS)
    row, arguments = fill(dice, world)
    if operation in _OPERATORS and chance(dice, 0.85):
        context = "root" if chance(dice, 0.8) else dice.choice(CONTEXTS)
    else:
        context = context_of(dice, world, row)
    if chance(dice, 0.06):
        arguments = spoil(dice, arguments)
    if chance(dice, 0.004):
        operation = dice.choice(("initialize", "close", "Reserve", ""))
    host = _a_host(dice, world)
    return Call(host, context, operation, arguments, _disturbances(dice, world, host, operation, row))


def _open(dice: Dice, world: World) -> Action:
    """Mostly as the lease will have it."""
    host, lease = dice.choice(HOSTS), world.lease
    holder: JSON = HOLDERS[host]
    epoch: JSON = 1 + dice.randrange(0, 3)
    if isinstance(lease, Lease) and chance(dice, 0.8):
        fitting = [name for name in HOSTS if HOLDERS[name] == lease.holder_id]
        host, epoch = dice.choice(fitting or HOSTS), lease.fencing_epoch
        holder = HOLDERS[host]
    maximum: JSON = 1 + dice.randrange(0, 4)
    if chance(dice, 0.06):
        wrong = dice.choice(NONSENSE)
        holder, epoch, maximum = dice.choice(
            ((wrong, epoch, maximum), (holder, wrong, maximum), (holder, epoch, wrong))
        )
    disturbances = _disturbances(dice, world, host, "initialize", None)
    return Open(host, holder, epoch, maximum, chance(dice, 0.8), disturbances)


def _disturbances(
    dice: Dice, world: World, host: str, operation: str, row: Row | None
) -> tuple[Disturbance, ...]:
    if not chance(dice, 0.15):
        return ()
    many = 1 if chance(dice, 0.8) else 2
    drawn = (_disturbance(dice, world, host, operation, row) for _ in range(many))
    return tuple(each for each in drawn if each is not None)


def _moments(world: World, operation: str) -> tuple[tuple[float, Moment], ...]:
    rows = world.store.rows if world.store is not None else ()
    due = any(row.state == "reserved" and (row.reserved_expires_at or 0) <= world.clock for row in rows)
    return (
        (3.0, "read_lease"),
        (0.0 if operation == "initialize" else 3.0, "authorize"),
        (1.5, "rename"),
        (6.0 if due or operation == "commit" else 0.2, "read_admission"),
        (5.0 if due else 0.1, "abandon_admission_if_absent"),
        (8.0 if operation == "normalRelease" else 0.0, "read_release"),
        (4.0 if operation == "dispatch" else 0.0, "prepare"),
        (4.0 if operation == "dispatch" else 0.0, "activation"),
    )


def _disturbance(dice: Dice, world: World, host: str, operation: str, row: Row | None) -> Disturbance | None:
    moment = weighted(dice, _moments(world, operation))
    nth = 1
    if moment in ("read_lease", "authorize", "read_admission", "abandon_admission_if_absent"):
        nth = weighted(dice, ((6.0, 1), (5.0, 2), (1.5, 3), (0.5, 4)))
    if moment == "read_admission" and (row is None or row.state != "reserved"):
        row = a_row(dice, world, "reserved")
    kind = dice.random()
    effect: Effect | None
    if moment == "rename" or kind < 0.45:
        effect = _meanwhile(dice, world, host, moment)
    elif kind < 0.6:
        effect = Raises(dice.choice(_ORDERED_CODES) if chance(dice, 0.5) else None)
    elif kind < 0.7 and operation != "initialize":
        effect = Reenters()
    else:
        effect = Answers(an_answer(dice, world, moment, row))
    return Disturbance(moment, nth, effect) if effect is not None else None


def _meanwhile(dice: Dice, world: World, host: str, moment: Moment) -> Effect | None:
    event: Event = an_event(dice, world, host)
    if isinstance(happen(world, event, nested=True), Declined) or (moment == "rename" and chance(dice, 0.5)):
        event = AdvanceClock(dice.choice((*JUMPS, -1, -1000)))
    return Happens(event)


def draw(dice: Dice, world: World) -> Action:
    """One action for `world`. It may be one that the model declines."""
    mending = repairs(dice, world)
    if mending and chance(dice, 0.5):
        return dice.choice(mending)
    kind = dice.random()
    if kind < 0.62:
        return _call(dice, world)
    if kind < 0.64 or not world.hosts:
        return _open(dice, world)
    if kind < 0.65:
        return ReadEpoch()
    return an_event(dice, world, dice.choice(HOSTS))


def walk(dice: Dice, length: int, world: World | None = None) -> Iterator[Action]:
    """`length` actions from `world`, or from the start, none of which the model declines."""
    world = initial_world() if world is None else world
    for _ in range(length):
        while True:
            action = draw(dice, world)
            after, outcome = step(world, action)
            if not isinstance(outcome, Declined):
                break
        world = after
        yield action
