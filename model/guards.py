"""What each guard is for, as invariants over steps: who may do what, along which edges, on what proof.

A store that has lost a guard shows it in one step: in what it answered, published or launched, and to whom.
`model.invariants` has these in its table. That guards are tried in the right order no line here says: it is
the comparison of store and model that does.
"""

from typing import Final

from model import authority, guard_witnesses, lifecycle, proofs, replies, requests, witnesses
from model.guard_witnesses import was_refused
from model.invariant import Invariant, Witness

_TRANSACTION: Final = "One transaction"
_OPERATIONS: Final = "Operations"


def _guard(
    name: str,
    sentence: str,
    predicate: Witness,
    witness: Witness,
    source: str,
    *,
    of_writing: bool = False,
) -> Invariant:
    return Invariant(name, sentence, source, "step", predicate, witness, of_writing)


AUTHORITY: Final[tuple[Invariant, ...]] = (
    _guard(
        "host-is-open",
        "A host that is closed, or never opened, is answered nothing and changes nothing.",
        authority.host_is_open,
        guard_witnesses.host_was_closed,
        f"{_TRANSACTION}, steps 1 and 9",
    ),
    _guard(
        "damage-is-refused",
        "Nothing is answered or changed while the files are not what they were.",
        replies.damage_is_refused,
        guard_witnesses.files_were_damaged,
        f"{_TRANSACTION}, steps 1 and 9",
    ),
    _guard(
        "genesis-happens-once",
        "A store is made once, by an opening, where no state and no identity is; only opening completes it.",
        replies.genesis_happens_once,
        guard_witnesses.store_was_made,
        "Genesis",
    ),
    _guard(
        "older-states-are-refused",
        "An open store goes on from what it has seen, and from nothing else.",
        replies.older_states_are_refused,
        guard_witnesses.older_state_was_shown,
        "Fixes: C4",
    ),
    _guard(
        "clock-is-not-behind",
        "Nothing is answered or changed under a clock below what the store or its host has seen.",
        authority.clock_is_not_behind,
        guard_witnesses.clock_was_behind,
        f"{_TRANSACTION}, step 4",
    ),
    _guard(
        "lease-is-live",
        "Whoever is answered or changes anything has a live lease, its own and of its epoch, at each look.",
        authority.lease_is_live,
        guard_witnesses.no_live_lease,
        f"{_TRANSACTION}, steps 5, 9 and 10",
    ),
    _guard(
        "older-hosts-are-refused",
        "A host of an older epoch than the stored one is told AUTHORITY_REVOKED, and nothing else.",
        authority.older_hosts_are_refused,
        witnesses.older_host_was_refused,
        f"{_TRANSACTION}, step 5",
    ),
    _guard(
        "caller-is-known",
        "Nobody is answered whom the authority does not name, twice and the same.",
        authority.caller_is_known,
        guard_witnesses.nobody_called,
        f"{_TRANSACTION}, steps 6 and 9",
    ),
    _guard(
        "rows-belong-to-their-owners",
        "A row is renewed, committed, suspected, released, launched and shown for its owner alone.",
        authority.rows_belong_to_their_owners,
        guard_witnesses.another_owner_called,
        _OPERATIONS,
    ),
    _guard(
        "operators-alone",
        "Only an operator's command changes the maximum, forces a release or is stored.",
        authority.operators_alone,
        guard_witnesses.no_operator_called,
        f"{_OPERATIONS}: commands",
    ),
    _guard(
        "risk-is-acknowledged",
        "A slot is forced only where the command names its row, acknowledges the risk and gives a reason.",
        authority.risk_is_acknowledged,
        guard_witnesses.slot_was_forced,
        f"{_OPERATIONS}: forceRelease",
        of_writing=True,
    ),
    _guard(
        "commands-answer-their-caller",
        "A stored command is answered to the principal who gave it, and to the same request.",
        authority.commands_answer_their_caller,
        was_refused("CROSS_PRINCIPAL_COMMAND", "IDEMPOTENCY_CONFLICT"),
        f"{_OPERATIONS}: command rules",
    ),
    _guard(
        "arguments-have-their-form",
        "Nothing is answered that has an unknown, missing or malformed argument.",
        requests.arguments_have_their_form,
        was_refused("COMMAND_FAILED"),
        f"{_OPERATIONS}: arguments",
    ),
)

