"""`forge`: a world for a state, of which `view` keeps just that state.

What the state leaves out is filled in with something valid: an audit chain of one or two entries, hosts that
have seen the present state, admissions in sequence. It is no world that any history leads to; that what
happens in it happens in every world of the same view is tested by walks.
"""

from model.actions import SetIdentity
from model.explorer.coordinator.bounds import Bounds
from model.explorer.coordinator.naming import (
    CONTEXTS,
    ENDPOINT,
    HOLDER,
    IDENTITIES,
    LONG,
    OTHER_HOLDER,
    OWNERS,
    PRINCIPALS,
    attempt_id,
    binding,
    command_id,
    host_name,
    job_handle,
    reason,
    slot_id,
)
from model.explorer.coordinator.values import (
    ADMITTED,
    HOLDING,
    CommandView,
    HostView,
    LeaseView,
    Shared,
    Slot,
    State,
)
from model.start import PEOPLE, START_CLOCK
from model.surroundings import happen
from model.values import (
    AuditEntry,
    Business,
    Command,
    Fact,
    ForceRelease,
    Host,
    Lease,
    Raw,
    Row,
    SetMaximum,
    Store,
    World,
)

CLOCK = START_CLOCK
_STATUSES = {"stopped": "completed", "parked": "paused"}
_ELSEWHERE = 98
"""Number of a reservation that a stored command names where its slot isn't among those forged."""


def forge(state: State, bounds: Bounds) -> World:
    shared = state.shared
    store = _store(state)
    facts = tuple(
        fact for number, slot in enumerate(state.slots) if (fact := _fact(number, slot)) is not None
    )
    hosts = tuple(_host(number, host, store) for number, host in enumerate(shared.hosts) if host is not None)
    world = World(
        CLOCK,
        store,
        shared.identity,
        _lease(shared.lease),
        hosts,
        PEOPLE,
        facts,
        len(state.slots),
        () if store is None else (store,),
        shared.damage,
        (),
        bounds.dropped,
        int(shared.temps),
        tuple(_lost(number, slot) for number, slot in enumerate(state.slots) if slot.lost),
        frozenset(f"proofs-true:{slot_id(number)}" for number, slot in enumerate(state.slots) if slot.lied),
    )
    if shared.people:
        after = happen(world, SetIdentity(CONTEXTS[0], IDENTITIES[shared.people[0]]))
        assert isinstance(after, World)
        return after
    return world


def _store(state: State) -> Store | None:
    shared = state.shared
    if not shared.store:
        return None
    ranked = sorted(enumerate(state.slots), key=lambda each: each[1].rank)
    rows = tuple(_row(number, slot, shared) for number, slot in ranked if slot.state != "unused")
    commands = tuple(
        _command(number, command, state)
        for number, command in enumerate(shared.commands)
        if command is not None
    )
    wall = CLOCK + shared.wall
    last = Business(shared.epoch, shared.maximum, rows, commands)
    if shared.fresh or not shared.identity:
        audit: tuple[AuditEntry, ...] = (_entry(1, shared.epoch, wall, "initialize", last),)
    else:
        empty = Business(shared.epoch, shared.maximum, (), ())
        audit = (_entry(1, 1, wall, "initialize", empty), _entry(2, shared.epoch, wall, "reserve", last))
    return Store(shared.epoch, len(audit), wall, shared.maximum, rows, commands, audit)


def _entry(seq: int, epoch: int, at: int, action: str, digest: Business) -> AuditEntry:
    return AuditEntry(seq, epoch, at, action, "p-forged", digest)


def _row(number: int, slot: Slot, shared: Shared) -> Row:
    principal, owner = OWNERS[slot.owner]
    state = "released" if slot.state == "forced" else slot.state
    assert state != "unused"
    holds = slot.state in HOLDING
    proven = slot.matches is not None or state == "released"
    wall = CLOCK + shared.wall
    return Row(
        slot_id(number),
        state,
        *binding(slot.run or 0),
        shared.epoch,
        owner,
        principal,
        wall - 86_400_001 if slot.old else wall,
        "operator-overridden" if slot.state == "forced" else "enforced",
        _seq(number, slot) if proven else None,
        None if slot.attempt is None or not holds else attempt_id(slot.attempt),
        None if slot.job is None or not holds else job_handle(slot.job),
        None if slot.left is None else CLOCK + slot.left,
        None,
        1 if slot.state in ADMITTED else None,
        {"forced": "force", "released": "normal"}.get(slot.state),  # type: ignore[arg-type]  # of two literals
        "proof" if slot.state == "released" else None,
    )


def _seq(number: int, slot: Slot) -> int:
    """The admission of the row, in sequence with the ledger's, or another."""
    return 90 + number if slot.matches is False else number + 1


def _fact(number: int, slot: Slot) -> Fact | None:
    if slot.stage == "none":
        return None
    run = slot.run if slot.elsewhere is None else slot.elsewhere
    kind = "abandoned" if slot.stage == "abandoned" else "admitted"
    subject = (slot_id(number), binding(run or 0))
    if kind == "abandoned":
        return Fact(*subject, "abandoned", number + 1)
    parked = slot.stage == "parked"
    return Fact(
        *subject,
        "admitted",
        number + 1,
        1 if slot.stage == "running" else 2,
        _STATUSES.get(slot.stage, slot.stage),
        "running" if slot.stage == "running" else "parked" if parked else "terminal",
        parked,
        slot.quiet,
    )


def _lost(number: int, slot: Slot) -> Fact:
    return Fact(slot_id(number), binding(slot.run or 0), "admitted", 80 + number, 1)


def _host(number: int, host: HostView, store: Store | None) -> Host:
    if not host.is_open:
        return Host(host_name(number), HOLDER, number + 1, True, False)
    return Host(host_name(number), HOLDER, number + 1, host.arbitration, True, CLOCK + host.ahead, store)


def _command(number: int, command: CommandView, state: State) -> Command:
    caller = PRINCIPALS[command.caller]
    if command.kind == "set":
        return Command(command_id(number), SetMaximum(command.argument), caller, 1, command.argument)
    taken = [place for place, slot in enumerate(state.slots) if slot.command == number]
    place = taken[0] if taken else _ELSEWHERE
    slot = state.slots[place] if taken else Slot("forced")
    row = _row(place, slot, state.shared)
    request = ForceRelease(row.reservation_id, reason(command.argument))
    return Command(command_id(number), request, caller, 1, row)


def _lease(lease: LeaseView) -> Lease | Raw | None:
    if lease.kind == "malformed":
        return Raw('{"holderId": ""}')
    if lease.kind in ("none", "bad"):
        return None
    holder = HOLDER if lease.kind == "own" else OTHER_HOLDER
    return Lease(holder, lease.epoch, ENDPOINT, CLOCK + (LONG if lease.left is None else lease.left))
