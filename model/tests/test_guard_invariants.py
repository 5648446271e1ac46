"""The invariants of `model.guards`: each fails on a step that a store without that guard would take, and each
is put to the test where its guard refuses something."""

import random
from collections.abc import Callable

import pytest
from attrs import evolve

from model import initial_world, step
from model.actions import Action, AdvanceClock, Close, Damage, LeaveTemp, Open, PutBack, ReadEpoch
from model.explorer.coordinator.untested import NOT_IN, SHOWN_IN
from model.guards import GUARDS
from model.invariants import INVARIANTS, check, witnessed
from model.outcomes import Accepted, Outcome, Refused
from model.tests.test_invariants import changed, launched, past_due, publish, released, two_epochs
from model.tests.worlds import (
    ATTEMPT,
    TTL,
    admit,
    call,
    cid,
    commit,
    committed,
    force,
    lease,
    maximum,
    ok,
    opened,
    release,
    reserve,
    rid,
    row,
    the_store,
)
from model.values import AuditEntry, Store, World
from model.walk import walk

Step = tuple[World, Action, Outcome, World]
ALL = {each.id: each for each in GUARDS}


def told(world: World, action: Action, answer: object = None) -> Step:
    """A store that answers what it should have refused."""
    return world, action, Accepted(answer), world  # type: ignore[arg-type]  # wrong on purpose


def denied(world: World, action: Action, code: str, side_effects: str = "none") -> Step:
    return world, action, Refused(code, side_effects), world  # type: ignore[arg-type]


def grown(before: World, action: Action, number: int = 1, **changes: object) -> Step:
    """A publication that changed one row, as `action` would have told it."""
    given = {"coordinator_epoch": 1, "updated_at": before.clock, **changes}
    return publish(before, action, rows=changed(before, number, **given))


def made_by(action: Action, **changes: object) -> Step:
    """A reservation, made with something wrong in its row."""
    before = opened()
    after, outcome = step(before, action)
    store = the_store(after)
    rows = (evolve(store.rows[0], **changes),)  # type: ignore[arg-type]  # wrong on purpose
    wrong: Store = evolve(store, rows=rows)
    return before, action, outcome, evolve(after, store=wrong, earlier=(*before.earlier, wrong))


def entry(**changes: object) -> Step:
    """A publication whose audit entry tells something else."""
    before = opened()
    after, outcome = step(before, reserve())
    store = the_store(after)
    last: AuditEntry = evolve(store.audit[-1], **changes)  # type: ignore[arg-type]  # wrong on purpose
    wrong = evolve(store, audit=(*store.audit[:-1], last))
    return before, reserve(), outcome, evolve(after, store=wrong, earlier=(*before.earlier, wrong))


def no_lease() -> World:
    return ok(opened(), lease(epoch=9))


def late() -> World:
    return evolve(opened(), clock=1)


def rolled_back() -> World:
    return ok(opened(), reserve(1), PutBack(0))


def halved() -> World:
    """Neither a whole store nor none: the identity without a state."""
    return evolve(ok(initial_world(), lease()), identity_file=True)


ABANDONED = ok(past_due(), AdvanceClock(1))
OPEN = Open("h", "alpha", 1, 2)

