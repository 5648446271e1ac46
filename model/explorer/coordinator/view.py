"""`view`: what the explorer keeps of a world. Slot i is always reservation number i.

Loses what no guard within the bounds looks at; `forge` gives a world back of which the same is kept. Raises
`OutOfBoundsError` for a world that holds something for which the bounds have no name.
"""

from attrs import evolve, frozen

from model.explorer.coordinator.bounds import Bounds
from model.explorer.coordinator.naming import (
    CONTEXTS,
    HOLDER,
    OWNERS,
    PRINCIPALS,
    host_name,
    identity_kind,
    number_at_end,
    number_of_command,
    number_of_run,
    slot_id,
)
from model.explorer.coordinator.values import (
    UNUSED,
    CommandView,
    HostView,
    LeaseView,
    RowState,
    Shared,
    Slot,
    Stage,
    State,
)
from model.surroundings import host_named
from model.values import Command, Fact, Lease, Raw, Row, SetMaximum, World

_FAR = 10**9
"""What remains of a lease that lasts for ever is more than this many ms."""


class OutOfBoundsError(ValueError):
    """A world that the bounds have no state for: a rule of the space has led out of them."""


@frozen
class _Times:
    """Relative to the clock, and cut off at `floor`: what is less can make no difference any more."""

    clock: int
    floor: int

    def left(self, at: int) -> int:
        return max(at - self.clock, self.floor)


def view(world: World, bounds: Bounds) -> State:
    times = _times(world, bounds)
    rows = {row.reservation_id: row for row in world.store.rows} if world.store is not None else {}
    facts = {fact.reservation_id: fact for fact in world.facts}
    lost = {fact.reservation_id for fact in world.forgotten if not fact.quiescent}
    takers = _takers(world)
    slots = []
    for number in range(bounds.ids):
        name = slot_id(number)
        row, fact = rows.pop(name, None), facts.pop(name, None)
        if row is None and fact is None and name not in lost:
            slots.append(UNUSED)
            continue
        slots.append(
            _slot(
                row,
                fact,
                times,
                bounds,
                command=takers.get(name),
                lied=f"proofs-true:{name}" in world.broken,
                lost=name in lost,
            )
        )
    if rows or facts:
        raise OutOfBoundsError(f"{sorted({*rows, *facts})[0]} is none of {bounds.ids} reservations")
    return State(
        _shared(world, times, bounds), ranked(slots, [row.reservation_id for row in _rows(world)], bounds)
    )


def _rows(world: World) -> tuple[Row, ...]:
    return world.store.rows if world.store is not None else ()


def _times(world: World, bounds: Bounds) -> _Times:
    """Where the clock may go back it goes back by 1 ms, and not again before it has made that up."""
    if not bounds.back:
        return _Times(world.clock, 0)
    return _Times(world.clock, 0 if seen_ahead(world) > 0 else -1)


def seen_ahead(world: World) -> int:
    """How far the latest time that the store, or an open host, has seen is ahead of the clock, in ms."""
    seen = [host.high_water for host in world.hosts if host.is_open]
    if world.store is not None:
        seen.append(world.store.last_wall_time)
    return max(seen, default=0) - world.clock


def would_be_forgotten(world: World) -> bool:
    """Whether nobody but the hosts that are open knows that the clock was ahead: the files don't.

    How often the clock could go back if they forgot it is without bounds.
    """
    store = world.store
    return seen_ahead(world) > 0 and (store is None or store.last_wall_time <= world.clock)


def _takers(world: World) -> dict[str, int]:
    """Which command took which reservation's slot."""
    return {
        command.request.reservation_id: number_of_command(command.command_id)
        for command in (world.store.commands if world.store is not None else ())
        if not isinstance(command.request, SetMaximum)
    }


def place_of(slot: Slot, bounds: Bounds) -> int | None:
    """The queue in which a slot stands, if any: rows whose order can matter.

    Two rows of one run that may both be proven: the one that is swept first is committed (C8). Where
    something strikes at the n-th call of a sweep, all reserved rows.
    """
    if slot.state != "reserved" or bounds.ids == 1:
        return None
    if bounds.disturbed:
        return 0
    return None if slot.stage == "abandoned" or slot.elsewhere is not None else slot.run


def ranked(slots: list[Slot], order: list[str], bounds: Bounds) -> tuple[Slot, ...]:
    """The slots with their ranks, as their rows are ordered."""
    queues = [place_of(slot, bounds) for slot in slots]
    if not any(queue is not None and queues.count(queue) > 1 for queue in queues):
        return tuple(slots)
    positions = {name: place for place, name in enumerate(order)}
    at = [positions.get(slot_id(number), 0) for number in range(len(slots))]
    return tuple(
        slot
        if queue is None
        else with_rank(slot, sum(queues[k] == queue and at[k] < at[i] for k in range(len(slots))))
        for i, (slot, queue) in enumerate(zip(slots, queues, strict=True))
    )


