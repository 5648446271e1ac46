"""Predicates over one step: what is answered, refused, published and launched, and on what grounds.

Codes are judged by the operation alone: which of several guards speaks first, only the comparison with the
store tells.
"""

from typing import Any, Final

from model.actions import Action, Call, LeaveTemp, Open, PutBack, Raises, ReadEpoch
from model.asked import caller, events, host_of, struck
from model.authority import (
    ARGUMENTS_DECIDE,
    OF_OPERATORS,
    acted,
    asked_for,
    goes_on_from,
    stored_command,
)
from model.changes import published
from model.outcomes import Accepted, Outcome, Refused
from model.surroundings import host_named
from model.values import Row, Snapshot, World

_ALWAYS: Final = frozenset({"AUTHORITY_REVOKED", "COMMAND_FAILED", "DURABILITY_FAILED"})
_CONFLICT: Final = _ALWAYS | {"ADMISSION_BINDING_CONFLICT"}
_COMMANDS: Final = _ALWAYS | {"POLICY_DENIED", "IDEMPOTENCY_CONFLICT", "CROSS_PRINCIPAL_COMMAND"}
CODES_OF: Final[dict[str, frozenset[str]]] = {
    "initialize": _ALWAYS,
    "reserve": _CONFLICT | {"CAPACITY_EXCEEDED"},
    "commit": _CONFLICT,
    "renew": _CONFLICT,
    "markOrphanSuspect": _CONFLICT,
    "normalRelease": _CONFLICT | {"RECONCILE_REQUIRED"},
    "forceRelease": _COMMANDS | {"ADMISSION_BINDING_CONFLICT"},
    "setMaxActiveRuns": _COMMANDS | {"CAPACITY_EXCEEDED"},
    "readReservation": _ALWAYS,
    "readCommand": _ALWAYS | {"CROSS_PRINCIPAL_COMMAND"},
    "snapshot": _ALWAYS,
    "dispatch": _CONFLICT,
}
_OF_ROWS: Final = frozenset({"reserve", "commit", "renew", "markOrphanSuspect", "normalRelease"})
_DIRECTORY: Final = frozenset({"directory-removed", "directory-replaced"})


def _operation(action: Action) -> str:
    return action.operation if isinstance(action, Call) else "initialize"