VIOLATIONS: list[tuple[str, Callable[[], Step]]] = [
    ("host-is-open", lambda: told(ok(opened(), Close("h")), call("snapshot"))),
    ("host-is-open", lambda: told(opened(), call("snapshot", host="h7"))),
    ("damage-is-refused", lambda: told(ok(opened(), Damage("state-mode")), call("snapshot"))),
    ("damage-is-refused",
     lambda: denied(ok(opened(), Damage("state-mode")), call("snapshot"), "AUTHORITY_REVOKED")),
    ("genesis-happens-once", lambda: told(initial_world(), OPEN)),
    ("genesis-happens-once", lambda: (halved(), OPEN, Accepted(), opened())),
    ("genesis-happens-once", lambda: told(evolve(opened(), identity_file=False), call("snapshot"))),
    ("older-states-are-refused", lambda: told(rolled_back(), call("snapshot"))),
    ("clock-is-not-behind", lambda: told(late(), call("snapshot"))),
    ("clock-is-not-behind", lambda: denied(late(), reserve(), "ADMISSION_BINDING_CONFLICT")),
    ("lease-is-live", lambda: told(no_lease(), call("snapshot"))),
    ("lease-is-live", lambda: told(ok(opened(), lease(holder="beta")), call("snapshot"))),
    ("lease-is-live", lambda: told(ok(opened(), lease(expires_at=1)), call("snapshot"))),
    ("lease-is-live", lambda: denied(no_lease(), commit(), "ADMISSION_BINDING_CONFLICT")),
    ("older-hosts-are-refused", lambda: told(ok(two_epochs(), lease(epoch=1)), call("snapshot"))),
    ("older-hosts-are-refused",
     lambda: denied(ok(two_epochs(), lease(epoch=1)), reserve(), "DURABILITY_FAILED")),
    ("caller-is-known", lambda: told(opened(), call("snapshot", "eve"))),
    ("caller-is-known", lambda: denied(opened(), commit(7, who="eve"), "ADMISSION_BINDING_CONFLICT")),
    ("rows-belong-to-their-owners", lambda: told(committed(), call("readReservation", "bob", id=rid(1)))),
    ("rows-belong-to-their-owners",
     lambda: grown(committed(), call("markOrphanSuspect", "bob", id=rid(1)), state="orphan-suspect")),
    ("operators-alone", lambda: told(opened(), maximum(5, who="alice"), 5)),
    ("operators-alone", lambda: publish(opened(), max_active_runs=7)),
    ("operators-alone",
     lambda: grown(committed(), release(), state="released", concurrency_guarantee="operator-overridden")),
    ("risk-is-acknowledged",
     lambda: grown(committed(), call("forceRelease", "root", id=rid(1), commandId=cid(1), reason="lost"),
                   state="released", concurrency_guarantee="operator-overridden")),
    ("risk-is-acknowledged",
     lambda: grown(released(), force(), concurrency_guarantee="operator-overridden")),
    ("commands-answer-their-caller", lambda: told(ok(opened(), maximum(5)), maximum(6), 5)),
    ("commands-answer-their-caller",
     lambda: told(ok(opened(), maximum(5)), call("readCommand", "alice", id=cid(1)))),
    ("arguments-have-their-form", lambda: told(opened(), call("snapshot", id=rid(1)))),
    ("arguments-have-their-form", lambda: told(opened(), call("readReservation", id=rid(10).upper()))),
    ("arguments-have-their-form", lambda: told(opened(), reserve(ttl=0))),
    ("arguments-have-their-form", lambda: told(opened(), evolve(OPEN, epoch=True))),
    ("rows-follow-the-lifecycle",
     lambda: grown(committed(), call("renew", id=rid(1)), state="orphan-suspect")),
    ("rows-follow-the-lifecycle", lambda: grown(committed(), call("snapshot"), renewed_at=1)),
    ("rows-follow-the-lifecycle", lambda: grown(committed(), release(), state="reserved")),
    ("sweeps-take-due-rows", lambda: grown(ok(opened(), reserve()), call("snapshot"), state="expired")),
    ("sweeps-take-due-rows", lambda: grown(ok(opened(), reserve()), release(), state="released")),
    ("late-rows-are-left",
     lambda: grown(past_due(), call("renew", id=rid(1), ttlMs=1), reserved_expires_at=past_due().clock + 1)),
    ("admissions-are-proven",
     lambda: grown(ok(opened(), reserve()), commit(), state="committed", project_admit_commit_seq=1)),
    ("admissions-are-proven",
     lambda: grown(ok(opened(), reserve(), admit()), commit(seq=9), state="committed",
                   project_admit_commit_seq=9, admit_run_version=1)),
    ("expiries-are-proven", lambda: grown(ABANDONED, call("snapshot"), state="expired")),
    ("releases-are-proven",
     lambda: grown(committed(), release(), state="released", release_kind="normal", release_proof_id="x")),
    ("bound-values-stay", lambda: grown(committed(), commit(), project_admit_commit_seq=9)),
    ("bound-values-stay", lambda: told(committed(), commit(attempt=ATTEMPT), row(committed(), 1))),
    ("ttl-counts-from-now", lambda: made_by(reserve(), reserved_expires_at=1)),
    ("rows-bear-the-epoch", lambda: made_by(reserve(), coordinator_epoch=0)),
    ("rows-bear-the-time", lambda: made_by(reserve(), updated_at=1)),
    ("rows-bear-the-time", lambda: made_by(reserve(), renewed_at=1)),
    ("answers-are-what-stands", lambda: told(opened(), reserve())),
    ("answers-are-what-stands", lambda: told(opened(), call("snapshot"))),
    ("answers-are-what-stands", lambda: told(committed(), call("readReservation", id=rid(1)))),
    ("rows-are-as-asked", lambda: told(released(), reserve(), row(released(), 1))),
    ("rows-are-as-asked", lambda: told(ok(opened(), reserve()), reserve(run=2), row(committed(), 1))),
    ("rows-are-as-asked", lambda: told(ok(opened(), reserve(run=2)), reserve(),
                                       row(ok(opened(), reserve(run=2)), 1))),
    ("refusals-are-of-their-kind", lambda: denied(opened(), call("snapshot"), "ADMISSION_BINDING_CONFLICT")),
    ("refusals-are-of-their-kind", lambda: denied(opened(), reserve(), "DURABILITY_FAILED", "unknown")),
    ("capacity-is-given", lambda: denied(opened(), reserve(), "CAPACITY_EXCEEDED")),
    ("capacity-is-given", lambda: denied(opened(), maximum(1), "CAPACITY_EXCEEDED")),
    ("entries-tell-the-commit", lambda: entry(action="snapshot")),
    ("entries-tell-the-commit", lambda: entry(principal="p-bob")),
    ("entries-tell-the-commit", lambda: entry(epoch=0)),
    ("entries-tell-the-commit", lambda: entry(recorded_at=1)),
    ("only-changes-are-published", lambda: publish(opened(), reserve())),
    ("temps-are-removed", lambda: told(ok(opened(), LeaveTemp()), call("snapshot"))),
    ("launches-are-answered", lambda: told(committed(), call("dispatch", id=rid(1)))),
    ("launches-are-answered",
     lambda: (*launched(committed())[:2], Refused("COMMAND_FAILED"), launched(committed())[3])),
    ("durable-epoch-is-told", lambda: (two_epochs(), ReadEpoch(), Accepted(1), two_epochs())),
    ("durable-epoch-is-told", lambda: (halved(), ReadEpoch(), Accepted(0), halved())),
]  # fmt: skip

