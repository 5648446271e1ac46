"""Situations in which an invariant matters: a check that never met one has checked nothing.

Each takes a step, `(before, action, outcome, after)`, and says whether the situation occurred in it. None
of them judges; a run that has not seen them all is inconclusive.
"""

from collections.abc import Callable

from model.actions import Action, Call, Open
from model.always import live_runs, row_of
from model.changes import known_command, published
from model.invariant import Witness
from model.outcomes import Accepted, Outcome, Refused
from model.surroundings import fact_of, host_named
from model.values import ADMITTED, HOLDING, TERMINAL, Row, Store, World


def _new(before: World, after: World) -> Store | None:
    return after.earlier[-1] if len(after.earlier) != len(before.earlier) else None


def published_with(condition: Callable[[Store], bool]) -> Witness:
    """A state was published for which `condition` holds."""

    def witness(before: World, _action: Action, _outcome: Outcome, after: World) -> bool:
        store = _new(before, after)
        return store is not None and condition(store)

    return witness


def any_row(condition: Callable[[Row], bool]) -> Witness:
    """A state was published that has such a row."""
    return published_with(lambda store: any(map(condition, store.rows)))


def grew(before: World, _action: Action, _outcome: Outcome, after: World) -> bool:
    """A state was published on top of another."""
    change = published(before, after)
    return change is not None and change[0] is not None


def changed_content(before: World, _action: Action, _outcome: Outcome, after: World) -> bool:
    change = published(before, after)
    return change is not None and change[0] is not None and change[0].rows != change[1].rows


def binding_was_contested(before: World, _action: Action, _outcome: Outcome, after: World) -> bool:
    """A transaction was made while a reserved row had the binding of one that is admitted."""
    store = after.store
    if store is None or before.hosts is after.hosts:
        return False
    admitted = {row.binding for row in store.rows if row.state in ADMITTED}
    return any(row.state == "reserved" and row.binding in admitted for row in store.rows)


def stored_a_command(before: World, _action: Action, _outcome: Outcome, after: World) -> bool:
    change = published(before, after)
    return change is not None and change[0] is not None and change[0].commands != change[1].commands


def full_of_live_runs(before: World, _action: Action, outcome: Outcome, _after: World) -> bool:
    """Somebody was refused for capacity while an admitted run held a slot."""
    return isinstance(outcome, Refused) and outcome.code == "CAPACITY_EXCEEDED" and bool(live_runs(before))


def terminal_row_was_asked_for(before: World, action: Action, outcome: Outcome, _after: World) -> bool:
    """An operation on an id that is used up was refused."""
    if not isinstance(action, Call) or not isinstance(outcome, Refused):
        return False
    asked = action.arguments.get("id")
    row = row_of(before.store, asked) if isinstance(asked, str) else None
    return row is not None and row.state in TERMINAL


def used_id_was_reserved(before: World, action: Action, outcome: Outcome, _after: World) -> bool:
    if not isinstance(action, Call) or action.operation != "reserve" or not isinstance(outcome, Refused):
        return False
    asked = action.arguments.get("reservationId")
    return isinstance(asked, str) and row_of(before.store, asked) is not None


def ttl_of_an_admitted_run_passed(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    """A transaction went through though the TTL of a reserved row had passed, and its run was admitted."""
    if not isinstance(action, Call | Open) or not isinstance(outcome, Accepted) or before.store is None:
        return False
    for row in before.store.rows:
        if row.state == "reserved" and (row.reserved_expires_at or 0) <= before.clock:
            fact = fact_of(after, row.reservation_id)
            if fact is not None and fact.kind == "admitted":
                return True
    return False


def committed_row_outlived_a_day(_before: World, action: Action, outcome: Outcome, after: World) -> bool:
    """A transaction went through long after a row was committed: no TTL can be longer than a day."""
    if not isinstance(action, Call | Open) or not isinstance(outcome, Accepted) or after.store is None:
        return False
    return any(
        row.state in ADMITTED and row.updated_at + 86_400_000 < after.clock for row in after.store.rows
    )


def epoch_rose(before: World, _action: Action, _outcome: Outcome, after: World) -> bool:
    change = published(before, after)
    return change is not None and change[0] is not None and change[0].fencing_epoch < change[1].fencing_epoch


def older_host_was_refused(before: World, action: Action, outcome: Outcome, _after: World) -> bool:
    if not isinstance(action, Call) or not isinstance(outcome, Refused) or before.store is None:
        return False
    host = host_named(before, action.host)
    return host is not None and host.is_open and host.epoch < before.store.fencing_epoch


def acknowledged_a_change(before: World, _action: Action, outcome: Outcome, after: World) -> bool:
    return isinstance(outcome, Accepted) and _new(before, after) is not None


def command_was_repeated(before: World, action: Action, outcome: Outcome, _after: World) -> bool:
    return isinstance(outcome, Accepted) and known_command(before, action) is not None


def refused_with_something_to_write(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    """A refused operation had a due row to sweep, or a newer epoch to store."""
    if not isinstance(action, Call) or not isinstance(outcome, Refused) or before.store is None:
        return False
    host = host_named(before, action.host)
    if host is None or not host.is_open:
        return False
    due = any(
        row.state == "reserved"
        and (row.reserved_expires_at or 0) <= before.clock
        and fact_of(after, row.reservation_id) is not None
        for row in before.store.rows
    )
    return due or host.epoch > before.store.fencing_epoch


def idle_read(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    """A read was answered and wrote nothing."""
    return (
        isinstance(action, Call)
        and action.operation in {"snapshot", "readReservation", "readCommand"}
        and isinstance(outcome, Accepted)
        and len(after.earlier) == len(before.earlier)
    )


def launched(before: World, _action: Action, _outcome: Outcome, after: World) -> bool:
    return len(after.launched) > len(before.launched)


def slot_is_held(before: World, _action: Action, _outcome: Outcome, after: World) -> bool:
    """A state with a held slot was published: somebody must be able to free it."""
    store = _new(before, after)
    return store is not None and any(row.state in HOLDING for row in store.rows)


def proof_would_free(before: World, _action: Action, _outcome: Outcome, after: World) -> bool:
    """A state was published in which a slot is held under a fact that its ledger knows."""
    store = _new(before, after)
    return store is not None and any(
        row.state in ADMITTED and fact_of(after, row.reservation_id) is not None for row in store.rows
    )