def answers_are_what_stands(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    """Afterwards, in the state that is stored. A command's repeated answer is of the past."""
    if not isinstance(action, Call) or not isinstance(outcome, Accepted) or after.store is None:
        return True
    if any(events(action, PutBack)):
        return True
    value, store, operation = outcome.value, after.store, action.operation
    if operation in _OF_ROWS:
        return value is not None and value == asked_for(action, store)
    if operation == "readReservation":
        return value == asked_for(action, store)
    if operation == "readCommand":
        name = action.arguments.get("id")
        return value == next((each for each in store.commands if each.command_id == name), None)
    if operation == "snapshot":
        return value == Snapshot(
            store.commit_seq, store.fencing_epoch, store.max_active_runs, store.rows, store.commands
        )
    if operation in OF_OPERATORS and stored_command(before, action) is None:
        stands: Any = asked_for(action, store) if operation == "forceRelease" else store.max_active_runs
        return value is not None and value == stands
    return True


_LEADS_TO: Final[dict[str, frozenset[str]]] = {
    "reserve": frozenset({"reserved"}),
    "commit": frozenset({"committed"}),
    "renew": frozenset({"reserved", "committed", "orphan-suspect"}),
    "markOrphanSuspect": frozenset({"orphan-suspect"}),
    "normalRelease": frozenset({"released"}),
}


def rows_are_as_asked(_before: World, action: Action, outcome: Outcome, _after: World) -> bool:
    """A row that was used up, or is of another run, is no answer to who reserves, renews or releases."""
    if not isinstance(action, Call) or not isinstance(outcome, Accepted):
        return True
    states, row, given = _LEADS_TO.get(action.operation), outcome.value, action.arguments
    if states is None:
        return True
    if not isinstance(row, Row) or row.state not in states:
        return False
    if action.operation == "reserve":
        return row.binding == tuple(
            given.get(name) for name in ("projectId", "projectControlDomainId", "runId")
        )
    return action.operation != "normalRelease" or row.release_kind == "normal"


def refusals_are_of_their_kind(_before: World, action: Action, outcome: Outcome, _after: World) -> bool:
    """But a callback that raises a code of its own passes it through."""
    if not isinstance(action, Call | Open) or not isinstance(outcome, Refused):
        return True
    raised = [each.effect for each in struck(action) if isinstance(each.effect, Raises)]
    if outcome.side_effects != "none" and not any(each.code is None for each in raised):
        return False
    allowed = CODES_OF.get(_operation(action), frozenset({"COMMAND_FAILED"}))
    return outcome.code in allowed or any(each.code == outcome.code for each in raised)


def capacity_is_given(before: World, action: Action, outcome: Outcome, _after: World) -> bool:
    """Nobody is refused for capacity while there is room."""
    if not isinstance(outcome, Refused) or outcome.code != "CAPACITY_EXCEEDED" or before.store is None:
        return True
    if not isinstance(action, Call) or struck(action):
        return True
    if action.operation == "setMaxActiveRuns":
        asked = action.arguments.get("maxActiveRuns")
        return type(asked) is int and asked < before.store.held
    return before.store.held >= before.store.max_active_runs


def entries_tell_the_commit(before: World, action: Action, _outcome: Outcome, after: World) -> bool:
    """What was done, by whom, under which epoch and when."""
    change = published(before, after)
    if change is None:
        return True
    new, host = change[1], host_of(before, action)
    entry = new.audit[-1] if new.audit else None
    if entry is None or host is None:
        return False
    who = caller(before, action)
    principal = "coordinator-bootstrap" if isinstance(action, Open) else who.principal if who else None
    return (
        entry.action == _operation(action)
        and principal in (None, entry.principal)
        and entry.epoch == new.fencing_epoch == host.epoch
        and before.clock <= entry.recorded_at == new.last_wall_time
    )


def only_changes_are_published(before: World, _action: Action, _outcome: Outcome, after: World) -> bool:
    change = published(before, after)
    if change is None:
        return True
    old, new = change
    return old is None or (
        new.rows != old.rows
        or new.fencing_epoch != old.fencing_epoch
        or new.max_active_runs != old.max_active_runs
        or new.commands != old.commands
    )


def damage_is_refused(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    if acted(before, action, outcome, after):
        return not before.damage and not (isinstance(outcome, Accepted) and after.damage)
    if not before.damage or not isinstance(action, Call) or not isinstance(outcome, Refused):
        return True
    return outcome.code == "DURABILITY_FAILED" or outcome.code in ARGUMENTS_DECIDE


def temps_are_removed(_before: World, action: Action, outcome: Outcome, after: World) -> bool:
    if not isinstance(action, Call | Open) or not isinstance(outcome, Accepted) or not after.temps:
        return True
    return any(events(action, LeaveTemp))


def genesis_happens_once(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    """And is completed by an opening alone: identity without state, or state of several commits without
    identity, is never opened."""
    if not acted(before, action, outcome, after):
        return True
    store = before.store
    if isinstance(action, Call):
        return store is not None and before.identity_file
    if after.store is None or not after.identity_file:
        return False
    if store is None:
        return not before.identity_file and after.earlier[-1].commit_seq == 1
    return before.identity_file or (store.commit_seq == 1 and store.audit[0].action == "initialize")


def older_states_are_refused(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    """An open store goes on from what it has seen, and from nothing else (C4)."""
    if not isinstance(action, Call) or not acted(before, action, outcome, after):
        return True
    host, store = host_named(before, action.host), before.store
    if host is None or host.seen is None:
        return True
    return store is not None and goes_on_from(store, host.seen)


def launches_are_answered(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    """A dispatch that is answered has launched its run, once; nothing else launches."""
    new = after.launched[len(before.launched) :]
    if not isinstance(action, Call) or action.operation != "dispatch" or not isinstance(outcome, Accepted):
        return not new
    return new == (action.arguments.get("id"),)


def durable_epoch_is_told(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    """Without a host, without a write: 0 where there is no store at all."""
    if not isinstance(action, ReadEpoch):
        return True
    if after is not before and after != before:
        return False
    damage = {kind for kind in before.damage if not kind.startswith("lock-")}
    store = before.store
    if damage & _DIRECTORY:
        return outcome == Accepted(0)
    if damage or (store is None) == before.identity_file:
        return outcome == Refused("DURABILITY_FAILED")
    return outcome == Accepted(store.fencing_epoch if store is not None else 0)
