"""Situations in which the invariants of `model.guards` matter; see `model.witnesses`."""

from model.actions import Action, Call, Open, ReadEpoch
from model.asked import caller
from model.authority import (
    OF_OPERATORS,
    OF_OWNERS,
    asked_for,
    came_to_the_door,
    forced,
    is_behind,
    is_known,
    is_live,
    is_owner,
)
from model.changes import published
from model.invariant import Witness
from model.lifecycle import changed_rows, is_due, timed_rows
from model.outcomes import Accepted, Outcome, Refused
from model.proofs import admitted_rows, expired_rows
from model.surroundings import host_named
from model.values import Row, Snapshot, World


def was_refused(*codes: str, operations: frozenset[str] | None = None) -> Witness:
    """A call was refused with one of these codes; with any, if none is named."""

    def witness(_before: World, action: Action, outcome: Outcome, _after: World) -> bool:
        if not isinstance(action, Call) or not isinstance(outcome, Refused):
            return False
        fits = operations is None or action.operation in operations
        return fits and (not codes or outcome.code in codes)

    return witness


def _was_revoked(before: World, action: Action, outcome: Outcome) -> bool:
    return (
        isinstance(outcome, Refused)
        and outcome.code == "AUTHORITY_REVOKED"
        and came_to_the_door(before, action, outcome)
    )


def no_live_lease(before: World, action: Action, outcome: Outcome, _after: World) -> bool:
    if not _was_revoked(before, action, outcome):
        return False
    assert isinstance(action, Call)
    host = host_named(before, action.host)
    return host is not None and not is_live(before.lease, host, before.clock)


def host_was_closed(_before: World, action: Action, outcome: Outcome, after: World) -> bool:
    if not isinstance(action, Call) or not isinstance(outcome, Refused):
        return False
    host = host_named(after, action.host)
    return host is not None and not host.is_open


def clock_was_behind(before: World, action: Action, outcome: Outcome, _after: World) -> bool:
    return isinstance(outcome, Refused) and isinstance(action, Call) and is_behind(before, action)


def nobody_called(before: World, action: Action, outcome: Outcome, _after: World) -> bool:
    if not _was_revoked(before, action, outcome):
        return False
    assert isinstance(action, Call)
    return not is_known(dict(before.people).get(action.context))


def another_owner_called(before: World, action: Action, outcome: Outcome, _after: World) -> bool:
    if not isinstance(action, Call) or action.operation not in OF_OWNERS or not isinstance(outcome, Refused):
        return False
    who, row = caller(before, action), asked_for(action, before.store)
    return who is not None and row is not None and not is_owner(who, row)


def no_operator_called(before: World, action: Action, outcome: Outcome, _after: World) -> bool:
    if not isinstance(action, Call) or action.operation not in OF_OPERATORS:
        return False
    who = caller(before, action)
    return isinstance(outcome, Refused) and who is not None and not who.operator


def slot_was_forced(before: World, _action: Action, _outcome: Outcome, after: World) -> bool:
    return bool(forced(before, after))


def row_was_in_the_wrong_state(before: World, action: Action, outcome: Outcome, _after: World) -> bool:
    if not isinstance(outcome, Refused) or outcome.code != "ADMISSION_BINDING_CONFLICT":
        return False
    return asked_for(action, before.store) is not None


def row_was_not_due(before: World, action: Action, outcome: Outcome, _after: World) -> bool:
    """A sweep went by a row that has time left."""
    if not isinstance(action, Call | Open) or not isinstance(outcome, Accepted) or before.store is None:
        return False
    return any(row.state == "reserved" and not is_due(before, action, row) for row in before.store.rows)


def row_was_late(before: World, action: Action, outcome: Outcome, _after: World) -> bool:
    """Its owner came too late to renew or to commit it."""
    if not isinstance(action, Call) or action.operation not in ("renew", "commit"):
        return False
    row = asked_for(action, before.store)
    return isinstance(outcome, Refused) and row is not None and is_due(before, action, row)


def row_was_admitted(before: World, _action: Action, _outcome: Outcome, after: World) -> bool:
    return bool(admitted_rows(before, after))


def row_expired(before: World, _action: Action, _outcome: Outcome, after: World) -> bool:
    return bool(expired_rows(before, after))


def row_was_committed_again(before: World, action: Action, _outcome: Outcome, _after: World) -> bool:
    if not isinstance(action, Call) or action.operation != "commit":
        return False
    row = asked_for(action, before.store)
    return row is not None and row.state == "committed"


def ttl_was_given(before: World, action: Action, _outcome: Outcome, after: World) -> bool:
    return bool(timed_rows(before, action, after))


def row_changed(before: World, _action: Action, _outcome: Outcome, after: World) -> bool:
    return bool(changed_rows(before, after))


def something_was_told(_before: World, action: Action, outcome: Outcome, _after: World) -> bool:
    return (
        isinstance(action, Call)
        and isinstance(outcome, Accepted)
        and isinstance(outcome.value, Row | Snapshot)
    )


def was_published(before: World, _action: Action, _outcome: Outcome, after: World) -> bool:
    return published(before, after) is not None


def nothing_was_published(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    """A call was answered, and there was nothing to write."""
    return isinstance(action, Call) and isinstance(outcome, Accepted) and published(before, after) is None


def files_were_damaged(before: World, action: Action, outcome: Outcome, _after: World) -> bool:
    return isinstance(action, Call | Open) and isinstance(outcome, Refused) and bool(before.damage)


def temps_were_left(before: World, action: Action, outcome: Outcome, _after: World) -> bool:
    return isinstance(action, Call | Open) and isinstance(outcome, Accepted) and before.temps > 0


def store_was_made(before: World, _action: Action, _outcome: Outcome, after: World) -> bool:
    change = published(before, after)
    return change is not None and change[0] is None


def older_state_was_shown(before: World, action: Action, outcome: Outcome, _after: World) -> bool:
    """An open host was refused that had seen a later state, or another."""
    if not isinstance(action, Call) or not isinstance(outcome, Refused) or before.store is None:
        return False
    host = host_named(before, action.host)
    if host is None or host.seen is None or outcome.code != "DURABILITY_FAILED":
        return False
    return host.is_open and before.store.commit_seq <= host.seen.commit_seq and before.store != host.seen


def launch_was_asked_for(_before: World, action: Action, _outcome: Outcome, _after: World) -> bool:
    return isinstance(action, Call) and action.operation == "dispatch"


def epoch_was_read(_before: World, action: Action, outcome: Outcome, _after: World) -> bool:
    return isinstance(action, ReadEpoch) and isinstance(outcome, Accepted)