def with_rank(slot: Slot, rank: int) -> Slot:
    return slot if slot.rank == rank else evolve(slot, rank=rank)


def _slot(
    row: Row | None,
    fact: Fact | None,
    times: _Times,
    bounds: Bounds,
    *,
    command: int | None,
    lied: bool,
    lost: bool,
) -> Slot:
    told = number_of_run(fact.binding) if fact is not None else None
    stage, quiet = _stage(fact, bounds)
    if row is None:
        return Slot(stage=stage, quiet=quiet, elsewhere=told, lost=lost)
    run: int | None = number_of_run(row.binding)
    elsewhere = told if told != run else None
    seq = row.project_admit_commit_seq
    state: RowState = row.state
    if row.state == "released" and row.concurrency_guarantee == "operator-overridden":
        state = "forced"
    if not row.holds_slot and not _run_matters(fact, bounds):
        run = elsewhere = None
    return Slot(
        state,
        run,
        OWNERS.index((row.principal, row.owner_id)),
        None if row.reserved_expires_at is None else times.left(row.reserved_expires_at),
        stage,
        quiet,
        None if seq is None or not row.holds_slot else fact is not None and fact.commit_seq == seq,
        0,
        None if row.attempt_id is None or not row.holds_slot else number_at_end(row.attempt_id),
        None
        if row.provider_job_handle is None or not row.holds_slot
        else number_at_end(row.provider_job_handle),
        command,
        elsewhere,
        lied,
        lost,
        bounds.aging and row.updated_at + 86_400_000 < times.clock,
    )


def _run_matters(fact: Fact | None, bounds: Bounds) -> bool:
    """Once a row holds no slot, its run matters only as far as it may still be admitted."""
    return fact is None or bool(bounds.dropped) or "elsewhere" in bounds.groups


def _stage(fact: Fact | None, bounds: Bounds) -> tuple[Stage, bool]:
    if fact is None:
        return "none", False
    if fact.kind == "abandoned":
        return "abandoned", False
    if fact.status == "running":
        return "running", False
    if bounds.merge_stages:
        return "stopped", fact.quiescent
    stage: Stage = "parked" if fact.status == "paused" else fact.status  # type: ignore[assignment]  # Finish's
    return stage, fact.quiescent


def _shared(world: World, times: _Times, bounds: Bounds) -> Shared:
    store = world.store
    hosts = tuple(_host(world, number, times, bounds) for number in range(bounds.hosts))
    lease = _lease(world.lease, times, bounds)
    people: tuple[str, ...] = ()
    if bounds.identities:
        people = (identity_kind(dict(world.people).get(CONTEXTS[0])),)
    if store is None:
        return Shared(
            identity=world.identity_file,
            hosts=hosts,
            lease=lease,
            people=people,
            commands=(None,) * bounds.commands,
            wall=times.floor,
        )
    commands: list[CommandView | None] = [None] * bounds.commands
    for command in store.commands:
        if number_of_command(command.command_id) >= bounds.commands:
            raise OutOfBoundsError(f"{command.command_id} is none of {bounds.commands} commands")
        commands[number_of_command(command.command_id)] = _command(command)
    return Shared(
        True,
        world.identity_file,
        store.fencing_epoch,
        store.max_active_runs,
        tuple(commands),
        hosts,
        lease,
        people,
        world.damage,
        times.left(store.last_wall_time) if bounds.back else 0,
        bounds.temps and world.temps > 0,
        bool(bounds.damages) and store.commit_seq == 1,
    )


def _host(world: World, number: int, times: _Times, bounds: Bounds) -> HostView | None:
    host = host_named(world, host_name(number))
    if host is None or (bounds.merge_closed and not host.is_open):
        return None
    if not host.is_open:
        return HostView(False)
    return HostView(True, host.arbitration, times.left(host.high_water) if bounds.back else 0)


def _command(command: Command) -> CommandView:
    caller = PRINCIPALS.index(command.caller_principal)
    if isinstance(command.request, SetMaximum):
        return CommandView("set", command.request.max_active_runs, caller)
    return CommandView("force", number_at_end(command.request.reason), caller)


def _lease(lease: Lease | Raw | None, times: _Times, bounds: Bounds) -> LeaseView:
    if isinstance(lease, Lease):
        left = lease.expires_at - times.clock
        kept = None if left > _FAR else max(left, times.floor)
        is_own = lease.holder_id == HOLDER
        if not bounds.merge_leases:
            return LeaseView("own" if is_own else "other-holder", lease.fencing_epoch, kept)
        if is_own and left > 0 and 1 <= lease.fencing_epoch <= bounds.hosts:
            return LeaseView("own", lease.fencing_epoch, kept)
    if bounds.merge_leases:
        return LeaseView("bad")
    return LeaseView("none" if lease is None else "malformed")
