"""Each witness is seen where its situation occurs, and not where nothing has happened."""

import random
from collections.abc import Callable

import pytest

from model import initial_world, step
from model.actions import Action, AdvanceClock, Open, ReadEpoch
from model.guards import GUARDS
from model.invariants import INVARIANTS, witnessed
from model.outcomes import Accepted
from model.tests.test_invariants import DAY, past_due, released, two_epochs
from model.tests.worlds import (
    admit,
    call,
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
)
from model.values import World
from model.walk import walk

SEEN: list[tuple[str, Callable[[], tuple[World, Action]]]] = [
    ("S1", lambda: (ok(initial_world(), lease()), Open("h", "alpha", 1, 2))),
    ("S2", lambda: (opened(), reserve())),
    ("S3", lambda: (opened(), reserve())),
    ("S4", lambda: (opened(), reserve())),
    ("S5", lambda: (opened(), reserve())),
    ("S6", lambda: (ok(opened(), reserve(), admit()), commit())),
    ("S7", lambda: (opened(), reserve())),
    ("S8", lambda: (committed(), reserve(2, run=1))),
    ("S9", lambda: (opened(), maximum(4))),
    ("S10", lambda: (opened(maximum=1), reserve())),
    ("true-capacity", lambda: (committed(1, opened(maximum=1)), reserve(2))),
    ("live-runs-fit", lambda: (committed(1, opened(maximum=1)), reserve(2))),
    ("terminal-stays", lambda: (released(), call("renew", id=rid(1)))),
    ("ids-are-used-once", lambda: (released(), reserve())),
    ("time-frees-no-run", lambda: (past_due(), call("snapshot"))),
    ("time-frees-no-committed-row", lambda: (ok(committed(), AdvanceClock(DAY)), call("snapshot"))),
    ("epoch-never-falls", lambda: (ok(opened(), lease(epoch=2)), Open("h2", "alpha", 2, 2))),
    ("older-hosts-are-fenced", lambda: (ok(two_epochs(), lease(epoch=1)), reserve())),
    ("audit-grows", lambda: (opened(), reserve())),
    ("acknowledged-stays", lambda: (opened(), reserve())),
    ("wall-time-never-falls", lambda: (opened(), reserve())),
    ("commands-take-effect-once", lambda: (ok(opened(), reserve(), force()), force())),
    ("refused-writes-nothing", lambda: (past_due(), release(7))),
    ("idle-reads-write-nothing", lambda: (committed(), call("readReservation", id=rid(1)))),
    ("launches-are-fenced", lambda: (committed(), call("dispatch", id=rid(1)))),
    ("nothing-gets-stuck", lambda: (opened(), reserve())),
    ("proof-frees", lambda: (ok(opened(), reserve(), admit()), commit())),
]


@pytest.mark.parametrize(("name", "made"), SEEN, ids=[name for name, _ in SEEN])
def test_a_witness_is_seen_where_its_situation_occurs(
    name: str, made: Callable[[], tuple[World, Action]]
) -> None:
    before, action = made()
    after, outcome = step(before, action)
    assert name in witnessed(before, action, outcome, after)


def test_every_invariant_has_a_witness_that_was_seen() -> None:
    assert [name for name, _ in SEEN] == [each.id for each in INVARIANTS if each not in GUARDS]


def test_where_nothing_happens_nothing_is_witnessed() -> None:
    for world in (initial_world(), opened(), committed(), released(), past_due()):
        assert witnessed(world, ReadEpoch(), Accepted(0), world) == ("durable-epoch-is-told",)
        assert witnessed(world, AdvanceClock(1), Accepted(), ok(world, AdvanceClock(1))) == ()


def test_an_ordinary_step_witnesses_few_of_them() -> None:
    world = opened(maximum=5)
    after, outcome = step(world, reserve())
    rare = {"S6", "S8", "S9", "S10", "true-capacity", "time-frees-no-run", "older-hosts-are-fenced"}
    assert rare.isdisjoint(witnessed(world, reserve(), outcome, after))


def test_walks_see_every_witness() -> None:
    missing = {each.id for each in INVARIANTS}
    for seed in range(60):
        world = initial_world()
        for action in walk(random.Random(seed), 80):
            after, outcome = step(world, action)
            missing.difference_update(witnessed(world, action, outcome, after))
            world = after
        if not missing:
            break
    assert not missing
