"""Each witness is seen where its situation occurs, and not where nothing has happened."""

import random
from collections.abc import Callable

import pytest

from model.gated import initial_world, step
from model.gated.actions import Action, Crash, OpenLedger, ReadState, Tamper
from model.gated.invariants import INVARIANTS, witnessed
from model.gated.outcomes import Declined
from model.gated.tests.worlds import (
    a_compensator,
    a_step,
    apply,
    closed,
    counted,
    died,
    fails,
    ok,
    opened,
    put,
    undo,
)
from model.gated.values import World
from model.gated.walk import draw

NEVER_AGAIN = a_step(1, idempotent=False)
AGAIN = apply(NEVER_AGAIN, a_step(2))


def doubtful() -> World:
    return ok(died(opened(), AGAIN, "ran"), OpenLedger("ann"))


def poisoned() -> World:
    return step(counted(1), put("k2", faults=(*fails("append"), *fails("cut"))))[0]


SEEN: list[tuple[str, Callable[[], tuple[World, Action]]]] = [
    ("event-before-commit", lambda: (opened(), put())),
    ("chain-is-whole", lambda: (counted(1), put("k2"))),
    ("mirror-is-a-fold", lambda: (counted(1), put("k2", {"set": {"a": 1}, "remove": ["count"]}))),
    ("key-has-one-effect", lambda: (counted(1), put("k1"))),
    ("effect-at-most-once", lambda: (doubtful(), AGAIN)),
    ("receipts-follow-effects", lambda: (opened(), apply(a_step(1)))),
    ("started-before-effect", lambda: (opened(), apply(NEVER_AGAIN))),
    ("compensation-has-started", lambda: (opened(), undo(a_compensator(1)))),
    ("acknowledged-stays", lambda: (counted(1), OpenLedger("ben"))),
    ("ledger-only-grows", lambda: (counted(1), put("k2"))),
    ("commit-appends-one", lambda: (opened(), put())),
    ("refusal-appends-none", lambda: (opened(), put(faults=fails("append")))),
    ("failure-commits-nothing", lambda: (opened(), put(faults=fails("commit")))),
    ("retry-gets-its-answer", lambda: (counted(2), put("k1"))),
    ("other-request-conflicts", lambda: (counted(2), put("k1", intent=1))),
    ("verifier-keeps-the-gate", lambda: (opened(), put(phase="verify", verifier=False))),
    ("doubt-is-said", lambda: (doubtful(), AGAIN)),
    ("receipt-stands-for-the-effect", lambda: (ok(opened(), undo(a_compensator(1))), undo(a_compensator(1)))),
    ("steps-run-in-order", lambda: (opened(), apply(a_step(1), a_step(2)))),
    ("doubt-stops-all", lambda: (doubtful(), AGAIN)),
    ("done-means-receipts", lambda: (opened(), apply(a_step(1)))),
    ("bad-request-does-nothing", lambda: (opened(), apply(a_step(1), a_step(2, sequence=1)))),
    ("applied-for-good", lambda: (opened(), undo(a_compensator(1, idempotent=False)))),
    ("poison-lasts", lambda: (poisoned(), ReadState("ann"))),
    ("recovery-converges", lambda: (ok(closed(counted(1)), Tamper("mirror-behind")), OpenLedger("ann"))),
    ("damage-is-left-alone", lambda: (ok(counted(2), Tamper("line-swapped", 1)), OpenLedger("ann"))),
    (
        "nothing-lost-in-silence",
        lambda: (ok(closed(counted(1)), Tamper("mirror-deleted")), OpenLedger("ann")),
    ),
    ("crash-is-before-or-after", lambda: (counted(1), Crash("ann", "append-torn", put("k2")))),
    ("refusal-says-what-to-do", lambda: (opened(), put(faults=fails("commit")))),
    ("nothing-gets-stuck", lambda: (counted(1), put("k2", faults=fails("mirror")))),
    ("doubt-can-be-settled", lambda: (counted(1), put("k2", faults=fails("mirror")))),
]


@pytest.mark.parametrize(("name", "made"), SEEN, ids=[name for name, _ in SEEN])
def test_a_witness_is_seen_where_its_situation_occurs(
    name: str, made: Callable[[], tuple[World, Action]]
) -> None:
    before, action = made()
    after, outcome = step(before, action)
    assert name in witnessed(before, action, outcome, after)


def test_each_invariant_has_a_witness_that_was_seen() -> None:
    assert [name for name, _ in SEEN] == [each.id for each in INVARIANTS]


def test_where_nothing_happens_nothing_is_witnessed() -> None:
    for world, action in (
        (opened(), ReadState("ann")),
        (initial_world(), put()),
        (initial_world(), Crash("ann")),
    ):
        after, outcome = step(world, action)
        assert witnessed(world, action, outcome, after) == ()


def test_no_witness_takes_another_kind_of_outcome_amiss() -> None:
    """Whatever the outcome is, even one that cannot be of that action."""
    dice, world = random.Random(5), counted(1)
    outcomes = [step(world, draw(dice, world))[1] for _ in range(60)]
    assert any(isinstance(each, Declined) for each in [*outcomes, Declined("no")])
    for outcome in outcomes:
        for action in (
            put("k1"),
            apply(a_step(1)),
            undo(),
            OpenLedger("ann"),
            ReadState("ann"),
            Crash("ann"),
        ):
            if not isinstance(outcome, Declined):
                continue
            assert witnessed(world, action, outcome, world) == ()
