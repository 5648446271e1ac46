"""Rules for what happens around the store, and for opening and closing it.

What is relative in an event, the end of a lease, is worked out from the world.
"""

from collections.abc import Iterator
from typing import Final

from model.actions import (
    Abandon,
    Action,
    Admit,
    AdvanceClock,
    Call,
    Close,
    Damage,
    Finish,
    Forget,
    LeaveTemp,
    Mend,
    Open,
    Park,
    Quiesce,
    ReadEpoch,
    Resume,
    SetIdentity,
    SetLease,
)
from model.explorer.coordinator.bounds import Bounds
from model.explorer.coordinator.crashing import Killed
from model.explorer.coordinator.naming import (
    CONTEXTS,
    DAY,
    ENDPOINT,
    HOLDER,
    IDENTITIES,
    LONG,
    OTHER_HOLDER,
    binding,
    host_name,
)
from model.explorer.coordinator.schemes import Make, Scheme, always, run_word, scheme
from model.explorer.coordinator.view import seen_ahead, would_be_forgotten
from model.values import World


def opens(bounds: Bounds) -> Iterator[Scheme]:
    for number in range(bounds.hosts):
        for many in bounds.initial:
            for arbitrates in bounds.arbitration:
                words = f" for {many}" if len(bounds.initial) > 1 else ""
                words += "" if arbitrates else " without-arbitration"
                make = _remembering(bounds, _open(number, many, arbitrates=arbitrates))
                yield scheme(f"open{words} @{host_name(number)}", "whole", f"open {host_name(number)}", make)


def _open(number: int, many: int, *, arbitrates: bool) -> Make:
    action = Open(host_name(number), HOLDER, number + 1, many, arbitrates)
    return lambda _world, _slot: action


def closes(bounds: Bounds) -> Iterator[Scheme]:
    for number in range(bounds.hosts):
        yield scheme(f"close @{host_name(number)}", "weather", "", _remembering(bounds, _close(number)))


def _remembering(bounds: Bounds, make: Make) -> Make:
    """Where the clock may go back: not while that would be forgotten."""
    if not bounds.back:
        return make
    return lambda world, slot: None if would_be_forgotten(world) else make(world, slot)


def _close(number: int) -> Make:
    action = Close(host_name(number))

    def make(world: World, _slot: str) -> Action | None:
        return action if any(host.name == action.host and host.is_open for host in world.hosts) else None

    return make


def deaths(bounds: Bounds) -> Iterator[Scheme]:
    """See `crashing`."""
    for number in range(bounds.hosts):
        host = host_name(number)
        sweep, genesis = (
            Call(host, CONTEXTS[0], "snapshot"),
            Open(host, HOLDER, number + 1, bounds.initial[0]),
        )
        yield scheme(
            f"die-having-arbitrated @{host}", "whole", f"die {host}", _die(Killed(sweep, "ledger ahead"))
        )
        yield scheme(
            f"die-in-genesis @{host}", "weather", "", _die(Killed(genesis, "state without identity"))
        )


def _die(kill: Killed) -> Make:
    return lambda _world, _slot: kill


def leases(bounds: Bounds) -> Iterator[Scheme]:
    for number in range(bounds.hosts):
        yield scheme(
            f"lease @{host_name(number)}", "weather", "", _lease(HOLDER, number + 1, bounds.lease_left)
        )
    for kind in bounds.leases:
        yield scheme(f"lease {kind}", "weather", "", _OTHER_LEASES[kind])


def _lease(holder: str, epoch: int, left: int | None) -> Make:
    def make(world: World, _slot: str) -> Action:
        ends = world.clock + (LONG if left is None else left)
        return SetLease({"holderId": holder, "fencingEpoch": epoch, "endpoint": ENDPOINT, "expiresAt": ends})

    return make


