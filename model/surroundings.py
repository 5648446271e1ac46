"""The world around the store: clock, lease, people, ledgers, files. What may happen there, and what not.

`happen` lets one event take its effect, or declines it where the surroundings would not let it happen. The
assumptions about the surroundings are named in `ASSUMPTIONS`; a world that has one in `World.dropped` lets
happen what it forbids. Events never look at what a transaction has in hand: they touch the world alone.

Two assumptions can be broken without an event that could be declined: an untrue proof is an answer, and a
rolled-back state harms only once a store believes it. Those are recorded in `World.broken` when it happens.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from attrs import evolve

from model import answers
from model.actions import (
    DAMAGES,
    Abandon,
    Admit,
    AdvanceClock,
    Close,
    Damage,
    Event,
    Finish,
    Forget,
    LeaveTemp,
    Mend,
    Park,
    PutBack,
    Quiesce,
    Resume,
    SetIdentity,
    SetLease,
)
from model.outcomes import Declined
from model.values import JSON, Binding, Fact, Host, Raw, World

ASSUMPTIONS: Final[Mapping[str, str]] = {
    "admits-under-grant": "A project admits only under a granted reservation.",
    "admits-once": "A project admits once per reservation.",
    "abandon-is-final": "A project never admits after a durable ABANDON.",
    "facts-survive": "What a project's ledger has recorded survives crashes.",
    "proofs-true": "Proofs are true and current.",
    "parked-stays": "A parked or finished run runs again only under a new reservation.",
    "files-stay": "Nobody removes or rolls back the files while no store is open.",
}
"""What true capacity takes for granted, by id. Each is a switch: see `World.dropped`."""

LATEST_CLOCK: Final = 2**52
"""The model's clock keeps to 0 … 2^52 ms, so that no time plus a TTL leaves the range of integers."""

SEEN_WHILE_RUNNING: Final = frozenset(
    {"state-symlink", "identity-symlink", "lock-symlink", "directory-removed", "directory-replaced"}
)
"""Damage that the checks of step 1, made again at step 9, are certain to notice. Other damage done in the
middle of a transaction is declined: the specification does not say when it is noticed."""


def host_named(world: World, name: str) -> Host | None:
    for host in world.hosts:
        if host.name == name:
            return host
    return None


def with_host(world: World, host: Host) -> World:
    """The world with `host` in the place of the one of that name, or at the end."""
    names = [each.name for each in world.hosts]
    if host.name not in names:
        return evolve(world, hosts=(*world.hosts, host))
    at = names.index(host.name)
    return evolve(world, hosts=(*world.hosts[:at], host, *world.hosts[at + 1 :]))


def closed(host: Host) -> Host:
    """What is left of a host once it is closed."""
    return Host(host.name, host.holder_id, host.epoch, host.arbitration, is_open=False)


def fact_of(world: World, reservation_id: str) -> Fact | None:
    for fact in world.facts:
        if fact.reservation_id == reservation_id:
            return fact
    return None


def with_fact(world: World, fact: Fact, *, project_seq: int | None = None) -> World:
    """The world with `fact` in the place of the one about that reservation, or at the end."""
    seq = world.project_seq if project_seq is None else project_seq
    ids = [each.reservation_id for each in world.facts]
    if fact.reservation_id not in ids:
        return evolve(world, facts=(*world.facts, fact), project_seq=seq)
    at = ids.index(fact.reservation_id)
    return evolve(world, facts=(*world.facts[:at], fact, *world.facts[at + 1 :]), project_seq=seq)


def abandoned(world: World, reservation_id: str, binding: Binding) -> World:
    """The world once a project has recorded ABANDON."""
    seq = world.project_seq + 1
    return with_fact(world, Fact(reservation_id, binding, "abandoned", seq), project_seq=seq)


def happen(world: World, event: Event, *, nested: bool = False) -> World | Declined:
    """The world after `event`; `nested` if a transaction is under way meanwhile."""
    if nested and isinstance(event, Damage) and event.kind not in SEEN_WHILE_RUNNING:
        return Declined(f"when {event.kind} is noticed in the middle of a transaction is left open")
    return _EVENTS[type(event)](world, event)


def _close(world: World, event: Close) -> World | Declined:
    host = host_named(world, event.host)
    if host is None:
        return Declined(f"there is no host {event.host}")
    return with_host(world, closed(host)) if host.is_open else world


def _advance_clock(world: World, event: AdvanceClock) -> World | Declined:
    clock = world.clock + event.ms
    if not 0 <= clock <= LATEST_CLOCK:
        return Declined("the clock would leave its range")
    return evolve(world, clock=clock)


def as_text(value: JSON) -> Raw:
    """A JSON value that has not the form expected, kept as it is."""
    return Raw(json.dumps(value, sort_keys=True))


def _set_lease(world: World, event: SetLease) -> World:
    if event.lease is None:
        return evolve(world, lease=None)
    return evolve(world, lease=answers.lease(event.lease) or as_text(event.lease))


def _set_identity(world: World, event: SetIdentity) -> World:
    others = tuple(each for each in world.people if each[0] != event.context)
    if event.identity is None:
        return evolve(world, people=others)
    identity = answers.identity(event.identity) or as_text(event.identity)
    return evolve(world, people=(*others, (event.context, identity)))


def _is_granted(world: World, reservation_id: str, binding: Binding) -> bool:
    """Whether any state ever published, the present one first, has granted it."""
    stores = [*([world.store] if world.store else []), *reversed(world.earlier)]
    return any(
        row.reservation_id == reservation_id and row.binding == binding
        for store in stores
        for row in store.rows
    )