SEEN: list[tuple[str, Callable[[], tuple[World, Action]]]] = [
    ("host-is-open", lambda: (ok(opened(), Close("h")), call("snapshot"))),
    ("damage-is-refused", lambda: (ok(opened(), Damage("state-mode")), call("snapshot"))),
    ("genesis-happens-once", lambda: (ok(initial_world(), lease()), OPEN)),
    ("older-states-are-refused", lambda: (rolled_back(), call("snapshot"))),
    ("clock-is-not-behind", lambda: (late(), call("snapshot"))),
    ("lease-is-live", lambda: (no_lease(), call("snapshot"))),
    ("older-hosts-are-refused", lambda: (ok(two_epochs(), lease(epoch=1)), reserve())),
    ("caller-is-known", lambda: (opened(), call("snapshot", "eve"))),
    ("rows-belong-to-their-owners", lambda: (committed(), call("readReservation", "bob", id=rid(1)))),
    ("operators-alone", lambda: (opened(), maximum(5, who="alice"))),
    ("risk-is-acknowledged", lambda: (committed(), force())),
    ("commands-answer-their-caller", lambda: (ok(opened(), maximum(5)), maximum(6))),
    ("arguments-have-their-form", lambda: (opened(), reserve(ttl=0))),
    ("rows-follow-the-lifecycle", lambda: (released(), call("renew", id=rid(1)))),
    ("sweeps-take-due-rows", lambda: (ok(opened(), reserve()), call("snapshot"))),
    ("late-rows-are-left", lambda: (past_due(), call("renew", id=rid(1), ttlMs=1))),
    ("admissions-are-proven", lambda: (ok(opened(), reserve(), admit()), commit())),
    ("expiries-are-proven", lambda: (ok(opened(), reserve(), AdvanceClock(TTL)), call("snapshot"))),
    ("releases-are-proven", lambda: (committed(), release())),
    ("bound-values-stay", lambda: (committed(), commit(attempt=ATTEMPT))),
    ("ttl-counts-from-now", lambda: (opened(), reserve())),
    ("rows-bear-the-epoch", lambda: (opened(), reserve())),
    ("rows-bear-the-time", lambda: (opened(), reserve())),
    ("answers-are-what-stands", lambda: (opened(), call("snapshot"))),
    ("rows-are-as-asked", lambda: (released(), reserve())),
    ("refusals-are-of-their-kind", lambda: (opened(), commit())),
    ("capacity-is-given", lambda: (committed(1, opened(maximum=1)), reserve(2))),
    ("entries-tell-the-commit", lambda: (opened(), reserve())),
    ("only-changes-are-published", lambda: (opened(), call("snapshot"))),
    ("temps-are-removed", lambda: (ok(opened(), LeaveTemp()), call("snapshot"))),
    ("launches-are-answered", lambda: (committed(), call("dispatch", id=rid(1)))),
    ("durable-epoch-is-told", lambda: (opened(), ReadEpoch())),
]