LIFECYCLE: Final[tuple[Invariant, ...]] = (
    _guard(
        "rows-follow-the-lifecycle",
        "A row is made by its reserve, and changed only along the edges of its own operation or the sweep.",
        lifecycle.rows_follow_the_lifecycle,
        guard_witnesses.row_was_in_the_wrong_state,
        "Reservation lifecycle",
        of_writing=True,
    ),
    _guard(
        "sweeps-take-due-rows",
        "The sweep changes no row before its TTL has passed.",
        lifecycle.sweeps_take_due_rows,
        guard_witnesses.row_was_not_due,
        "Sweep",
        of_writing=True,
    ),
    _guard(
        "late-rows-are-left",
        "No row is renewed or committed for its owner once its TTL has passed.",
        lifecycle.late_rows_are_left,
        guard_witnesses.row_was_late,
        f"{_OPERATIONS}: commit, renew (C16)",
        of_writing=True,
    ),
    _guard(
        "admissions-are-proven",
        "No row is committed but on a proof that names it, its binding, its sequence and its version.",
        proofs.admissions_are_proven,
        guard_witnesses.row_was_admitted,
        f"{_OPERATIONS}: commit; Sweep",
        of_writing=True,
    ),
    _guard(
        "expiries-are-proven",
        "No row expires but on an abandonment that names it and its binding.",
        proofs.expiries_are_proven,
        guard_witnesses.row_expired,
        "Sweep",
        of_writing=True,
    ),
    _guard(
        "releases-are-proven",
        "No row is released normally but on a proof that its very run is over or parked, and nothing alive.",
        proofs.releases_are_proven,
        was_refused("RECONCILE_REQUIRED"),
        f"{_OPERATIONS}: normalRelease",
        of_writing=True,
    ),
    _guard(
        "bound-values-stay",
        "Admission, attempt and job of a row are bound once, and commit answers with those it was given.",
        lifecycle.bound_values_stay,
        guard_witnesses.row_was_committed_again,
        f"{_OPERATIONS}: commit (C10)",
    ),
    _guard(
        "ttl-counts-from-now",
        "A reservation that is made or renewed ends its TTL after the call's first look at the clock.",
        lifecycle.ttl_counts_from_now,
        guard_witnesses.ttl_was_given,
        f"{_OPERATIONS}: reserve, renew",
        of_writing=True,
    ),
    _guard(
        "rows-bear-the-epoch",
        "A row that changes bears the epoch of the host that changed it; one that expires keeps its own.",
        lifecycle.rows_bear_the_epoch,
        guard_witnesses.row_changed,
        _TRANSACTION,
        of_writing=True,
    ),
    _guard(
        "rows-bear-the-time",
        "A row that changes bears the call's first look at the clock, a swept one a later look.",
        lifecycle.rows_bear_the_time,
        guard_witnesses.row_changed,
        _TRANSACTION,
        of_writing=True,
    ),
)

REPLIES: Final[tuple[Invariant, ...]] = (
    _guard(
        "answers-are-what-stands",
        "What is answered of a row, a command, the maximum or the whole is what is stored afterwards.",
        replies.answers_are_what_stands,
        guard_witnesses.something_was_told,
        _OPERATIONS,
    ),
    _guard(
        "rows-are-as-asked",
        "A row is answered in a state that its operation leads to; to reserve, with the binding asked for.",
        replies.rows_are_as_asked,
        guard_witnesses.row_was_in_the_wrong_state,
        _OPERATIONS,
    ),
    _guard(
        "refusals-are-of-their-kind",
        "A refusal has a code that its operation can bring about, and unknown effects by a failure alone.",
        replies.refusals_are_of_their_kind,
        was_refused(),
        "Error codes",
    ),
    _guard(
        "capacity-is-given",
        "Nobody is refused for capacity while there is room.",
        replies.capacity_is_given,
        was_refused("CAPACITY_EXCEEDED"),
        f"{_OPERATIONS}: reserve, setMaxActiveRuns",
    ),
    _guard(
        "entries-tell-the-commit",
        "The audit entry of a commit tells its operation, principal, epoch and time.",
        replies.entries_tell_the_commit,
        guard_witnesses.was_published,
        f"{_TRANSACTION}, step 10",
        of_writing=True,
    ),
    _guard(
        "only-changes-are-published",
        "Where nothing changed, nothing is published.",
        replies.only_changes_are_published,
        guard_witnesses.nothing_was_published,
        f"{_TRANSACTION}, step 10",
        of_writing=True,
    ),
    _guard(
        "temps-are-removed",
        "No leftover temporary file outlives a transaction that is answered.",
        replies.temps_are_removed,
        guard_witnesses.temps_were_left,
        "Fixes: C6",
    ),
    _guard(
        "launches-are-answered",
        "A dispatch that is answered has launched its run, once, and nothing else launches.",
        replies.launches_are_answered,
        guard_witnesses.launch_was_asked_for,
        f"{_OPERATIONS}: dispatch",
    ),
    _guard(
        "durable-epoch-is-told",
        "read_durable_epoch tells the stored epoch, or 0 where no store is, and writes nothing.",
        replies.durable_epoch_is_told,
        guard_witnesses.epoch_was_read,
        f"{_OPERATIONS}: read_durable_epoch",
    ),
)

GUARDS: Final = AUTHORITY + LIFECYCLE + REPLIES
