"""The random walk: the same dice tell the same story, and the stories see everything there is."""

import random
from collections import Counter

import pytest

from model import initial_world, step
from model.actions import OPERATIONS, Action, Answers, Call, Happens, Open, Raises, Reenters
from model.outcomes import CODES, Accepted, Declined, Refused
from model.walk import draw, walk


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
        after, outcome = step(world, draw(dice, world))
        declined += isinstance(outcome, Declined)
        world = after
    assert declined < 200


Seen = Counter[tuple[str, str]]


@pytest.fixture(scope="module")
def seen() -> Seen:
    """How often each kind of action had each outcome, and each effect struck, over some thousand steps."""
    counts: Seen = Counter()
    for seed in range(150):
        world = initial_world()
        for action in walk(random.Random(seed), 60):
            world, outcome = step(world, action)
            name = action.operation if isinstance(action, Call) else type(action).__name__
            counts[name, outcome.code if isinstance(outcome, Refused) else "ok"] += 1
            if isinstance(action, Call | Open):
                for each in action.disturbances:
                    counts[each.moment, type(each.effect).__name__] += 1
    return counts


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_is_accepted_and_refused(seen: Seen, operation: str) -> None:
    assert seen[operation, "ok"] >= 20
    assert sum(seen[operation, code] for code in CODES) >= 20


@pytest.mark.parametrize("kind", [each.__name__ for each in Action.__args__])
def test_every_kind_of_action_happens_but_for_what_the_assumptions_forbid(seen: Seen, kind: str) -> None:
    if kind in ("Resume", "Forget"):
        assert seen[kind, "ok"] == 0
    elif kind != "Call":
        assert seen[kind, "ok"] >= 10


# The refusals that each operation has of its own, as the specification writes them.
REFUSALS = {
    "reserve": ("AUTHORITY_REVOKED", "ADMISSION_BINDING_CONFLICT", "CAPACITY_EXCEEDED", "COMMAND_FAILED"),
    "commit": ("AUTHORITY_REVOKED", "ADMISSION_BINDING_CONFLICT", "COMMAND_FAILED"),
    "renew": ("AUTHORITY_REVOKED", "ADMISSION_BINDING_CONFLICT", "COMMAND_FAILED"),
    "markOrphanSuspect": ("AUTHORITY_REVOKED", "ADMISSION_BINDING_CONFLICT", "COMMAND_FAILED"),
    "normalRelease": (
        "AUTHORITY_REVOKED", "ADMISSION_BINDING_CONFLICT", "RECONCILE_REQUIRED", "COMMAND_FAILED",
    ),
    "forceRelease": (
        "POLICY_DENIED", "CROSS_PRINCIPAL_COMMAND", "IDEMPOTENCY_CONFLICT", "ADMISSION_BINDING_CONFLICT",
        "COMMAND_FAILED",
    ),
    "setMaxActiveRuns": (
        "POLICY_DENIED", "CROSS_PRINCIPAL_COMMAND", "IDEMPOTENCY_CONFLICT", "CAPACITY_EXCEEDED",
        "COMMAND_FAILED",
    ),
    "readReservation": ("AUTHORITY_REVOKED", "COMMAND_FAILED"),
    "readCommand": ("CROSS_PRINCIPAL_COMMAND", "COMMAND_FAILED"),
    "snapshot": ("AUTHORITY_REVOKED",),
    "dispatch": ("AUTHORITY_REVOKED", "ADMISSION_BINDING_CONFLICT", "COMMAND_FAILED"),
    "Open": ("AUTHORITY_REVOKED", "COMMAND_FAILED", "DURABILITY_FAILED"),
}  # fmt: skip


@pytest.mark.parametrize("operation", REFUSALS)
def test_every_operation_meets_each_of_its_own_refusals(seen: Seen, operation: str) -> None:
    assert [code for code in REFUSALS[operation] if not seen[operation, code]] == []
    assert seen[operation, "DURABILITY_FAILED"]


def test_everything_strikes_everywhere(seen: Seen) -> None:
    moments = ("read_lease", "authorize", "read_admission", "abandon_admission_if_absent", "read_release",
               "prepare", "activation")  # fmt: skip
    for moment in moments:
        for effect in (Happens, Answers, Raises, Reenters):
            assert seen[moment, effect.__name__], (moment, effect)
    assert seen["rename", "Happens"]


def test_histories_grow() -> None:
    commits = []
    for seed in range(20):
        world = initial_world()
        for action in walk(random.Random(seed), 150):
            world, outcome = step(world, action)
            assert isinstance(outcome, Accepted | Refused)
        commits.append(world.store.commit_seq if world.store is not None else 0)
    assert sum(commits) / len(commits) >= 20