def _admit(world: World, event: Admit) -> World | Declined:
    binding = (event.project_id, event.project_control_domain_id, event.run_id)
    fact = fact_of(world, event.reservation_id)
    if fact is not None and fact.kind == "admitted" and "admits-once" not in world.dropped:
        return Declined("that reservation has admitted its run already")
    if fact is not None and fact.kind == "abandoned" and "abandon-is-final" not in world.dropped:
        return Declined("that reservation was abandoned, which is final")
    if "admits-under-grant" not in world.dropped and not _is_granted(world, event.reservation_id, binding):
        return Declined("no such reservation was granted")
    seq = world.project_seq + 1
    return with_fact(world, Fact(event.reservation_id, binding, "admitted", seq, 1), project_seq=seq)


def _abandon(world: World, event: Abandon) -> World | Declined:
    if fact_of(world, event.reservation_id) is not None:
        return Declined("its project has already admitted or abandoned it")
    binding = (event.project_id, event.project_control_domain_id, event.run_id)
    return abandoned(world, event.reservation_id, binding)


def _admitted(world: World, reservation_id: str) -> Fact | None:
    fact = fact_of(world, reservation_id)
    return fact if fact is not None and fact.kind == "admitted" else None


def _finish(world: World, event: Finish) -> World | Declined:
    fact = _admitted(world, event.reservation_id)
    if fact is None or fact.status != "running":
        return Declined("no run is running under that reservation")
    version = fact.run_version + 1
    return with_fact(world, evolve(fact, status=event.status, stage="terminal", run_version=version))


def _park(world: World, event: Park) -> World | Declined:
    fact = _admitted(world, event.reservation_id)
    if fact is None or fact.status != "running":
        return Declined("no run is running under that reservation")
    version = fact.run_version + 1
    parked = evolve(fact, status="paused", stage="parked", requires_readmission=True, run_version=version)
    return with_fact(world, parked)


def _quiesce(world: World, event: Quiesce) -> World | Declined:
    fact = _admitted(world, event.reservation_id)
    if fact is None or fact.status == "running" or fact.quiescent:
        return Declined("no finished or parked run has a process left under that reservation")
    return with_fact(world, evolve(fact, quiescent=True))


def _resume(world: World, event: Resume) -> World | Declined:
    if "parked-stays" not in world.dropped:
        return Declined("a run that has stopped runs again only under a new reservation")
    fact = _admitted(world, event.reservation_id)
    if fact is None or fact.status == "running":
        return Declined("no run has stopped under that reservation")
    running = evolve(
        fact,
        status="running",
        stage="running",
        requires_readmission=False,
        quiescent=False,
        run_version=fact.run_version + 1,
    )
    return with_fact(world, running)


def _forget(world: World, event: Forget) -> World | Declined:
    if "facts-survive" not in world.dropped:
        return Declined("ledgers do not forget")
    fact = fact_of(world, event.reservation_id)
    if fact is None:
        return Declined("there is nothing to forget")
    facts = tuple(each for each in world.facts if each is not fact)
    lost = (*world.forgotten, fact) if fact.kind == "admitted" else world.forgotten
    return evolve(world, facts=facts, forgotten=lost)


def _put_back(world: World, event: PutBack) -> World | Declined:
    if not 0 <= event.index < len(world.earlier):
        return Declined("no such earlier state")
    if any(kind.startswith(("state-", "directory-")) for kind in world.damage):
        return Declined("the file to be replaced is not there as it should be")
    if "files-stay" not in world.dropped and not any(host.is_open for host in world.hosts):
        return Declined("nobody rolls the files back while no store is open")
    return evolve(world, store=world.earlier[event.index])


def directory_is_away(world: World) -> bool:
    return not world.damage.isdisjoint(("directory-removed", "directory-replaced"))


def _leave_temp(world: World, _event: LeaveTemp) -> World | Declined:
    if world.store is None or directory_is_away(world):
        return Declined("there is no directory to leave it in")
    return evolve(world, temps=world.temps + 1)


def _damage(world: World, event: Damage) -> World | Declined:
    if event.kind not in DAMAGES:
        return Declined(f"{event.kind} is no damage")
    part = event.kind.partition("-")[0]
    if world.store is None or (part == "identity" and not world.identity_file):
        return Declined("there is nothing to damage")
    if directory_is_away(world) or (part == "directory" and world.damage):
        return Declined("one damage at a time where the directory is concerned")
    if any(kind.startswith(f"{part}-") for kind in world.damage):
        return Declined(f"the {part} file is damaged already")
    if {"state-missing", "identity-missing"} <= world.damage | {event.kind}:
        return Declined("with both files gone the directory is a new one")
    return evolve(world, damage=world.damage | {event.kind})


def _mend(world: World, event: Mend) -> World | Declined:
    if event.kind not in world.damage:
        return Declined(f"{event.kind} does not stand")
    return evolve(world, damage=world.damage - {event.kind})


_EVENTS: Final[dict[type, Callable[[World, Any], World | Declined]]] = {
    Close: _close,
    AdvanceClock: _advance_clock,
    SetLease: _set_lease,
    SetIdentity: _set_identity,
    Admit: _admit,
    Abandon: _abandon,
    Finish: _finish,
    Park: _park,
    Quiesce: _quiesce,
    Resume: _resume,
    Forget: _forget,
    PutBack: _put_back,
    LeaveTemp: _leave_temp,
    Damage: _damage,
    Mend: _mend,
}
assert _EVENTS.keys() == set(cast(Any, Event).__args__)
