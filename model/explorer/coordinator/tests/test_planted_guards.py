"""A guard taken out of the model is a counterexample of the property that says what it is for."""

from contextlib import ExitStack
from typing import Any

import pytest
from attrs import evolve

from model import arguments, operations, running, stepping, sweep
from model.explorer.budget import Budget
from model.explorer.coordinator.bounds import Bounds
from model.explorer.coordinator.facets import BOUNDS
from model.explorer.coordinator.properties import properties
from model.explorer.coordinator.space import OUTCOME_COMES, CoordinatorSpace
from model.explorer.coordinator.tests.faulty import WithoutC1
from model.explorer.coordinator.tests.planting import instead
from model.explorer.coordinator.tests.test_faulty import OPENING, told
from model.explorer.findings import Exploration
from model.explorer.packed import explore
from model.explorer.taking import SpaceError
from model.guards import GUARDS
from model.transaction import Transaction

Text = tuple[Any, str, str]
"""A function of the model, what it says, and what it is made to say instead."""

CALLS = frozenset({"reserve", "commit", "renew", "snapshot", "read", "project", "clock", "release", "orphan"})
ONE = Bounds(groups=CALLS)
PEOPLE = Bounds(callers=("alice", "bob", "root", "eve"), groups=CALLS)
OPERATORS = Bounds(
    commands=1,
    maxima=(1, 2),
    operators=("root", "alice"),
    groups=frozenset({"reserve", "force", "maximum", "read-command"}),
)


def during(*disturbed: str) -> Bounds:
    return Bounds(groups=CALLS | {"disturbed"}, disturbed=disturbed)


OTHER_OWNER: Text = (operations._check_owner, "row.owner_id != who.owner_id or ", "")
FENCE = Transaction.fence

