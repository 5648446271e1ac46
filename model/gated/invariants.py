"""What must be true of the ledger-gated store: each line with its sentence, source, predicate and witness.

`check` names what a step has violated, `witnessed` which invariants it has put to the test. `always`
invariants look at the world after the step; `step` invariants at what changed.
"""

from collections.abc import Callable
from typing import Final, Literal

from attrs import frozen

from model.gated import always, changes, ways_out, witnesses
from model.gated.actions import Action
from model.gated.outcomes import Outcome
from model.gated.values import World
from model.gated.witnesses import Witness


@frozen
class Invariant:
    """`predicate` takes `(world)` if `kind` is `always`, else `(before, action, outcome, after)`.

    `witness` takes the latter: whether a situation in which the invariant matters occurred.
    """

    id: str
    sentence: str
    source: str
    kind: Literal["always", "step"]
    predicate: Callable[..., bool]
    witness: Witness


def _always(
    name: str, source: str, sentence: str, predicate: Callable[[World], bool], witness: Witness
) -> Invariant:
    return Invariant(name, sentence, source, "always", predicate, witness)


def _step(name: str, source: str, sentence: str, predicate: Witness, witness: Witness) -> Invariant:
    return Invariant(name, sentence, source, "step", predicate, witness)


_PROMISE: Final = "The promise"
_RECORDS: Final = "Records"
_TRANSACTION: Final = "run_ledger_gated_transaction"
_STEPS: Final = "apply_receipted_steps"
_COMPENSATION: Final = "run_gated_compensation"
_RECOVERY: Final = "Recovery"

