"""A check that never failed is no check: each invariant fails on a step made by hand, and holds on others."""

import random
from collections.abc import Callable

import pytest
from attrs import evolve

from model.gated import initial_world, step, steps
from model.gated.actions import (
    CloseLedger,
    Crash,
    OpenLedger,
    ReadState,
    Tamper,
)
from model.gated.invariants import INVARIANTS, SLOW, check, check_world
from model.gated.outcomes import Accepted, Raised, Refused
from model.gated.tests.handmade import (
    NEVER_AGAIN,
    Step,
    answered,
    applied,
    compensated_again,
    doubtful,
    effect,
    lost,
    mirror_first,
    next_line,
    poisoned,
    quiet,
    ran,
    reopened,
    retried,
    stale,
    swapped,
    told,
    written,
)
from model.gated.tests.worlds import (
    a_compensator,
    a_step,
    apply,
    closed,
    counted,
    fails,
    ledger,
    ok,
    opened,
    put,
    undo,
    value,
)
from model.gated.walk import walk
from model.values import JSON

ALL = {each.id: each for each in INVARIANTS}
RECEIPT = "scheduler.node.receipt"
COMPLETED: dict[str, JSON] = {
    "status": "completed",
    "executedStepIds": [],
    "skippedStepIds": [],
    "receipts": [],
}
ROLLED_BACK: dict[str, JSON] = {"status": "rolled_back"}
INTEGRITY = Refused("LEDGER_INTEGRITY_FAILED", "operator")
IN_DOUBT = Refused("SQLITE_MIRROR_FAILED", "in_doubt")
POISON = Refused("LEDGER_APPEND_REQUIRED_FAILED", "operator")
DIED = Crash("ann", "commit", put("k3"))
JOINED = Tamper("line-edited", 2, 9)
FOR_GOOD = undo(a_compensator(1), a_compensator(2, idempotent=False))
UNORDERED = apply(a_step(1), a_step(2, sequence=1))
VERIFY = put("k3", phase="verify", verifier=False)

