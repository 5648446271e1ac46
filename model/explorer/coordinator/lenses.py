"""Which part of `Shared` a rule sees and changes: what keeps the tables of the fast engine small.

A call at a host sees whether that host may act, and if so the stored epoch; of the lease nothing but that it
is good. A rule that takes a slot sees the maximum too (lens `capacity`), an operator's rule the maximum and
the commands (lens `commands`). A call that is refused before anything was read changes nothing but what its
host has seen of the clock.

These are claims about the model. They are tested: full exploration, which fires each rule on whole states
(`whole_lenses`), must agree with the reduced one.
"""

from collections.abc import Hashable

from attrs import evolve

from model.explorer.coordinator.values import HostView, LeaseView, Shared


def lens_of(lens: str) -> tuple[str, int]:
    """(kind, number of the host) of `h1`, `capacity h1`, `commands h1`, `open h1`, `die h1`."""
    kind, _, host = lens.rpartition(" ")
    return kind, int(host[1:]) - 1


def part(lens: str, shared: Shared) -> Hashable:
    if lens == "":
        return shared
    if lens == "store":
        return shared.store
    kind, number = lens_of(lens)
    host = shared.hosts[number]
    if kind == "open":
        return _part_of_opening(shared, number)
    if kind == "die":
        return (host, may_act(shared, number))
    if host is None or not host.is_open:
        return host
    if not may_act(shared, number):
        is_older = shared.epoch > number + 1
        return (host.ahead, is_older, shared.wall, shared.temps, shared.store, shared.identity, shared.damage)
    return (
        host,
        shared.epoch,
        shared.wall,
        shared.temps,
        shared.fresh,
        shared.people,
        shared.maximum if kind else None,
        shared.commands if kind == "commands" else None,
    )


def merge(lens: str, shared: Shared, after: Shared) -> Shared:
    if lens == "":
        return after
    if lens == "store":
        return shared
    kind, number = lens_of(lens)
    if kind == "open":
        return _merge_of_opening(shared, after, number)
    hosts, host = _hosts(shared, after, number), shared.hosts[number]
    if kind == "die":
        return evolve(shared, hosts=hosts)
    if host is None or not host.is_open or not may_act(shared, number):
        return evolve(shared, hosts=hosts, temps=after.temps)
    return evolve(
        shared,
        hosts=hosts,
        epoch=after.epoch,
        wall=after.wall,
        temps=after.temps,
        fresh=after.fresh,
        maximum=after.maximum if kind == "commands" else shared.maximum,
        commands=after.commands if kind == "commands" else shared.commands,
    )


def _hosts(shared: Shared, after: Shared, number: int) -> tuple[HostView | None, ...]:
    """All but the host of this number as they were."""
    return tuple(after.hosts[k] if k == number else host for k, host in enumerate(shared.hosts))


def _is_good(lease: LeaseView, number: int) -> bool:
    return lease.kind == "own" and lease.epoch == number + 1 and (lease.left is None or lease.left > 0)


def _is_whole(shared: Shared) -> bool:
    return shared.store and shared.identity and not shared.damage


def may_act(shared: Shared, number: int) -> bool:
    """Whether a call at this host, which is open, comes to step 6."""
    host = shared.hosts[number]
    return (
        _is_whole(shared)
        and _is_good(shared.lease, number)
        and shared.epoch <= number + 1
        and shared.wall <= 0
        and (host is None or host.ahead <= 0)
    )


def _may_open(shared: Shared, number: int) -> bool:
    return (
        not shared.damage
        and (shared.store or not shared.identity)
        and _is_good(shared.lease, number)
        and shared.epoch <= number + 1
        and shared.wall <= 0
    )


def kinds(shared: Shared) -> tuple[Hashable, ...]:
    """Why a host may not act, for each that may not: to a lens all reasons but its age are one."""
    return tuple(
        (
            number,
            host is not None and host.is_open,
            shared.lease,
            shared.epoch > number + 1,
            _is_whole(shared),
            shared.wall > 0,
        )
        for number, host in enumerate(shared.hosts)
        if not may_act(shared, number)
    )


def _part_of_opening(shared: Shared, number: int) -> Hashable:
    host: HostView | None = shared.hosts[number]
    if not _may_open(shared, number):
        return (host, shared.wall, shared.temps, shared.damage, shared.store, shared.identity, shared.fresh)
    return (
        host,
        shared.store,
        shared.identity,
        shared.epoch,
        shared.maximum,
        shared.wall,
        shared.temps,
        shared.fresh,
    )


def _merge_of_opening(shared: Shared, after: Shared, number: int) -> Shared:
    hosts = _hosts(shared, after, number)
    if not _may_open(shared, number):
        return evolve(shared, hosts=hosts, temps=after.temps)
    kept = shared if shared.store else after
    return evolve(
        after,
        hosts=hosts,
        lease=shared.lease,
        people=shared.people,
        maximum=kept.maximum,
        commands=kept.commands if shared.store else shared.commands,
    )
