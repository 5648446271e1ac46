"""Tours: short stories that bring about, on purpose, what a random walk meets too seldom to count on.

One tour for each kind of damage, one for each moment with each effect, and one for each way in which a
state can go back under an open host (C4). `touring` splices them into a walk, so that each is taken in a
world with a history of its own. What a tour assumes may not come true in that world; whether it did is
counted by `Coverage` like everything else.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, get_args

from model.actions import (
    DAMAGES,
    Action,
    Admit,
    AdvanceClock,
    Answers,
    Call,
    Close,
    Damage,
    Disturbance,
    Effect,
    Finish,
    Happens,
    Mend,
    Moment,
    Open,
    PutBack,
    Quiesce,
    Raises,
    ReadEpoch,
    Reenters,
    SetIdentity,
    SetLease,
)
from model.values import JSON, World
from stateful_tests.system import Draw

_HOUR: Final = 3_600_000
_HOST: Final = "tour"
_PROJECT: Final = "b0000000-0000-4000-8000-00000000000f"
_DOMAIN: Final = "d0000000-0000-4000-8000-00000000000f"

_ODD_ANSWERS: Final[tuple[JSON, ...]] = (None, {}, [], "\ud800", {"status": "not-admitted"})
_EFFECTS: Final = ("raises", "answers", "happens", "reenters")
_ROLLBACKS: Final[Mapping[str, int]] = {"older": 0, "equal": 1, "later": 2}
"""How many commits another host has made on the old state when the one that knows better comes along."""

TOURS: Final[tuple[tuple[str, str], ...]] = (
    *(("damage", kind) for kind in DAMAGES),
    *(
        (moment, effect)
        for moment in get_args(Moment)
        for effect in (("happens",) if moment == "rename" else _EFFECTS)
    ),
    *(("rollback", kind) for kind in _ROLLBACKS),
)
"""(`damage`, kind), (moment, effect) or (`rollback`, kind)."""


def touring(draw: Draw, first: int, every: int) -> Draw:
    """`draw`, with a tour before every `every`-th step of it: number `first`, and so on, round and round."""
    return spliced(draw, len(TOURS), lambda rng, world, n: tour(rng, world, *TOURS[n]), first, every)


def spliced(
    draw: Draw,
    many: int,
    told: Callable[[random.Random, Any, int], Iterable[Any]],
    first: int,
    every: int,
) -> Draw:
    """`draw`, with a story before every `every`-th step: number `first` of `many`, and so on, round again.

    `told` makes a story's actions of the world as it stands when it begins. For any system.
    """
    ahead: list[Any] = []
    number, left = first, every

    def next_action(rng: random.Random, world: Any) -> Any:
        nonlocal number, left
        if not ahead and left <= 0:
            ahead.extend(told(rng, world, number % many))
            number, left = number + 1, every
        left -= 1
        return ahead.pop(0) if ahead else draw(rng, world)

    return next_action


def tour(rng: random.Random, world: World, where: str, what: str) -> Iterator[Action]:
    """The actions of one tour, from `world` as it stands at its start."""
    store = world.store
    epoch = max(store.fencing_epoch if store else 0, 1)
    yield from (Mend(kind) for kind in sorted(world.damage))
    latest = max([store.last_wall_time if store else 0, *(host.high_water for host in world.hosts)])
    yield AdvanceClock(max(latest - world.clock, 0) + 1)
    yield SetLease(_lease(world, latest, epoch))
    yield Open(_HOST, _HOST, epoch, 4)
    if where == "damage":
        yield from (Damage(what), _snapshot(), ReadEpoch(), Open("other", _HOST, epoch, 4), Mend(what))
        return
    yield SetIdentity("alice", {"principal": "p-alice", "ownerId": "o-alice", "operator": False})
    yield SetIdentity("root", {"principal": "p-root", "ownerId": "o-root", "operator": True})
    held = store.held if store else 0
    yield _set_maximum(rng, _HOST, held + 2)
    if where == "rollback":
        yield PutBack(max(len(world.earlier) - 1, 0))
        yield Open("other", _HOST, epoch, 4)
        yield from (_set_maximum(rng, "other", held + 3) for _ in range(_ROLLBACKS[what]))
        yield from (_snapshot(), Open(_HOST, _HOST, epoch, 4))
        return
    yield from _moment(rng, world, where, what)


def _set_maximum(rng: random.Random, host: str, maximum: int) -> Call:
    return Call(host, "root", "setMaxActiveRuns", {"commandId": _fresh(rng), "maxActiveRuns": maximum})


def _moment(rng: random.Random, world: World, where: str, what: str) -> Iterator[Action]:
    name, run = _fresh(rng), _fresh(rng)
    ids: dict[str, JSON] = {
        "reservationId": name,
        "projectId": _PROJECT,
        "projectControlDomainId": _DOMAIN,
        "runId": run,
    }
    struck = _disturbance(rng, where, what)
    if where in ("rename", "authorize", "read_lease"):
        yield Call(_HOST, "alice", "reserve", {**ids, "ttlMs": 1_000}, (struck,))
        return
    yield Call(_HOST, "alice", "reserve", {**ids, "ttlMs": 1_000})
    if where == "abandon_admission_if_absent" or (where == "read_admission" and rng.random() < 0.5):
        yield AdvanceClock(1_000)
        yield _snapshot(struck)
        return
    yield Admit(name, _PROJECT, _DOMAIN, run)
    commit: dict[str, JSON] = {"id": name, "projectAdmitCommitSeq": world.project_seq + 1}
    if where == "read_admission":
        yield Call(_HOST, "alice", "commit", commit, (struck,))
        return
    yield Call(_HOST, "alice", "commit", commit)
    if where == "read_release":
        yield from (Finish(name, "completed"), Quiesce(name))
        yield Call(_HOST, "alice", "normalRelease", {"id": name}, (struck,))
        return
    yield Call(_HOST, "alice", "dispatch", {"id": name}, (struck,))


def _disturbance(rng: random.Random, moment: str, what: str) -> Disturbance:
    nth = rng.choice((1, 2)) if moment in ("read_lease", "authorize") else 1
    effect: Effect
    match what:
        case "raises":
            effect = Raises(rng.choice((None, "RECONCILE_REQUIRED", "AUTHORITY_REVOKED")))
        case "answers":
            effect = Answers(rng.choice(_ODD_ANSWERS))
        case "reenters":
            effect = Reenters()
        case _:
            effect = Happens(
                rng.choice((AdvanceClock(1_000), AdvanceClock(-1), AdvanceClock(2 * _HOUR)))
                if moment == "rename"
                else rng.choice((AdvanceClock(1), AdvanceClock(-1), SetLease(None), Close(_HOST)))
            )
    return Disturbance(moment, nth, effect)  # type: ignore[arg-type]  # a moment, from TOURS


def _snapshot(*meanwhile: Disturbance) -> Call:
    return Call(_HOST, "alice", "snapshot", {}, tuple(meanwhile))


def _lease(world: World, latest: int, epoch: int) -> dict[str, JSON]:
    until = max(world.clock, latest) + _HOUR
    return {"holderId": _HOST, "fencingEpoch": epoch, "endpoint": "unix:tour", "expiresAt": until}


def _fresh(rng: random.Random) -> str:
    """A UUID that no walk has used, of the walk's own chance."""
    bits = f"{rng.getrandbits(128):032x}"
    return f"{bits[:8]}-{bits[8:12]}-4{bits[13:16]}-8{bits[17:20]}-{bits[20:]}"