VIOLATIONS: list[tuple[str, Callable[[], Step]]] = [
    ("event-before-commit", mirror_first),
    ("event-before-commit", lambda: quiet(evolve(counted(2), ledger=None))),
    ("event-before-commit", lambda: quiet(evolve(swapped(), mirror=counted(3).mirror))),
    ("chain-is-whole", lambda: quiet(swapped())),
    ("chain-is-whole", lambda: quiet(evolve(ok(counted(3), JOINED), wounds=frozenset()))),
    ("mirror-is-a-fold", lambda: quiet(stale())),
    ("key-has-one-effect", lambda: quiet(written(counted(2), next_line(counted(2), "k1")))),
    ("effect-at-most-once", lambda: quiet(ran(ok(opened(), apply(NEVER_AGAIN)), effect(idempotent=False)))),
    ("receipts-follow-effects",
     lambda: quiet(written(counted(1), next_line(counted(1), "r1", "receipt", event=RECEIPT)))),
    ("receipts-follow-effects", lambda: quiet(evolve(ok(opened(), undo(a_compensator(1))), effects=()))),
    ("started-before-effect", lambda: quiet(ran(opened(), effect(idempotent=False)))),
    ("compensation-has-started", lambda: quiet(ran(opened(), effect("undo:s1", compensates=True)))),
    ("compensation-has-started",
     lambda: quiet(ran(ok(opened(), undo()), effect("undo:s1", compensates=True, idempotent=False)))),
    ("acknowledged-stays", lambda: quiet(lost(counted(2)))),
    ("ledger-only-grows", lambda: quiet(lost(counted(2)), counted(2))),
    ("ledger-only-grows", lambda: quiet(ok(opened(), put("other"), put("k2")), counted(2))),
    ("commit-appends-one", lambda: told(counted(2), put("k3"), counted(2))),
    ("commit-appends-one", lambda: told(counted(2), put("k3"), ok(counted(2), put("k3"), put("k4")))),
    ("commit-appends-one", lambda: told(counted(2), put("k3"), ok(counted(2), put("k4")))),
    ("commit-appends-one", lambda: told(counted(2), put("k1"), ok(counted(2), put("k3")))),
    ("commit-appends-one", lambda: (counted(2), ReadState("ann"), Accepted({}), counted(3))),
    ("refusal-appends-none",
     lambda: (counted(2), put("k3"), Refused("LEDGER_APPEND_REQUIRED_FAILED", "rollback"), counted(3))),
    ("refusal-appends-none", lambda: (counted(2), put("k3"), Raised("mutation"), counted(3))),
    ("refusal-appends-none", lambda: (counted(2), put("k3"), IN_DOUBT, ok(counted(2), put("k4")))),
    ("refusal-appends-none", lambda: (counted(2), put("k3"), IN_DOUBT, lost(counted(2)))),
    ("failure-commits-nothing", lambda: (counted(2), put("k3"), IN_DOUBT, counted(3))),
    ("failure-commits-nothing", lambda: (counted(2), put("k3"), Raised("mutation"), counted(3))),
    ("retry-gets-its-answer", retried),
    ("retry-gets-its-answer", lambda: retried(Raised("mutation"))),
    ("retry-gets-its-answer", lambda: retried(Accepted(value(counted(2), put("k2"))))),
    ("retry-gets-its-answer", lambda: retried(Accepted(value(counted(1), put("k1"))))),
    ("other-request-conflicts", lambda: retried(Accepted(value(counted(2), put("k1"))), put("k1", intent=1))),
    ("other-request-conflicts", lambda: retried(Raised("mutation"), put("k1", intent=1))),
    ("verifier-keeps-the-gate",
     lambda: (counted(2), VERIFY, Refused("VERIFY_GATE_FAILED", "rollback"), counted(3))),
    ("verifier-keeps-the-gate", lambda: (counted(2), Crash("ann", "commit", VERIFY), Accepted(), counted(3))),
    ("doubt-is-said", lambda: answered(doubtful(), apply(NEVER_AGAIN), doubtful(), **COMPLETED)),
    ("doubt-is-said",
     lambda: told(doubtful(), apply(NEVER_AGAIN), ran(doubtful(), effect(idempotent=False)))),
    ("receipt-stands-for-the-effect", compensated_again),
    ("receipt-stands-for-the-effect",
     lambda: told(applied(), apply(a_step(1)), ran(applied(), effect()))),
    ("steps-run-in-order",
     lambda: told(opened(), apply(a_step(1), a_step(2)), ran(opened(), effect("r2"), effect("r1")))),
    ("steps-run-in-order", lambda: told(opened(), apply(a_step(1)), ran(opened(), effect(), effect()))),
    ("steps-run-in-order", lambda: told(opened(), apply(a_step(1)), ran(opened(), effect("r2")))),
    ("steps-run-in-order", lambda: told(opened(), put(), ran(opened(), effect()))),
    ("steps-run-in-order",
     lambda: told(opened(), undo(a_compensator(1), a_compensator(2)),
                  ran(opened(), effect("undo:s1"), effect("undo:s2")))),
    ("doubt-stops-all",
     lambda: answered(opened(), apply(a_step(1), a_step(2)), ran(opened(), effect("r1"), effect("r2")),
                      status="in_doubt", stoppedAtStepId="s1")),
    ("doubt-stops-all", lambda: answered(opened(), apply(a_step(1)), opened(), status="in_doubt")),
    ("done-means-receipts",
     lambda: answered(opened(), apply(a_step(1)), ran(opened(), effect()), **COMPLETED)),
    ("done-means-receipts", lambda: answered(opened(), undo(), opened(), **ROLLED_BACK)),
    ("done-means-receipts",
     lambda: answered(opened(), undo(a_compensator(1)), ok(opened(), undo()), **ROLLED_BACK)),
    ("bad-request-does-nothing",
     lambda: (opened(), UNORDERED, Raised("value-error"), ran(opened(), effect()))),
    ("bad-request-does-nothing", lambda: answered(opened(), UNORDERED, opened(), **COMPLETED)),
    ("applied-for-good",
     lambda: (opened(), FOR_GOOD, Refused("COMPENSATION_FAILED", "in_doubt"), ok(opened(), undo()))),
    ("applied-for-good", lambda: answered(opened(), FOR_GOOD, opened(), **ROLLED_BACK)),
    ("poison-lasts", lambda: (poisoned(), ReadState("ann"), Accepted({"count": 1}), poisoned())),
    ("poison-lasts",
     lambda: (poisoned(), put("k2"), POISON, written(poisoned(), next_line(poisoned(), "k2")))),
    ("poison-lasts", lambda: (poisoned(), put("k2"), IN_DOUBT, poisoned())),
    ("recovery-converges", lambda: reopened(ok(counted(1), Tamper("tail-torn", n=3)))),
    ("recovery-converges", lambda: reopened(evolve(counted(2), mirror=counted(1).mirror))),
    ("recovery-converges", lambda: reopened(stale())),
    ("recovery-converges", lambda: reopened(evolve(counted(1), mirror="missing"))),
    ("damage-is-left-alone", lambda: (counted(2), OpenLedger("ann"), INTEGRITY, lost(counted(2)))),
    ("damage-is-left-alone",
     lambda: (counted(2), OpenLedger("ann"), INTEGRITY, evolve(counted(2), mirror="missing"))),
    ("nothing-lost-in-silence",
     lambda: told(ok(closed(counted(2)), Tamper("mirror-deleted")), OpenLedger("ann"),
                  evolve(lost(counted(2)), acknowledged=counted(1).acknowledged))),
    ("crash-is-before-or-after", lambda: (counted(1), DIED, Accepted(), counted(3))),
    ("crash-is-before-or-after", lambda: (counted(1), DIED, Accepted(), counted(2))),
    ("crash-is-before-or-after", lambda: (counted(2), DIED, Accepted(), lost(counted(2)))),
    ("refusal-says-what-to-do",
     lambda: (opened(), put(), Refused("SQLITE_COMMIT_AFTER_LEDGER_FAILED", "retry"), opened())),
    ("nothing-gets-stuck", lambda: quiet(swapped())),
    ("nothing-gets-stuck", lambda: quiet(lost(counted(2)))),
    ("doubt-can-be-settled", lambda: (swapped(), put("k4"), IN_DOUBT, swapped())),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "made"), VIOLATIONS, ids=[f"{at}-{each[0]}" for at, each in enumerate(VIOLATIONS)]
)
def test_an_invariant_fails_on_a_step_that_violates_it(name: str, made: Callable[[], Step]) -> None:
    assert name in check(*made())
    assert name not in check(*made(), leave_out=frozenset({name}))


