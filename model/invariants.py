"""What must be true: one table, each line with its sentence, its source, its predicate and its witness.

`check` names what a step has violated, `witnessed` which invariants it has put to the test. `always`
invariants look at the world after the step; `step` invariants at what changed. All are cheap enough to be
run after each action: what was looked at once is not looked at again while it is the same object.
"""

from collections.abc import Callable
from typing import Final

from model import always, changes, ways_out, witnesses
from model.actions import Action
from model.guards import GUARDS
from model.invariant import Invariant, Witness
from model.outcomes import Outcome
from model.validity import faults
from model.values import ADMITTED, World
from model.witnesses import any_row, published_with


def _clause(clause: str) -> Callable[[World], bool]:
    def predicate(world: World) -> bool:
        store = world.store
        return store is None or clause not in (store.faults if store.faults is not None else faults(store))

    return predicate


def _always(name: str, sentence: str, predicate: Callable[[World], bool], witness: Witness) -> Invariant:
    return Invariant(name, sentence, _LIST, "always", predicate, witness)


def _step(name: str, sentence: str, predicate: Witness, witness: Witness, source: str = "") -> Invariant:
    return Invariant(name, sentence, source or _LIST, "step", predicate, witness)


def _state(name: str, sentence: str, witness: Witness) -> Invariant:
    return Invariant(name, sentence, _TABLE, "always", _clause(name), witness)


_TABLE: Final = "What a state must satisfy"
_LIST: Final = "What must always be true of the whole system"

INVARIANTS: Final[tuple[Invariant, ...]] = (
    _state(
        "S1", "A state has the closed shape, and commitSeq is at least 1.", published_with(lambda _: True)
    ),
    _state("S2", "There are as many audit entries as commits.", published_with(lambda s: s.commit_seq > 1)),
    _state(
        "S3",
        "Audit entries count 1, 2, 3 …, their times never fall, and none has an epoch above the stored one.",
        witnesses.grew,
    ),
    _state(
        "S4",
        "The last audit entry is no later than lastWallTime, and binds the content.",
        witnesses.changed_content,
    ),
    _state(
        "S5",
        "A row's key is its own id, a UUID; it was not updated after lastWallTime, nor by a later epoch.",
        any_row(lambda _: True),
    ),
    _state(
        "S6",
        "Committed and orphan-suspect rows have an admission and no TTL.",
        any_row(lambda row: row.state in ADMITTED),
    ),
    _state("S7", "Reserved rows have a TTL and no admission.", any_row(lambda row: row.state == "reserved")),
    _state("S8", "No two admitted rows share a binding.", witnesses.binding_was_contested),
    _state("S9", "Commands are whole, and keyed by their ids.", witnesses.stored_a_command),
    _state(
        "S10",
        "Slots held never exceed the maximum.",
        published_with(lambda s: s.held == s.max_active_runs),
    ),
    _always(
        "true-capacity",
        "Each admitted run not proven quiescent has its own row, holding a slot or operator-overridden.",
        always.each_live_run_has_its_slot,
        witnesses.full_of_live_runs,
    ),
    _always(
        "live-runs-fit",
        "Live runs never exceed the maximum, but for those for which an operator took the risk.",
        always.live_runs_fit,
        witnesses.full_of_live_runs,
    ),
    _step(
        "terminal-stays",
        "Terminal rows never hold a slot again.",
        changes.terminal_rows_stay,
        witnesses.terminal_row_was_asked_for,
    ),
    _step(
        "ids-are-used-once",
        "Ids are never reused, nor bound to anything else.",
        changes.ids_are_never_reused,
        witnesses.used_id_was_reserved,
    ),
    _step(
        "time-frees-no-run",
        "Time alone never frees an admitted run's slot.",
        changes.time_frees_no_admitted_run,
        witnesses.ttl_of_an_admitted_run_passed,
    ),
    _step(
        "time-frees-no-committed-row",
        "A committed or orphan-suspect row is never freed by time.",
        changes.time_frees_no_committed_row,
        witnesses.committed_row_outlived_a_day,
        source="Reservation lifecycle",
    ),
    _step(
        "epoch-never-falls",
        "The stored fencing epoch never falls.",
        changes.epoch_never_falls,
        witnesses.epoch_rose,
    ),
    _step(
        "older-hosts-are-fenced",
        "Once a newer epoch is stored, an older host never changes anything again.",
        changes.older_hosts_change_nothing,
        witnesses.older_host_was_refused,
    ),
    _step("audit-grows", "The audit chain only grows.", changes.audit_only_grows, witnesses.grew),
    _step(
        "acknowledged-stays",
        "An acknowledged change is in the audit chain for ever.",
        changes.acknowledged_stays,
        witnesses.acknowledged_a_change,
    ),
    _step(
        "wall-time-never-falls",
        "lastWallTime never falls.",
        changes.wall_time_never_falls,
        witnesses.grew,
        source="One transaction, step 4",
    ),
    _step(
        "commands-take-effect-once",
        "A command id has one effect and one answer.",
        changes.commands_take_effect_once,
        witnesses.command_was_repeated,
    ),
    _step(
        "refused-writes-nothing",
        "A refused operation leaves the same bytes.",
        changes.refused_changes_nothing,
        witnesses.refused_with_something_to_write,
    ),
    _step(
        "idle-reads-write-nothing",
        "A read with nothing to sweep and no newer epoch writes nothing.",
        changes.idle_reads_write_nothing,
        witnesses.idle_read,
        source="Operations: reads",
    ),
    _step(
        "launches-are-fenced",
        "An activation runs for a committed row only, under the stored epoch.",
        changes.launches_are_fenced,
        witnesses.launched,
        source="Operations: dispatch",
    ),
    _always(
        "nothing-gets-stuck",
        "Whatever slot is held, forceRelease can free it.",
        ways_out.operator_frees_all,
        witnesses.slot_is_held,
    ),
    _always(
        "proof-frees",
        "Whatever slot is held, arbitration or proof can free it, where its ledger has one.",
        ways_out.proof_frees_all,
        witnesses.proof_would_free,
    ),
    *GUARDS,
)

