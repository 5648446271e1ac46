"""Random walks through model and store in lockstep: thousands of checked actions a second.

The next action is drawn by a function of the random generator and the model's world, so a walk is a function
of its seed. A walk stops at the first difference; what becomes of a difference is `failures`' business.
"""

import random
import time
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

import model
from model.actions import Action
from model.outcomes import Declined
from model.values import World
from stateful_tests.pair import Judge, StepRecord
from stateful_tests.replay import Factory
from stateful_tests.system import COORDINATOR, Counts, Draw, System, system_named


@frozen
class Walk:
    """What one walk saw. `seconds` is the time spent on steps, drawing them excluded."""

    records: tuple[StepRecord, ...]
    seconds: float

    @property
    def failed(self) -> bool:
        return bool(self.records) and self.records[-1].divergence is not None


def walk(
    draw: Draw,
    seed: str,
    steps: int,
    directory: Path,
    *,
    coverage: Counts,
    factory: Factory | None = None,
    judge: Judge | None = None,
    system: System | None = None,
) -> Walk:
    """One walk of `steps` actions through a fresh store in `directory`: the coordinator's, unless given."""
    system = system or system_named(COORDINATOR)
    rng = random.Random(seed)
    target = (factory or system.target)(directory)
    records: list[StepRecord] = []
    seconds = 0.0
    try:
        pair = system.pair(target, system.initial({}), judge)
        for _ in range(steps):
            before = pair.world
            action = draw(rng, before)
            started = time.perf_counter()
            record = pair.step(action)
            seconds += time.perf_counter() - started
            records.append(record)
            coverage.see(before, record, pair.world)
            if record.divergence is not None:
                break
    finally:
        target.close()
    return Walk(tuple(records), seconds)


def model_walk(draw: Draw, seed: str, steps: int) -> Sequence[tuple[World, Action, World]]:
    """The steps of a walk of the model alone, declined ones left out, for whoever only needs the actions."""
    rng = random.Random(seed)
    world = model.initial_world()
    taken = []
    for _ in range(steps):
        action = draw(rng, world)
        after, outcome = model.step(world, action)
        if isinstance(outcome, Declined):
            continue
        taken.append((world, action, after))
        world = after
    return taken
