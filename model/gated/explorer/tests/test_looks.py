"""Looks leave out only what means nothing: what happens in a world happens in what is forged of its look."""

import random

import pytest
from attrs import evolve

from model.explorer.space import Label, Rule
from model.gated import initial_world, step
from model.gated.actions import Crash
from model.gated.explorer.damage import tampering_once
from model.gated.explorer.facets import TESTED, Scheming, space_of
from model.gated.explorer.outcomes import outcome_of
from model.gated.explorer.schemes import CLIENTS, Request, fails, told
from model.gated.explorer.space import LedgerSpace
from model.gated.explorer.symbols import is_odd
from model.gated.explorer.transactions import transact
from model.gated.outcomes import Declined
from model.gated.values import Effect, Foul, World

WALKS, STEPS = 6, 25
EVERY = pytest.mark.parametrize("scheme", TESTED, ids=lambda scheme: scheme.__name__)


def labels(space: LedgerSpace) -> list[Label]:
    many = range(space.scheme.clients)
    return [
        Label(rule.name, slot)
        for rule in space.rules
        for slot in ([None] if rule.scope == "whole" else list(many))
    ]


def rules(space: LedgerSpace) -> dict[str, Rule]:
    return {rule.name: rule for rule in space.rules}


def fired(space: LedgerSpace, label: Label, world: World) -> tuple[str, object] | None:
    """What the space says of `label` in `world`: outcome and state after."""
    state = space.view(world)
    rule = rules(space)[label.rule]
    slot = None if label.slot is None else state.slots[label.slot]
    found = space.fire(rule, state.shared, slot, state.slots if slot is None else ())
    if found is None:
        return None
    slots = list(state.slots)
    if label.slot is not None:
        assert found.slot is not None
        slots[label.slot] = found.slot
    return found.outcome, (found.shared, tuple(slots))


def something(space: LedgerSpace, world: World, draw: random.Random) -> Label:
    """One of the labels that can happen."""
    state = space.view(world)
    able = [
        label
        for label in labels(space)
        if space.fire(
            rules(space)[label.rule],
            state.shared,
            None if label.slot is None else state.slots[label.slot],
            state.slots if label.slot is None else (),
        )
    ]
    # Rules that leave things as they are, mostly, are many: others must have their turn.
    return draw.choice([label for label in able if draw.random() < 0.2] or able)


@EVERY
def test_what_happens_in_a_real_world_is_what_the_space_says(scheme: Scheming) -> None:
    space = space_of(scheme)
    draw = random.Random(scheme.__name__)
    for _ in range(WALKS):
        world = initial_world()
        for _ in range(STEPS):
            label = something(space, world, draw)
            said = fired(space, label, world)
            after, outcome = step(world, space.action(label, world))
            assert not isinstance(outcome, Declined), label
            seen = space.view(after)
            assert said == (outcome_of(outcome), (seen.shared, seen.slots)), label
            world = after


@EVERY
def test_what_the_space_says_cannot_happen_is_declined_or_would_not_be_what_it_is_called(
    scheme: Scheming,
) -> None:
    space = space_of(scheme)
    draw = random.Random(f"{scheme.__name__}, declined")
    world = initial_world()
    for _ in range(STEPS * 4):
        label = draw.choice(labels(space))
        meaning = space.meanings[label.rule]
        after, outcome = step(world, space.action(label, world))
        if fired(space, label, world) is not None:
            world = after
        elif not meaning.faults and meaning.tampering is None and not isinstance(outcome, Declined):
            # Of deaths that leave the same behind the first stands for all.
            assert meaning.at
            assert meaning.request is not None
            assert meaning.request.deaths == "telling"


@EVERY
def test_a_forged_world_looks_like_what_it_was_forged_of(scheme: Scheming) -> None:
    space = space_of(scheme)
    draw = random.Random(f"{scheme.__name__}, forged")
    world = initial_world()
    for _ in range(STEPS * 3):
        label = draw.choice(labels(space))
        label = something(space, world, draw) if not fired(space, label, world) else label
        world, _ = step(world, space.action(label, world))
        state = space.view(world)
        assert space.view(space.world(state)) == state
        assert space.world(state).ledger == world.ledger
        assert space.world(state).mirror == world.mirror


def test_effects_of_idempotent_steps_are_told_once_and_others_twice_at_most() -> None:
    space = LedgerSpace(transact())
    world = initial_world()
    again = Effect("run", "r1", "step", True)
    once = Effect("run", "r2", "step", False)
    many = evolve(world, effects=(once, again, again, once, once))
    assert space.looks.look(many).effects == (("run", "r1", "step", True, 1), ("run", "r2", "step", False, 2))
    assert space.looks.look(evolve(many, pardoned=5)).effects == ()
    assert space.looks.look(evolve(many, pardoned=5)).pardoned[1][4] == 1


def test_who_was_told_of_a_line_is_not_mixed_up_where_a_line_stands_twice() -> None:
    space = space_of(tampering_once)
    world = initial_world()
    for name in ("open", "k1", "k2", "tamper line-repeated 1"):
        world, _ = step(world, space.action(Label(name, 0), world))
    state = space.view(world)
    assert len(world.acknowledged) == 2
    assert space.world(state).acknowledged == world.acknowledged


def test_lines_that_no_request_wrote_are_told_by_a_mark_and_come_back() -> None:
    space = LedgerSpace(transact())
    foul = Foul(b"nonsense\n")
    (mark,) = space.looks.alphabet.symbols((foul,))
    assert is_odd(mark)
    assert space.looks.alphabet.entries((mark,)) == (foul,)


def test_a_rule_says_what_it_is() -> None:
    request = Request("k1", transact().requests[2].action)
    faults = fails("append-fsync", "cut:2 fails", "mirror full")
    assert told(faults) == "append-fsync fails, cut:2 fails, mirror full"
    assert request.rule(faults, "cut-done") == f"k1 | {told(faults)} † cut-done"
    space = space_of(transact)
    action = space.action(Label("k1 † append-torn", 0), initial_world())
    assert isinstance(action, Crash)
    assert (action.client, action.at) == (CLIENTS[0], "append-torn")