INVARIANTS: Final[tuple[Invariant, ...]] = (
    _always(
        "event-before-commit",
        _PROMISE,
        "Nothing is committed whose event does not stand in the ledger, at the same place.",
        always.mirror_is_never_ahead,
        witnesses.committed,
    ),
    _always(
        "chain-is-whole",
        _RECORDS,
        "Lines count 1, 2, 3 …, each is valid, and each names the one before it.",
        always.chain_is_whole,
        witnesses.grew,
    ),
    _always(
        "mirror-is-a-fold",
        _RECOVERY,
        "The mirror's rows are what the lines it has seen make of nothing.",
        always.mirror_is_a_fold,
        witnesses.rows_were_removed,
    ),
    _always(
        "key-has-one-effect",
        _TRANSACTION,
        "No key stands twice in its namespace.",
        always.keys_are_used_once,
        witnesses.known_key_was_asked_for,
    ),
    _always(
        "effect-at-most-once",
        "Fixes: L2",
        "The effect of a step that is not idempotent happens at most once.",
        always.effects_happen_once,
        witnesses.started_step_was_asked_for,
    ),
    _always(
        "receipts-follow-effects",
        _STEPS,
        "No receipt is there before its effect has happened.",
        always.receipts_follow_effects,
        witnesses.wrote(lambda line: line.record.phase == "receipt"),
    ),
    _always(
        "started-before-effect",
        _STEPS,
        "A step that is not idempotent has a durable start before its effect happens.",
        always.started_before_effect,
        witnesses.something_ran("step", idempotent=False),
    ),
    _always(
        "compensation-has-started",
        _COMPENSATION,
        "No compensator runs without its durable start, and none that is not idempotent.",
        always.compensation_was_started,
        witnesses.something_ran("compensator", idempotent=True),
    ),
    _always(
        "acknowledged-stays",
        _PROMISE,
        "What somebody was told of stands in the ledger for ever.",
        always.acknowledged_is_durable,
        witnesses.acknowledged_and_opened,
    ),
    _step(
        "ledger-only-grows",
        _PROMISE,
        "No valid line of the ledger is ever changed or taken away.",
        changes.ledger_only_grows,
        witnesses.grew,
    ),
    _step(
        "commit-appends-one",
        _TRANSACTION,
        "A committed transaction appends one line, its own; a no-op, a reading and an opening none.",
        changes.commits_append_one,
        witnesses.committed,
    ),
    _step(
        "refusal-appends-none",
        _TRANSACTION,
        "A refused transaction appends nothing; one in doubt at most its own line.",
        changes.refusals_append_nothing,
        witnesses.refused_with("LEDGER_APPEND_REQUIRED_FAILED", "rollback"),
    ),
    _step(
        "failure-commits-nothing",
        _PROMISE,
        "A transaction that failed leaves the state unmutated.",
        changes.failures_commit_nothing,
        witnesses.failed_after_its_append,
    ),
    _step(
        "retry-gets-its-answer",
        "Fixes: L1",
        "The same request again gets its stored record and the present state, and nobody calls mutate.",
        changes.retries_get_their_answer,
        witnesses.known_key_was_asked_after_a_change,
    ),
    _step(
        "other-request-conflicts",
        _TRANSACTION,
        "A known key with another request is never answered, and nobody calls mutate.",
        changes.other_requests_conflict,
        witnesses.conflict,
    ),
    _step(
        "verifier-keeps-the-gate",
        _TRANSACTION,
        "In phase verify nothing is appended unless the verifier says yes.",
        changes.no_means_no,
        witnesses.refused_with("VERIFY_GATE_FAILED"),
    ),
    _step(
        "doubt-is-said",
        "Fixes: L2",
        "A step that was started, without a receipt, does not run, and nobody is told that all is done.",
        changes.doubt_is_said,
        witnesses.started_step_was_asked_for,
    ),
    _step(
        "receipt-stands-for-the-effect",
        "Fixes: L3",
        "What has a durable receipt, a step or a compensator, is not run again.",
        changes.receipts_are_not_run_again,
        witnesses.durable_receipt_came_up,
    ),
    _step(
        "steps-run-in-order",
        "Fixes: L4",
        "Steps run in the order of their sequences, compensators against it, each once.",
        changes.steps_run_in_order,
        witnesses.two_ran,
    ),
    _step(
        "doubt-stops-all",
        _STEPS,
        "After the step at which a result is in doubt no other runs.",
        changes.nothing_runs_after_a_doubt,
        witnesses.stopped_with_more_to_come,
    ),
    _step(
        "done-means-receipts",
        _STEPS,
        "Who is told that all is done finds each receipt in the ledger.",
        changes.completed_means_receipts,
        witnesses.all_was_done,
    ),
    _step(
        "bad-request-does-nothing",
        "Fixes: L4",
        "Equal sequences, equal ids or colliding keys: nothing runs, nothing is written.",
        changes.bad_requests_do_nothing,
        witnesses.bad_request,
    ),
    _step(
        "applied-for-good",
        _COMPENSATION,
        "With a step applied that is not idempotent nothing is compensated, and nothing written.",
        changes.applied_for_good,
        witnesses.applied_for_good,
    ),
    _step(
        "poison-lasts",
        _TRANSACTION,
        "A client that could not take back what it wrote does nothing more until it opens anew.",
        changes.poison_lasts,
        witnesses.poisoned_client_asked,
    ),
    _step(
        "recovery-converges",
        _RECOVERY,
        "After an opening the mirror is the fold of the whole ledger, and no piece of a line is left.",
        changes.recovery_converges,
        witnesses.something_to_recover,
    ),
    _step(
        "damage-is-left-alone",
        _RECOVERY,
        "A refusal for integrity changes no byte of the ledger and no row of the mirror.",
        changes.damage_is_left_alone,
        witnesses.refused_with("LEDGER_INTEGRITY_FAILED"),
    ),
    _step(
        "nothing-lost-in-silence",
        _RECOVERY,
        "With one file tampered with, an opening that succeeds has all that was acknowledged.",
        changes.nothing_is_lost_in_silence,
        witnesses.opened_with_something_acknowledged,
    ),
    _step(
        "crash-is-before-or-after",
        _RECOVERY,
        "A client that dies in a transaction leaves its line whole, torn or not at all, and no other.",
        changes.a_crash_is_before_or_after,
        witnesses.died_in_a_transaction,
    ),
    _step(
        "refusal-says-what-to-do",
        "Errors",
        "Each refusal has a code of the table, with a recoverability that belongs to it.",
        changes.refusals_say_what_to_do,
        witnesses.refused_with("SQLITE_COMMIT_AFTER_LEDGER_FAILED"),
    ),
    _always(
        "nothing-gets-stuck",
        _RECOVERY,
        "Whatever has happened, a new client can open the store, finds all acknowledged, and commits.",
        ways_out.somebody_can_go_on,
        witnesses.store_is_out_of_step,
    ),
    _step(
        "doubt-can-be-settled",
        _RECOVERY,
        "Whoever was left in doubt, opens the store anew and asks again, is told.",
        ways_out.doubt_can_be_settled,
        witnesses.left_in_doubt,
    ),
)

SLOW: Final = frozenset({"nothing-gets-stuck"})
"""It takes steps of its own, and reads the whole ledger: with 50 lines as long as all the others together,
for each action. A loop in a hurry may leave it out of some steps."""

_ALWAYS: Final = tuple((each.id, each.predicate) for each in INVARIANTS if each.kind == "always")
_STEP: Final = tuple((each.id, each.predicate) for each in INVARIANTS if each.kind == "step")
_WITNESSES: Final = tuple((each.id, each.witness) for each in INVARIANTS)
_NONE: Final[frozenset[str]] = frozenset()


def check(
    before: World, action: Action, outcome: Outcome, after: World, *, leave_out: frozenset[str] = _NONE
) -> tuple[str, ...]:
    """The ids of the invariants that this step violates, those in `leave_out` aside."""
    broken = [name for name, holds in _ALWAYS if name not in leave_out and not holds(after)]
    broken += [
        name for name, holds in _STEP if name not in leave_out and not holds(before, action, outcome, after)
    ]
    return tuple(broken)


def check_world(world: World) -> tuple[str, ...]:
    """The ids of the `always` invariants that `world` violates."""
    return tuple(name for name, holds in _ALWAYS if not holds(world))


def witnessed(before: World, action: Action, outcome: Outcome, after: World) -> tuple[str, ...]:
    """The ids of the invariants that this step puts to the test."""
    return tuple(name for name, seen in _WITNESSES if seen(before, action, outcome, after))