SLOW: Final = frozenset({"nothing-gets-stuck", "proof-frees"})
"""These two take steps of their own: some 50-150 µs for each row that a publication changed, where all the
others take 15 µs together. A loop in a hurry may leave them out of some steps: a row that still stands is
looked at the next time."""

_ALWAYS: Final = tuple((each.id, each.predicate) for each in INVARIANTS if each.kind == "always")
_STEPS: Final = tuple((each.id, each.predicate) for each in INVARIANTS if each.kind == "step")
_IDLE_STEPS: Final = tuple(
    (each.id, each.predicate) for each in INVARIANTS if each.kind == "step" and not each.of_writing
)
_WITNESSES: Final = tuple((each.id, each.witness) for each in INVARIANTS)
_NONE: Final[frozenset[str]] = frozenset()


def check(
    before: World, action: Action, outcome: Outcome, after: World, *, leave_out: frozenset[str] = _NONE
) -> tuple[str, ...]:
    """The ids of the invariants that this step violates, those in `leave_out` aside."""
    steps = _STEPS if len(after.earlier) != len(before.earlier) else _IDLE_STEPS
    broken = [name for name, holds in _ALWAYS if name not in leave_out and not holds(after)]
    broken += [
        name for name, holds in steps if name not in leave_out and not holds(before, action, outcome, after)
    ]
    return tuple(broken)


def check_world(world: World) -> tuple[str, ...]:
    """The ids of the `always` invariants that `world` violates."""
    return tuple(name for name, holds in _ALWAYS if not holds(world))


def witnessed(before: World, action: Action, outcome: Outcome, after: World) -> tuple[str, ...]:
    """The ids of the invariants that this step puts to the test."""
    return tuple(name for name, seen in _WITNESSES if seen(before, action, outcome, after))
