"""Predicates over one step: how a row may change, by which operation, and in which numbers.

Each row that a publication changed is held against the diagram of the lifecycle: its own operation took it
along an edge, or the sweep did, which takes due rows alone. On what proof is `model.proofs`' business.
"""

from typing import Final

from model.actions import Action, AdvanceClock, Call
from model.asked import BEFORE_THE_SWEEP, clock_at_sweep, events, host_of
from model.changes import pairs, published
from model.outcomes import Accepted, Outcome
from model.values import Row, World

_SWEEP: Final = frozenset({("reserved", "committed"), ("reserved", "expired")})
EDGES: Final[dict[str, frozenset[tuple[str, str]]]] = {
    "commit": frozenset({("reserved", "committed"), ("committed", "committed")}),
    "renew": frozenset((state, state) for state in ("reserved", "committed", "orphan-suspect")),
    "markOrphanSuspect": frozenset({("committed", "orphan-suspect")}),
    "normalRelease": frozenset({("committed", "released"), ("orphan-suspect", "released")}),
    "forceRelease": frozenset(
        {("reserved", "released"), ("committed", "released"), ("orphan-suspect", "released")}
    ),
}
"""What an operation may do to its own row."""


def is_own(action: Action, row: Row) -> bool:
    """Whether this is an operation about this row that may change it."""
    return (
        isinstance(action, Call)
        and action.operation in EDGES
        and action.arguments.get("id") == row.reservation_id
    )


def new_rows(before: World, after: World) -> list[Row]:
    change = published(before, after)
    if change is None:
        return []
    old = {row.reservation_id for row in change[0].rows} if change[0] is not None else set()
    return [row for row in change[1].rows if row.reservation_id not in old]


def is_due(before: World, action: Action, row: Row) -> bool:
    """When the sweep starts."""
    return row.state == "reserved" and (row.reserved_expires_at or 0) <= clock_at_sweep(before, action)


def _may_become(action: Action, old: Row, new: Row, *, due: bool) -> bool:
    edge = (old.state, new.state)
    if due and edge in _SWEEP:
        return True
    if not is_own(action, old):
        return False
    assert isinstance(action, Call)
    edges = EDGES[action.operation]
    return edge in edges or (due and ("committed", new.state) in edges)


def rows_follow_the_lifecycle(before: World, action: Action, _outcome: Outcome, after: World) -> bool:
    """A row that is due may be swept first, and then be acted on."""
    for row in new_rows(before, after):
        if not isinstance(action, Call) or action.operation != "reserve" or row.state != "reserved":
            return False
        if action.arguments.get("reservationId") != row.reservation_id:
            return False
    return all(
        new is not None and (new == old or _may_become(action, old, new, due=old.state == "reserved"))
        for old, new in pairs(before, after)
    )


def sweeps_take_due_rows(before: World, action: Action, _outcome: Outcome, after: World) -> bool:
    return all(
        old.state != "reserved"
        or is_due(before, action, old)
        or (is_own(action, old) and new is not None and _may_become(action, old, new, due=False))
        for old, new in pairs(before, after)
        if new != old
    )


def late_rows_are_left(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    """`renew` and `commit` come too late once the TTL has passed: by the clock after the project's answer."""
    if not isinstance(outcome, Accepted):
        return True
    for old, new in pairs(before, after):
        if new is None or old.state != "reserved" or not is_own(action, old):
            continue
        assert isinstance(action, Call)
        expires_at = old.reserved_expires_at or 0
        if action.operation == "renew" and new.state == "reserved" and is_due(before, action, old):
            return False
        if action.operation == "commit" and not is_due(before, action, old):
            passed = sum(
                each.ms for each in events(action, AdvanceClock, *BEFORE_THE_SWEEP, ("read_admission", 1))
            )
            others_due = (
                any(row is not old and is_due(before, action, row) for row in before.store.rows)
                if before.store is not None
                else False
            )
            if not others_due and expires_at <= before.clock + passed:
                return False
    return True


def _stays(old: object, new: object) -> bool:
    return old is None or old == new


def bound_values_stay(before: World, action: Action, outcome: Outcome, after: World) -> bool:
    """Admission, attempt and job are bound once, and `commit` answers with what it was given."""
    for old, new in pairs(before, after):
        if new is None or not (
            _stays(old.project_admit_commit_seq, new.project_admit_commit_seq)
            and _stays(old.admit_run_version, new.admit_run_version)
            and _stays(old.attempt_id, new.attempt_id)
            and _stays(old.provider_job_handle, new.provider_job_handle)
            and _stays(old.release_kind, new.release_kind)
            and _stays(old.release_proof_id, new.release_proof_id)
        ):
            return False
    if not isinstance(action, Call) or action.operation != "commit" or not isinstance(outcome, Accepted):
        return True
    row, given = outcome.value, action.arguments
    return isinstance(row, Row) and (
        row.project_admit_commit_seq,
        row.attempt_id,
        row.provider_job_handle,
    ) == (given.get("projectAdmitCommitSeq"), given.get("attemptId"), given.get("providerJobHandle"))


def timed_rows(before: World, action: Action, after: World) -> list[Row]:
    """Those that `reserve` or `renew` has just given a TTL."""
    if not isinstance(action, Call):
        return []
    if action.operation == "reserve":
        return new_rows(before, after)
    return [
        new
        for old, new in pairs(before, after)
        if new is not None and new.state == "reserved" and is_own(action, old)
    ]


def ttl_counts_from_now(before: World, action: Action, _outcome: Outcome, after: World) -> bool:
    """Step 4's clock, which nothing can have moved yet."""
    return all(
        isinstance(action, Call)
        and row.reserved_expires_at is not None
        and row.reserved_expires_at - before.clock == action.arguments.get("ttlMs")
        for row in timed_rows(before, action, after)
    )


def changed_rows(before: World, after: World) -> list[tuple[Row | None, Row]]:
    """Each row that a publication made or changed, and what it was before."""
    changed: list[tuple[Row | None, Row]] = [
        (old, new) for old, new in pairs(before, after) if new is not None and new != old
    ]
    return changed + [(None, row) for row in new_rows(before, after)]


def rows_bear_the_epoch(before: World, action: Action, _outcome: Outcome, after: World) -> bool:
    """But an expired row keeps its own."""
    host = host_of(before, action)
    for old, new in changed_rows(before, after):
        if old is not None and new.state == "expired":
            if new.coordinator_epoch != old.coordinator_epoch:
                return False
        elif host is None or new.coordinator_epoch != host.epoch:
            return False
    return True


def rows_bear_the_time(before: World, action: Action, _outcome: Outcome, after: World) -> bool:
    """Step 4's clock, or, where the sweep may have changed it, a later look; `renewedAt` by `renew` alone."""
    for old, new in changed_rows(before, after):
        swept = old is not None and is_due(before, action, old)
        if not (before.clock <= new.updated_at if swept else before.clock == new.updated_at):
            return False
        renewed = isinstance(action, Call) and action.operation == "renew" and is_own(action, new)
        if new.renewed_at != (before.clock if renewed else old.renewed_at if old is not None else None):
            return False
    return True
