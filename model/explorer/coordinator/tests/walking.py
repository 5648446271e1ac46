"""Random walks of the real model within a space's rules, held against what the space says of each step."""

from random import Random

from attrs import frozen

from model.explorer.coordinator.space import CoordinatorSpace
from model.explorer.coordinator.values import State
from model.explorer.space import Label, Rule
from model.explorer.taking import take
from model.values import World


@frozen
class Disagreement:
    """The space foretold one thing of `label` in `state`, and the model did another; `None` is not at all."""

    state: State
    label: Label
    foretold: tuple[str, State] | None
    done: tuple[str, State] | None


def walk(space: CoordinatorSpace, *, seed: int, length: int) -> Disagreement | None:
    """Where the space and the model disagree first, if they do.

    Real worlds all the way: nothing is forged, so what the states leave out grows as it does in life.
    """
    dice = Random(seed)
    world = space.worlds()[0]
    for _ in range(length):
        rule = dice.choice(space.rules)
        slot = dice.randrange(space.bounds.ids) if rule.scope in ("local", "call") else None
        found, after = one_step(space, world, rule, slot)
        if found is not None:
            return found
        world = after
    return None


def one_step(
    space: CoordinatorSpace, world: World, rule: Rule, slot: int | None
) -> tuple[Disagreement | None, World]:
    state, label = space.view(world), Label(rule.name, slot)
    action = space.action(label, world)
    result = None if action is None else space.perform(world, action)
    done = None if result is None else (space.outcome_of(result[1]), space.view(result[0]))
    taken = take(space, rule, state, slot)
    foretold = None if taken is None else (taken[0].outcome, taken[1])
    if foretold != done:
        return Disagreement(state, label, foretold, done), world
    return None, world if result is None else result[0]
