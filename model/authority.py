"""Predicates over one step: who may do what. The lease, the clock, the caller, the owner, the operator.

A step that a guard should have stopped shows in what was answered or published. That it is stopped by the
right guard shows in the code, where nothing else can have refused it before: see `_stopped_at_the_door`.
What strikes in the middle of a call is judged as far as `model.asked` knows what the store was told.
"""

from typing import Final

from model.actions import Action, Call, Close, Happens, Open
from model.always import row_of
from model.asked import (
    caller,
    callers,
    clock_at_last_look,
    host_of,
    leases,
)
from model.changes import pairs, published
from model.outcomes import Accepted, Outcome, Refused
from model.surroundings import host_named
from model.values import Command, Host, Identity, Lease, Raw, Row, SetMaximum, Store, World

ARGUMENTS_DECIDE: Final = frozenset({"COMMAND_FAILED", "POLICY_DENIED"})
"""Codes with which a call can be refused before anybody looks at lease and caller."""

OF_OWNERS: Final = frozenset(
    {"reserve", "commit", "renew", "markOrphanSuspect", "normalRelease", "dispatch", "readReservation"}
)
OF_OPERATORS: Final = frozenset({"forceRelease", "setMaxActiveRuns"})


def acted(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    """A host was answered, or has published."""
    if not isinstance(action, Call | Open):
        return False
    return isinstance(outcome, Accepted) or len(after.earlier) != len(before.earlier)


def goes_on_from(store: Store, seen: Store) -> bool:
    """Whether the state that an open host finds is the one that it has seen, or has grown out of it."""
    if store is seen:
        return True
    if store.commit_seq <= seen.commit_seq:
        return store == seen
    return store.audit[: seen.commit_seq] == seen.audit


def came_to_the_door(before: World, action: Action, outcome: Outcome) -> bool:
    """A call was refused in which nothing struck, at an open host, whose files are whole and not rolled back.

    Then nothing but its arguments can have been looked at before lease, clock and caller.
    """
    if not isinstance(action, Call) or not isinstance(outcome, Refused) or action.disturbances:
        return False
    host, store = host_named(before, action.host), before.store
    if host is None or not host.is_open or before.damage or not before.identity_file or store is None:
        return False
    return host.seen is None or goes_on_from(store, host.seen)


def stopped_at_the_door(outcome: Outcome) -> bool:
    assert isinstance(outcome, Refused)
    return outcome.code == "AUTHORITY_REVOKED" or outcome.code in ARGUMENTS_DECIDE


def is_live(lease: Lease | Raw | None, host: Host, at: int) -> bool:
    return (
        isinstance(lease, Lease)
        and lease.holder_id == host.holder_id
        and lease.fencing_epoch == host.epoch
        and lease.expires_at > at
    )


def lease_is_live(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    if acted(before, action, outcome, after):
        host = host_of(before, action)
        return host is not None and all(
            any(is_live(lease, host, at) for lease in told) for told, at in leases(before, action, after)
        )
    if not came_to_the_door(before, action, outcome):
        return True
    host = host_of(before, action)
    assert host is not None
    return is_live(before.lease, host, before.clock) or stopped_at_the_door(outcome)


def older_hosts_are_refused(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    host, store = host_of(before, action), before.store
    if host is None or store is None or store.fencing_epoch <= host.epoch:
        return True
    if acted(before, action, outcome, after):
        return False
    return not came_to_the_door(before, action, outcome) or stopped_at_the_door(outcome)


def host_is_open(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    """Before, and to the end: but for a launch under way, and for the last reading of the lease where there
    is nothing to publish, since nobody looks again."""
    if not isinstance(action, Call) or not acted(before, action, outcome, after):
        return True
    host, left = host_named(before, action.host), host_named(after, action.host)
    if host is None or not host.is_open or left is None:
        return False
    if left.is_open:
        return True
    wrote = len(after.earlier) != len(before.earlier)
    late = {"activation"} if wrote else {"activation", "read_lease"}
    return any(
        each.moment in late and each.effect == Happens(Close(action.host)) for each in action.disturbances
    )


def is_behind(before: World, action: Action) -> bool:
    """Whether the clock is below what the store or this open host has seen."""
    host, store = host_of(before, action), before.store
    if store is not None and before.clock < store.last_wall_time:
        return True
    return host is not None and before.clock < host.high_water


def clock_is_not_behind(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    if acted(before, action, outcome, after):
        ended = not isinstance(outcome, Accepted) or clock_at_last_look(action, after) >= before.clock
        return ended and not is_behind(before, action)
    if not came_to_the_door(before, action, outcome) or not is_behind(before, action):
        return True
    return stopped_at_the_door(outcome)


def is_known(who: Identity | Raw | None) -> bool:
    return (
        isinstance(who, Identity)
        and who.principal.strip() != ""
        and who.owner_id.strip() != ""
        and type(who.operator) is bool
    )


def caller_is_known(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    """And the same at the second look as at the first."""
    if not isinstance(action, Call):
        return True
    if acted(before, action, outcome, after):
        found = callers(before, action)
        return found is None or (is_known(found[0]) and found[0] == found[1])
    if not came_to_the_door(before, action, outcome):
        return True
    return is_known(dict(before.people).get(action.context)) or stopped_at_the_door(outcome)


def asked_for(action: Action, store: Store | None) -> Row | None:
    """The row that an operation is about, in this state."""
    if not isinstance(action, Call):
        return None
    name = action.arguments.get("reservationId" if action.operation == "reserve" else "id")
    return row_of(store, name) if isinstance(name, str) else None


def is_owner(who: Identity, row: Row) -> bool:
    return (who.principal, who.owner_id) == (row.principal, row.owner_id)


def rows_belong_to_their_owners(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    """Nobody else changes, launches or is shown one; who reserves becomes its owner."""
    if not isinstance(action, Call) or action.operation not in OF_OWNERS:
        return True
    if not acted(before, action, outcome, after):
        return True
    who, row = caller(before, action), asked_for(action, before.store)
    if row is None and action.operation == "reserve":
        row = asked_for(action, after.earlier[-1]) if len(after.earlier) > len(before.earlier) else None
    if row is None or who is None or is_owner(who, row):
        return True
    return not isinstance(outcome, Accepted) and not any(old is row for old, _ in pairs(before, after))


def forced(before: World, after: World) -> list[Row]:
    """The rows whose slot an operator has just taken, as they were before."""
    return [
        old
        for old, new in pairs(before, after)
        if new is not None and new.concurrency_guarantee == "operator-overridden" != old.concurrency_guarantee
    ]


def operators_alone(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    """The first opening sets the maximum too."""
    change = published(before, after)
    if change is not None:
        old, new = change
        if old is None:
            return isinstance(action, Open) and new.max_active_runs == action.initial_max_active_runs
        operation = action.operation if isinstance(action, Call) else "initialize"
        if new.max_active_runs != old.max_active_runs and operation != "setMaxActiveRuns":
            return False
        if operation != "forceRelease" and forced(before, after):
            return False
        if operation not in OF_OPERATORS:
            return new.commands == old.commands
    if not isinstance(action, Call) or action.operation not in OF_OPERATORS:
        return True
    if not isinstance(outcome, Accepted):
        return True
    who = caller(before, action)
    return who is None or who.operator is True


def risk_is_acknowledged(before: World, action: Action, _outcome: Outcome, after: World) -> bool:
    """In this very command, for this very row, which held a slot (C9)."""
    rows = forced(before, after)
    if not rows:
        return True
    if not isinstance(action, Call) or len(rows) > 1:
        return False
    reason = action.arguments.get("reason")
    return (
        action.arguments.get("riskAcknowledgement") is True
        and isinstance(reason, str)
        and reason.strip() != ""
        and action.arguments.get("id") == rows[0].reservation_id
        and rows[0].holds_slot
    )


def stored_command(before: World, action: Action) -> Command | None:
    """The stored command whose id this call bears."""
    if not isinstance(action, Call) or before.store is None:
        return None
    name = action.arguments.get("id" if action.operation == "readCommand" else "commandId")
    if action.operation != "readCommand" and action.operation not in OF_OPERATORS:
        return None
    return next((each for each in before.store.commands if each.command_id == name), None)


def is_the_same_request(command: Command, action: Call) -> bool:
    request, given = command.request, action.arguments
    if isinstance(request, SetMaximum):
        return (
            action.operation == "setMaxActiveRuns" and given.get("maxActiveRuns") == request.max_active_runs
        )
    return action.operation == "forceRelease" and (given.get("id"), given.get("reason")) == (
        request.reservation_id,
        request.reason,
    )


def commands_answer_their_caller(before: World, action: Action, outcome: Outcome, _after: World) -> bool:
    known = stored_command(before, action)
    if known is None or not isinstance(outcome, Accepted):
        return True
    assert isinstance(action, Call)
    who = caller(before, action)
    if who is not None and who.principal != known.caller_principal:
        return False
    return action.operation == "readCommand" or is_the_same_request(known, action)