def test_every_invariant_is_seen_to_fail() -> None:
    assert {name for name, _ in VIOLATIONS} == set(ALL)


def test_every_invariant_says_what_it_is_and_where_it_comes_from() -> None:
    assert len(ALL) == len(INVARIANTS)
    for each in INVARIANTS:
        assert each.sentence.endswith(".")
        assert each.source
        assert each.kind in ("always", "step")


def test_the_steps_that_they_are_made_from_are_innocent() -> None:
    for world in (opened(), counted(3), doubtful(), ok(opened(), undo(a_compensator(1)), apply(NEVER_AGAIN))):
        assert check_world(world) == ()
    behind, _ = step(counted(2), put("k3", faults=fails("mirror")))
    assert check_world(behind) == ()
    assert check_world(written(counted(2), next_line(counted(2), "k3"))) == ()


@pytest.mark.parametrize("seed", range(40))
def test_a_random_walk_violates_nothing(seed: int) -> None:
    world = initial_world()
    for action in walk(random.Random(seed), 60):
        after, outcome = step(world, action)
        assert check(world, action, outcome, after) == ()
        world = after


@pytest.mark.parametrize("seed", range(6))
def test_no_world_between_two_small_steps_violates_anything(seed: int) -> None:
    world = initial_world()
    for action in walk(random.Random(seed), 40):
        inside = action.inside if isinstance(action, Crash) and action.inside is not None else action
        if not isinstance(inside, CloseLedger | Tamper | Crash):
            for name, between in steps(world, inside):
                assert check_world(between) == (), (action, name)
        world, _ = step(world, action)


def test_what_somebody_did_to_the_files_is_not_held_against_the_store() -> None:
    for tampering in (Tamper("line-swapped", 1), Tamper("tail-cut", n=1), Tamper("ledger-deleted")):
        after = ok(counted(3), tampering)
        assert check(counted(3), tampering, Accepted(), after) == ()
        opened_anew, outcome = step(after, OpenLedger("ann"))
        assert check(after, OpenLedger("ann"), outcome, opened_anew) == ()


def test_the_slow_one_can_be_left_out() -> None:
    stuck = dict(VIOLATIONS)["nothing-gets-stuck"]()
    assert set(check(*stuck)) - set(check(*stuck, leave_out=SLOW)) == SLOW


def test_the_hand_made_ledger_is_read_as_one() -> None:
    assert ledger(written(counted(2))) == ledger(counted(2))