_OTHER_LEASES: Final[dict[str, Make]] = {
    "none": lambda _world, _slot: SetLease(None),
    "malformed": lambda _world, _slot: SetLease({"holderId": "", "fencingEpoch": 1}),
    "expired": _lease(HOLDER, 1, 0),
    "short": _lease(HOLDER, 1, 1),
    "other-holder": _lease(OTHER_HOLDER, 1, None),
    "other-epoch": _lease(HOLDER, 9, None),
}


def clocks(bounds: Bounds) -> Iterator[Scheme]:
    for ms in bounds.steps:
        yield scheme(f"clock +{ms} ms", "weather", "", _clock(ms))
    if bounds.back:
        yield scheme("clock -1 ms", "weather", "", _clock(-1))
    if bounds.aging:
        yield scheme("clock +1 day", "weather", "", _clock(DAY))


def _clock(ms: int) -> Make:
    action = AdvanceClock(ms)
    return lambda world, _slot: action if ms > 0 or seen_ahead(world) == 0 else None


def project(bounds: Bounds) -> Iterator[Scheme]:
    """What a project does under a reservation that was granted."""
    yield scheme("admit", "local", "store", _subject(Admit))
    for status in bounds.stages:
        if status == "parked":
            yield scheme("park", "local", "store", lambda _world, slot: Park(slot))
        else:
            yield scheme(f"finish {status}", "local", "store", _finish(status))
    yield scheme("quiesce", "local", "store", lambda _world, slot: Quiesce(slot))


def _finish(status: str) -> Make:
    return lambda _world, slot: Finish(slot, status)  # type: ignore[arg-type]  # one of its four


def _subject(kind: type[Admit] | type[Abandon]) -> Make:
    """About the run for which the reservation was granted; about none, if it wasn't."""

    def make(world: World, slot: str) -> Action | None:
        for row in world.store.rows if world.store is not None else ():
            if row.reservation_id == slot:
                return kind(slot, *row.binding)
        return None

    return make


def abandons(_bounds: Bounds) -> Iterator[Scheme]:
    yield scheme("abandon", "local", "store", _subject(Abandon))


def elsewhere(bounds: Bounds) -> Iterator[Scheme]:
    """A ledger that abandons, under a reservation's id, a run that isn't its own; or before it is granted."""
    for run in range(bounds.runs):
        about = binding(run)
        yield scheme(f"abandon {run_word(run)}", "local", "store", _about(Abandon, about))
        if bounds.dropped:
            yield scheme(f"admit {run_word(run)}", "local", "store", _about(Admit, about))


def _about(kind: type[Admit] | type[Abandon], about: tuple[str, str, str]) -> Make:
    return lambda _world, slot: kind(slot, *about)


def resumes(_bounds: Bounds) -> Iterator[Scheme]:
    yield scheme("resume", "local", "store", lambda _world, slot: Resume(slot))


def forgets(_bounds: Bounds) -> Iterator[Scheme]:
    def make(world: World, slot: str) -> Action | None:
        known = any(fact.reservation_id == slot for fact in world.forgotten)
        return None if known else Forget(slot)

    yield scheme("forget", "local", "store", make)


def people(bounds: Bounds) -> Iterator[Scheme]:
    for kind in bounds.identities:
        action = SetIdentity(CONTEXTS[0], IDENTITIES[kind])
        yield scheme(f"alice-becomes {kind}", "weather", "", always(action))


def damages(bounds: Bounds) -> Iterator[Scheme]:
    for kind in bounds.damages:
        yield scheme(f"damage {kind}", "weather", "", always(Damage(kind)))
        yield scheme(f"mend {kind}", "weather", "", always(Mend(kind)))


def epochs(_bounds: Bounds) -> Iterator[Scheme]:
    yield scheme("read-epoch", "weather", "", always(ReadEpoch()))


def temps(_bounds: Bounds) -> Iterator[Scheme]:
    yield scheme("leave-temp", "weather", "", always(LeaveTemp()))
