"""The random walk: the same dice tell the same story, and the stories see everything there is."""

import random
from collections import Counter
from typing import get_args

import pytest

from model.gated import initial_world, step
from model.gated.actions import FAULTS, TAMPERINGS, Action, Crash, Tamper
from model.gated.always import lines_of
from model.gated.changes import answer
from model.gated.invariants import INVARIANTS, witnessed
from model.gated.outcomes import Accepted, Declined, Raised, Refused
from model.gated.running import MOMENTS
from model.gated.values import Mirror
from model.gated.walk import draw, walk


def test_the_same_dice_tell_the_same_story() -> None:
    one, other = (list(walk(random.Random(7), 100)) for _ in range(2))
    assert one == other
    assert list(walk(random.Random(8), 100)) != one


def test_a_walk_has_the_length_asked_for_and_nothing_declined() -> None:
    world = initial_world()
    actions = list(walk(random.Random(1), 70))
    assert len(actions) == 70
    for action in actions:
        world, outcome = step(world, action)
        assert not isinstance(outcome, Declined)


def test_a_walk_goes_on_from_a_world_that_is_given() -> None:
    world = initial_world()
    for action in walk(random.Random(1), 30):
        world, _ = step(world, action)
    for action in walk(random.Random(2), 30, world):
        world, outcome = step(world, action)
        assert not isinstance(outcome, Declined)


def test_few_drawn_actions_are_declined() -> None:
    dice, world, declined = random.Random(3), initial_world(), 0
    for _ in range(1000):
        world, outcome = step(world, draw(dice, world))
        declined += isinstance(outcome, Declined)
    assert declined < 100


Seen = Counter[tuple[str, ...]]


@pytest.fixture(scope="module")
def seen() -> Seen:
    """How often each kind of action had each outcome, and what else occurred, over some thousand steps."""
    counts: Seen = Counter()
    for seed in range(110):
        world = initial_world()
        for action in walk(random.Random(seed), 60):
            after, outcome = step(world, action)
            name = type(action).__name__
            if isinstance(outcome, Refused):
                counts[name, outcome.code, outcome.recoverability] += 1
            elif isinstance(outcome, Raised):
                counts[name, outcome.kind] += 1
            elif isinstance(outcome, Accepted):
                told = answer(outcome)
                counts[name, str(told.get("status") or told.get("mirror") or "ok")] += 1
            if isinstance(outcome, Refused | Raised) and outcome.rollback_failed:
                counts["rollback failed", name] += 1
            if isinstance(action, Crash):
                counts["died at", action.at.partition(":")[0]] += 1
            if isinstance(action, Tamper):
                counts["tampered", action.kind] += 1
            for fault in getattr(action, "faults", ()):
                counts["fault", fault.moment, fault.kind] += 1
            for each in witnessed(world, action, outcome, after):
                counts["witness", each] += 1
            world = after
    return counts


def test_every_witness_is_seen(seen: Seen) -> None:
    assert [each.id for each in INVARIANTS if seen["witness", each.id] < 5] == []


def test_every_kind_of_action_happens(seen: Seen) -> None:
    assert {kind.__name__ for kind in get_args(Action)} <= {each[0] for each in seen}


@pytest.mark.parametrize("moment", [*MOMENTS, "idle"])
def test_somebody_dies_at_every_small_step(seen: Seen, moment: str) -> None:
    assert seen["died at", moment]


@pytest.mark.parametrize("kind", TAMPERINGS)
def test_everything_is_tampered_with(seen: Seen, kind: str) -> None:
    assert seen["tampered", kind]


def test_everything_fails_in_every_way(seen: Seen) -> None:
    for moment, kinds in FAULTS.items():
        for kind in kinds:
            assert seen["fault", moment, kind]
    assert all(seen["rollback failed", name] for name in ("Transact", "ApplySteps", "Compensate"))


APPEND, MIRROR = "LEDGER_APPEND_REQUIRED_FAILED", "SQLITE_MIRROR_FAILED"
COMMIT, INTEGRITY = "SQLITE_COMMIT_AFTER_LEDGER_FAILED", "LEDGER_INTEGRITY_FAILED"
CONFLICT = ("IDEMPOTENCY_CONFLICT", "operator")

OUTCOMES: dict[str, list[tuple[str, ...]]] = {
    "OpenLedger": [
        ("intact",), ("caught-up",), ("rebuilt",), (APPEND, "in_doubt"), (MIRROR, "in_doubt"),
        (INTEGRITY, "operator"),
    ],
    "CloseLedger": [("ok",)],
    "Transact": [
        ("committed",), ("noop",), ("mutation",), ("value-error",), (APPEND, "rollback"),
        (APPEND, "in_doubt"), (APPEND, "operator"), (MIRROR, "retry"), (MIRROR, "in_doubt"),
        (COMMIT, "in_doubt"), CONFLICT, ("VERIFY_GATE_FAILED", "rollback"), (INTEGRITY, "operator"),
    ],
    "ApplySteps": [
        ("completed",), ("in_doubt",), ("step",), ("value-error",), (APPEND, "retry"), (APPEND, "rollback"),
        (APPEND, "in_doubt"), (APPEND, "operator"), CONFLICT, (INTEGRITY, "operator"), (MIRROR, "in_doubt"),
    ],
    "Compensate": [
        ("rolled_back",), ("value-error",), ("COMPENSATION_FAILED", "in_doubt"), CONFLICT, (APPEND, "retry"),
        (APPEND, "rollback"), (APPEND, "in_doubt"), (APPEND, "operator"),
    ],
    "ReadState": [("ok",), (APPEND, "operator")],
}  # fmt: skip


@pytest.mark.parametrize("name", OUTCOMES)
def test_every_call_has_each_of_its_outcomes(seen: Seen, name: str) -> None:
    assert [each for each in OUTCOMES[name] if not seen[(name, *each)]] == []


def test_histories_grow_and_are_mostly_sound() -> None:
    many, open_ones = [], 0
    for seed in range(20):
        world = initial_world()
        for action in walk(random.Random(seed), 100):
            world, _ = step(world, action)
        many.append(len(lines_of(world)))
        open_ones += isinstance(world.mirror, Mirror) and bool(world.clients)
    assert sum(many) / len(many) >= 20
    assert open_ones >= 12