PLANTED: list[tuple[str, Bounds, tuple[Text, ...], tuple[str, ...]]] = [
    ("host-is-open", during("caller-1 closes"),
     ((Transaction.check_open, "not host.is_open", "False"),), ("snapshot while caller-1 closes",)),
    ("damage-is-refused", BOUNDS["damage"],
     ((running.run, "if world.damage:", "if False:"),
      (Transaction.check_files, "if self.world.damage:", "if False:")),
     ("lease", "open", "damage", "open")),
    ("clock-is-not-behind", BOUNDS["time"],
     ((Transaction.look, "now < self.high_water or (base is not None and now < base.last_wall_time)",
       "base is None and now < 0"),),
     ("clock -1 ms", "open")),
    ("lease-is-live", BOUNDS["fencing"], ((FENCE, "lease.expires_at <= now", "now < 0"),),
     ("lease expired", "open")),
    ("lease-is-live", BOUNDS["fencing"],
     ((FENCE, "lease.holder_id != self.host.holder_id", "now < 0"),), ("lease other-holder", "open")),
    ("lease-is-live", BOUNDS["fencing"],
     ((FENCE, "lease.fencing_epoch != self.host.epoch", "now < 0"),), ("open @h2",)),
    ("lease-is-live", during("caller-2 no-lease"),
     ((running._steps, "transaction.check_files()\n    transaction.fence()", "transaction.check_files()"),),
     ("snapshot while caller-2 no-lease",)),
    ("older-hosts-are-refused", BOUNDS["fencing"],
     ((FENCE, "self.base.fencing_epoch > self.host.epoch", "now < 0"),),
     ("lease @h2", "open @h2", "lease @h1", "reserve")),
    (OUTCOME_COMES, BOUNDS["fencing"], ((FENCE, "lease is None", "now < 0"),), ("lease none", "open")),
    ("caller-is-known", PEOPLE,
     ((running._steps, "if transaction.identity is None:", "if False:"),), ("commit @h1 eve",)),
    ("caller-is-known", during("caller-2 owner"),
     ((running._steps, "transaction.authorize(context) != transaction.identity",
       "transaction.authorize(context) is None"),),
     ("snapshot while caller-2 owner",)),
    ("rows-belong-to-their-owners", PEOPLE,
     ((operations._check_owner, "row.owner_id != who.owner_id or row.principal != who.principal", "False"),),
     ("reserve run-a @h1 alice", "reserve run-a @h1 bob")),
    ("rows-belong-to-their-owners", evolve(PEOPLE, callers=("alice",), identities=("other-owner",),
                                           groups=CALLS | {"people"}),
     (OTHER_OWNER,), ("reserve", "alice-becomes other-owner", "reserve")),
    ("operators-alone", OPERATORS, ((operations._command, "not who.operator", "False"),), ("set-maximum",)),
    ("risk-is-acknowledged", BOUNDS["arguments"],
     ((arguments._force_release, 'arguments.get("riskAcknowledgement") is not True', "False"),
      (operations._command, "not who.operator", "False")),
     ("reserve", "odd forceRelease riskAcknowledgement=")),
    ("commands-answer-their-caller", OPERATORS,
     ((operations._find_command, "command.caller_principal != who.principal", "False"),),
     ("set-maximum", "read-command command-1 @h1 alice")),
    ("commands-answer-their-caller", OPERATORS,
     ((operations._command, "known.request != request", "False"),), ("set-maximum", "force-release")),
    ("arguments-have-their-form", BOUNDS["arguments"],
     ((arguments.checked, "names is None or not names.issuperset(arguments)", "names is None"),),
     ("odd reserve state=",)),
    ("rows-follow-the-lifecycle", BOUNDS["killed"],
     ((operations.renew, "not row.holds_slot", "False"),), ("reserve", "force-release", "renew")),
    ("sweeps-take-due-rows", ONE,
     ((sweep.sweep, " or row.reserved_expires_at > start", ""),), ("reserve", "read")),
    ("late-rows-are-left", during("admission raises"),
     ((operations.renew, "expires_at is not None and expires_at <= transaction.look()", "False"),),
     ("reserve", "clock +1 ms", "renew while admission raises")),
    ("late-rows-are-left", during("admission clock+1"),
     ((operations.commit, "row.reserved_expires_at <= transaction.look()", "False"),),
     ("reserve", "admit", "commit while admission clock+1")),
    ("admissions-are-proven", BOUNDS["attempts"],
     ((operations.commit, " or proof.commit_seq != seq", ""),),
     ("reserve", "admit", "commit another-admission")),
    ("admissions-are-proven", during("admission other-run"),
     ((sweep.sweep, " or not verdict.names(row)", ""),),
     ("reserve", "clock +1 ms", "snapshot while admission other-run")),
    ("expiries-are-proven", BOUNDS["elsewhere"],
     ((sweep.sweep, " or not verdict.names(row)", ""),), ("reserve", "clock +1 ms", "abandon run-b", "open")),
    ("releases-are-proven", ONE,
     ((operations.normal_release, "or not proof.frees", ""),), ("reserve", "admit", "commit", "release")),
    ("releases-are-proven", during("proof earlier-version"),
     ((operations.normal_release, "proof.admission.run_version < (row.admit_run_version or 0)", "False"),),
     ("reserve", "admit", "commit", "release while proof earlier-version")),
    ("bound-values-stay", BOUNDS["attempts"],
     ((operations._commit_again,
       "row.attempt_id not in (None, attempt) or row.provider_job_handle not in (None, job)", "False"),),
     ("reserve", "admit", "commit", "commit")),
    ("ttl-counts-from-now", ONE,
     ((operations.renew, "transaction.now + ttl_ms", "expires_at + ttl_ms"),), ("reserve", "renew")),
    ("rows-bear-the-epoch", ONE,
     ((operations.mark_orphan_suspect, "transaction.host.epoch", "transaction.host.epoch - 1"),),
     ("reserve", "admit", "commit", "mark-orphan")),
    ("rows-bear-the-time", ONE,
     ((operations.mark_orphan_suspect, "transaction.now", "transaction.now - 1"),),
     ("reserve", "admit", "commit", "mark-orphan")),
    ("answers-are-what-stands", ONE,
     ((Transaction.snapshot, "self.maximum", "self.maximum + 1"),), ("snapshot",)),
    ("rows-are-as-asked", evolve(ONE, runs=2),
     ((operations.reserve, "row.binding != (project, domain, run) or ", ""),), ("reserve", "reserve")),
    ("rows-are-as-asked", BOUNDS["killed"],
     ((operations.reserve, ' or row.state != "reserved"', ""),), ("reserve", "clock +1 ms", "reserve")),
    ("refusals-are-of-their-kind", Bounds(ids=2, initial=(2,), groups=CALLS),
     ((sweep.sweep, "elif not transaction.binding_is_taken(row):", "else:"),),
     ("reserve", "reserve", "clock +1 ms", "admit", "admit", "read")),
    ("capacity-is-given", ONE,
     ((operations.reserve, "transaction.held() >=", "transaction.held() + 1 >="),), ("reserve",)),
    ("entries-tell-the-commit", ONE,
     ((Transaction.publish, "recorded_at, self.action,", "recorded_at, 'snapshot',"),), ("reserve",)),
    ("only-changes-are-published", ONE, ((Transaction.publish, "if differs:", "if True:"),), ("read",)),
    ("temps-are-removed", BOUNDS["damage"],
     ((running.run, "world = evolve(world, temps=0)", "pass"),), ("lease", "open", "leave-temp", "")),
    ("launches-are-answered", BOUNDS["killed"],
     ((operations.dispatch, "launched=(*world.launched, reservation_id)", "launched=world.launched"),),
     ("reserve", "admit", "commit", "dispatch")),
    ("durable-epoch-is-told", BOUNDS["genesis"],
     ((stepping._read_epoch, "Accepted(store.fencing_epoch)", "Accepted(store.fencing_epoch + 1)"),),
     ("lease @h1", "open", "read-epoch")),
]  # fmt: skip

