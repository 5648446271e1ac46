"""What a transaction was told while it ran, as far as a step shows it: clock, lease, caller, proofs.

Exact where nothing strikes in the middle of the call, and where what strikes does so at an arrival that is
sure to come. Elsewhere several answers are possible: these functions give all that are, or `None` for one
that isn't known, and no invariant blames a step for which one of them would do.
"""

from collections.abc import Iterator
from typing import Any, Final, TypeVar

from model import answers
from model.actions import (
    Action,
    AdvanceClock,
    Answers,
    Call,
    Disturbance,
    Happens,
    Moment,
    Open,
    SetIdentity,
    SetLease,
)
from model.surroundings import host_named
from model.values import Host, Identity, Lease, Raw, World

E = TypeVar("E")
Arrival = tuple[Moment, int]

BEFORE_THE_SWEEP: Final[tuple[Arrival, ...]] = (("read_lease", 1), ("authorize", 1))
"""Sure to come in each call that comes to its sweep, in this order."""

_AFTER_THE_LAST_FENCE: Final = frozenset({"rename", "activation"})


def struck(action: Action) -> tuple[Disturbance, ...]:
    """What may strike in the middle of it."""
    return action.disturbances if isinstance(action, Call | Open) else ()


def events(action: Action, kind: type[E], *arrivals: Arrival) -> Iterator[E]:
    """The events of a kind that strike at these arrivals; at any, if none is named."""
    for each in struck(action):
        event = each.effect.event if isinstance(each.effect, Happens) else None
        if isinstance(event, kind) and (not arrivals or (each.moment, each.nth) in arrivals):
            yield event


def answered(action: Action, *moments: Moment) -> Iterator[Any]:
    """The JSON values that callbacks may have answered instead of the truth."""
    for each in struck(action):
        if isinstance(each.effect, Answers) and each.moment in moments:
            yield each.effect.value


def host_of(before: World, action: Action) -> Host | None:
    """Who acts: as it was before, or as it is opened."""
    if isinstance(action, Call):
        return host_named(before, action.host)
    if isinstance(action, Open) and isinstance(action.holder_id, str) and isinstance(action.epoch, int):
        return Host(action.host, action.holder_id, action.epoch, action.arbitration)
    return None


def clock_at_sweep(before: World, action: Action) -> int:
    """The clock when the sweep starts; no later look is earlier."""
    if not struck(action):
        return before.clock
    return before.clock + sum(each.ms for each in events(action, AdvanceClock, *BEFORE_THE_SWEEP))


def clock_at_last_look(action: Action, after: World) -> int:
    """The clock at the last look of a call that was answered."""
    if not struck(action):
        return after.clock
    return after.clock - sum(each.ms for each in events(action, AdvanceClock, ("activation", 1)))


def nothing_comes_due(before: World, action: Action) -> bool:
    """Whether the sweep asks nobody, whatever strikes: then a transaction reads the lease twice."""
    if before.store is None:
        return True
    latest = before.clock + sum(max(each.ms, 0) for each in events(action, AdvanceClock))
    return all(
        row.state != "reserved" or (row.reserved_expires_at or 0) > latest for row in before.store.rows
    )


Told = tuple[tuple[Lease | Raw | None, ...], int]
"""What a reading of the lease may have told, and the clock when it was judged."""


def leases(before: World, action: Action, after: World) -> tuple[Told, Told]:
    """What the first and the last fence of a call that was answered were told."""
    if not struck(action):
        only = ((before.lease,), before.clock)
        return only, only
    first = _told(action, 1) or tuple(map(_lease, _set(action, 1))) or (before.lease,)
    looked = before.clock + sum(each.ms for each in events(action, AdvanceClock, ("read_lease", 1)))
    return (first[-1:], looked), (_last_leases(before, action, after), clock_at_last_look(action, after))


def _lease(value: Any) -> Lease | None:
    return answers.lease(value)


def _told(action: Action, nth: int) -> tuple[Lease | None, ...]:
    """What the nth reading was answered instead of the truth: the first of such answers counts."""
    told = [
        _lease(each.effect.value)
        for each in struck(action)
        if isinstance(each.effect, Answers) and (each.moment, each.nth) == ("read_lease", nth)
    ]
    return tuple(told[:1])


def _set(action: Action, nth: int) -> list[Any]:
    return [each.lease for each in events(action, SetLease, ("read_lease", nth))]


def _last_leases(before: World, action: Action, after: World) -> tuple[Lease | Raw | None, ...]:
    sure = nothing_comes_due(before, action)
    if sure and (told := _told(action, 2)):
        return told
    found: list[Lease | Raw | None] = [after.lease]
    if any(
        each.moment in _AFTER_THE_LAST_FENCE
        and isinstance(each.effect, Happens)
        and isinstance(each.effect.event, SetLease)
        for each in struck(action)
    ):
        found += [before.lease, *(_lease(each.lease) for each in events(action, SetLease))]
    if not sure:
        found += map(_lease, answered(action, "read_lease"))
    return tuple(found)


def callers(before: World, action: Action) -> tuple[Identity | Raw | None, Identity | Raw | None] | None:
    """Who calls, as the authority said at the first and at the second look; `None` if that isn't known."""
    if not isinstance(action, Call):
        return None
    who = dict(before.people).get(action.context)
    if not action.disturbances:
        return who, who
    told = []
    changes = [each for each in events(action, SetIdentity) if each.context == action.context]
    for arrivals in (BEFORE_THE_SWEEP, (("authorize", 2),)):
        for event in events(action, SetIdentity, *arrivals):
            if event.context == action.context:
                changes.remove(event)
                who = answers.identity(event.identity)
        answer = [
            each.effect.value
            for each in action.disturbances
            if isinstance(each.effect, Answers) and (each.moment, each.nth) == arrivals[-1]
        ]
        told.append(answers.identity(answer[0]) if answer else who)
    return None if changes else (told[0], told[1])


def caller(before: World, action: Action) -> Identity | None:
    """Who calls, as far as that is known."""
    found = callers(before, action)
    return found[0] if found is not None and isinstance(found[0], Identity) else None