@pytest.mark.parametrize(
    ("name", "made"), VIOLATIONS, ids=[f"{at}-{each[0]}" for at, each in enumerate(VIOLATIONS)]
)
def test_an_invariant_fails_on_what_a_store_without_that_guard_does(
    name: str, made: Callable[[], Step]
) -> None:
    assert name in check(*made())


@pytest.mark.parametrize(("name", "made"), SEEN, ids=[name for name, _ in SEEN])
def test_it_is_put_to_the_test_where_the_guard_matters_and_holds_there(
    name: str, made: Callable[[], tuple[World, Action]]
) -> None:
    before, action = made()
    after, outcome = step(before, action)
    assert name in witnessed(before, action, outcome, after)
    assert check(before, action, outcome, after) == ()


def test_every_guard_is_seen_to_fail_and_to_matter() -> None:
    assert {name for name, _ in VIOLATIONS} == ALL.keys()
    assert [name for name, _ in SEEN] == list(ALL)
    assert INVARIANTS[-len(GUARDS) :] == GUARDS


def test_what_need_not_be_asked_of_a_step_that_published_nothing_holds_there() -> None:
    asked = [each for each in INVARIANTS if each.of_writing]
    assert len(asked) > 5
    world, idle = initial_world(), 0
    for action in walk(random.Random(5), 300):
        after, outcome = step(world, action)
        if len(after.earlier) == len(world.earlier):
            idle += 1
            assert all(each.predicate(world, action, outcome, after) for each in asked)
            hopeful = (world, action, Accepted(), after)
            assert all(each.predicate(*hopeful) for each in asked)
        world = after
    assert idle > 100


def test_facets_are_said_to_show_guards_that_there_are() -> None:
    assert {*SHOWN_IN, *NOT_IN} <= ALL.keys()
    assert SHOWN_IN.keys().isdisjoint(NOT_IN)