NOT_EXPLORED = {
    "genesis-happens-once": "below: it takes a genesis that writes the identity first",
    "older-states-are-refused": "a kept state has no past: random walks show it, and the tour `rollback`",
}


def found(space: CoordinatorSpace, steps: int) -> Exploration[Any, Any]:
    asked = properties(space.bounds)
    return explore(space, asked, reduce=True, budget=Budget(depth=steps))


@pytest.mark.parametrize(
    ("name", "bounds", "texts", "steps"),
    PLANTED,
    ids=[f"{at}-{each[0]}" for at, each in enumerate(PLANTED)],
)
def test_without_the_guard_its_property_is_violated_by_a_shortest_trace(
    name: str, bounds: Bounds, texts: tuple[Text, ...], steps: tuple[str, ...]
) -> None:
    with ExitStack() as planted:
        for function, old, new in texts:
            planted.enter_context(instead(function, old, new))
        verdict = found(CoordinatorSpace(bounds), len(steps)).verdict(name)
    assert verdict.verdict == "violated"
    shown = told(verdict.trace)
    assert len(shown) == len(steps), shown
    assert all(word.startswith(step) for word, step in zip(shown, steps, strict=True)), shown


def test_a_store_that_is_made_where_only_its_identity_is_violates_genesis_in_three_steps() -> None:
    anew = instead(Transaction.read_store, "or world.identity_file or", "or")
    with anew:
        verdict = found(WithoutC1(OPENING), 3).verdict("genesis-happens-once")
    assert told(verdict.trace) == ["lease @h1", "die-in-genesis @h1", "open @h1"]


def test_every_guard_has_an_error_planted_for_it() -> None:
    assert {each[0] for each in PLANTED} | NOT_EXPLORED.keys() == {
        *(each.id for each in GUARDS),
        OUTCOME_COMES,
    }


def test_an_error_that_no_property_states_is_a_space_error_that_says_where_to_look() -> None:
    """A fence that sees dead leases as such, but one of them so as no other: nothing is broken by that."""
    refused = "raise RefusalError('COMMAND_FAILED' if lease is None else 'AUTHORITY_REVOKED')"
    bounds = evolve(BOUNDS["fencing"], groups=frozenset({"lease", "open", "close", "snapshot"}))
    first = 'lease.expires_at <= now\n    ):\n        raise RefusalError("AUTHORITY_REVOKED")'
    other = first.replace('raise RefusalError("AUTHORITY_REVOKED")', refused)
    with instead(FENCE, first, other), pytest.raises(SpaceError) as caught:
        found(CoordinatorSpace(bounds), 3)
    assert "hides something that matters" in str(caught.value)
    assert "With nothing hidden from any rule no property is broken" in str(caught.value)
    assert "say as a property what that guard is for" in str(caught.value)
