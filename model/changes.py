"""Predicates over one step: what a transaction may and may not change.

A step that published has one state more in `World.earlier`; `published` gives the state it grew from and
the new one. What somebody does to the files behind the store's back is not the store's change, and nothing
here judges it.
"""

from model.actions import Action, Call, Happens, Open, PutBack
from model.outcomes import Accepted, Outcome, Refused
from model.surroundings import fact_of
from model.values import ADMITTED, TERMINAL, Command, Row, Store, World

_RELEASES = frozenset({"normalRelease", "forceRelease"})
_COMMANDS = frozenset({"forceRelease", "setMaxActiveRuns"})
_READS = frozenset({"readReservation", "readCommand", "snapshot", "dispatch"})


def published(before: World, after: World) -> tuple[Store | None, Store] | None:
    """The state before and after a publication, if the step made one."""
    if len(after.earlier) == len(before.earlier):
        return None
    return before.store, after.earlier[-1]


def pairs(before: World, after: World) -> list[tuple[Row, Row | None]]:
    """Each row before with what became of it, where that is not the same object."""
    change = published(before, after)
    if change is None:
        return []
    old, new = change
    if old is None or old.rows is new.rows:
        return []
    rows = {row.reservation_id: row for row in new.rows}
    return [(row, now) for row in old.rows if (now := rows.get(row.reservation_id)) is not row]


def terminal_rows_stay(before: World, _action: Action, _outcome: Outcome, after: World) -> bool:
    return all(now == row for row, now in pairs(before, after) if row.state in TERMINAL)


def ids_are_never_reused(before: World, _action: Action, _outcome: Outcome, after: World) -> bool:
    return all(
        now is not None
        and now.binding == row.binding
        and now.owner_id == row.owner_id
        and now.principal == row.principal
        for row, now in pairs(before, after)
    )


def _releases(action: Action, row: Row) -> bool:
    """Whether this operation is one that releases this very row."""
    return (
        isinstance(action, Call)
        and action.operation in _RELEASES
        and action.arguments.get("id") == row.reservation_id
    )


def time_frees_no_admitted_run(before: World, action: Action, _outcome: Outcome, after: World) -> bool:
    for row, now in pairs(before, after):
        if now is None or not row.holds_slot or now.holds_slot or _releases(action, row):
            continue
        fact = fact_of(after, row.reservation_id)
        told_an_untruth = f"proofs-true:{row.reservation_id}" in after.broken
        if (fact is None or fact.kind != "abandoned") and not told_an_untruth:
            return False
    return True


def time_frees_no_committed_row(before: World, action: Action, _outcome: Outcome, after: World) -> bool:
    return all(
        now is not None and (now.state in ADMITTED or (now.state == "released" and _releases(action, row)))
        for row, now in pairs(before, after)
        if row.state in ADMITTED
    )


def epoch_never_falls(before: World, _action: Action, _outcome: Outcome, after: World) -> bool:
    change = published(before, after)
    return change is None or change[0] is None or change[1].fencing_epoch >= change[0].fencing_epoch


def older_hosts_change_nothing(before: World, action: Action, _outcome: Outcome, after: World) -> bool:
    """Whoever published had an epoch that no stored one exceeded, and stored it."""
    change = published(before, after)
    if change is None:
        return True
    old, new = change
    if isinstance(action, Open):
        epoch = action.epoch
    else:
        assert isinstance(action, Call)
        epoch = next(host.epoch for host in before.hosts if host.name == action.host)
    return new.fencing_epoch == epoch and (old is None or old.fencing_epoch <= new.fencing_epoch)


def audit_only_grows(before: World, _action: Action, _outcome: Outcome, after: World) -> bool:
    """By one entry for a publication, which bears its commit number and binds its content."""
    change = published(before, after)
    if change is None:
        return True
    old, new = change
    past = old.audit if old is not None else ()
    return (
        len(new.audit) == len(past) + 1
        and new.audit[:-1] == past
        and new.commit_seq == (old.commit_seq if old is not None else 0) + 1
    )


def acknowledged_stays(before: World, _action: Action, _outcome: Outcome, after: World) -> bool:
    """Each state ever published lives on in the audit of the next one, unless the files were rolled back."""
    change = published(before, after)
    if change is None or not before.earlier or "files-stay" in after.broken:
        return True
    last = before.earlier[-1]
    return change[1].audit[: len(last.audit)] == last.audit


def wall_time_never_falls(before: World, _action: Action, _outcome: Outcome, after: World) -> bool:
    change = published(before, after)
    return change is None or change[0] is None or change[1].last_wall_time >= change[0].last_wall_time


def known_command(before: World, action: Action) -> Command | None:
    """The command stored before under the id that this operator's command bears."""
    if not isinstance(action, Call) or action.operation not in _COMMANDS or before.store is None:
        return None
    command_id = action.arguments.get("commandId")
    return next((each for each in before.store.commands if each.command_id == command_id), None)


def commands_take_effect_once(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    """A stored command never changes; its id answers the same again, and does nothing again."""
    change = published(before, after)
    if change is not None:
        old, new = change
        past = old.commands if old is not None else ()
        if new.commands is not past and new.commands[: len(past)] != past:
            return False
        if any(command.commit_seq != new.commit_seq for command in new.commands[len(past) :]):
            return False
    known = known_command(before, action)
    if known is None or not isinstance(outcome, Accepted):
        return True
    if outcome.value != known.result:
        return False
    if change is None:
        return True
    old, new = change
    assert old is not None
    freed = any(row.holds_slot and now and now.state == "released" for row, now in pairs(before, after))
    return new.commands == old.commands and new.max_active_runs == old.max_active_runs and not freed


def _somebody_put_back(action: Action) -> bool:
    return isinstance(action, Open | Call) and any(
        isinstance(each.effect, Happens) and isinstance(each.effect.event, PutBack)
        for each in action.disturbances
    )


def refused_changes_nothing(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    """But a dispatch refused at its last step keeps what it has published."""
    if not isinstance(outcome, Refused) or (isinstance(action, Call) and action.operation == "dispatch"):
        return True
    if len(after.earlier) != len(before.earlier) or after.identity_file != before.identity_file:
        return False
    return after.store is before.store or after.store == before.store or _somebody_put_back(action)


def idle_reads_write_nothing(before: World, action: Action, _outcome: Outcome, after: World) -> bool:
    """A read publishes only what its sweep or a newer epoch changed."""
    change = published(before, after)
    if change is None or not isinstance(action, Call) or action.operation not in _READS:
        return True
    old, new = change
    if old is None or new.commands != old.commands or new.max_active_runs != old.max_active_runs:
        return False
    if any(row.state != "reserved" for row, _ in pairs(before, after)) or len(new.rows) != len(old.rows):
        return False
    return new.rows != old.rows or new.fencing_epoch != old.fencing_epoch


def launches_are_fenced(before: World, action: Action, _outcome: Outcome, after: World) -> bool:
    """An activation runs for a committed row only, once, under the stored epoch."""
    new = after.launched[len(before.launched) :]
    if not new:
        return True
    change = published(before, after)
    store = change[1] if change is not None else before.store
    if len(new) > 1 or not isinstance(action, Call) or store is None:
        return False
    epoch = next(host.epoch for host in before.hosts if host.name == action.host)
    return store.fencing_epoch == epoch and any(
        row.reservation_id == new[0] and row.state == "committed" for row in store.rows
    )
