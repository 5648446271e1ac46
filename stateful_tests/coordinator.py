"""The first system, the capacity coordinator, as the machinery needs it (see `system`)."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from attrs import evolve

import model
from model import invariants, walk
from model.actions import Action, AdvanceClock, Call, Disturbance, Open, PutBack
from model.forms import action_from_json, action_to_json, outcome_to_json
from model.outcomes import Declined
from model.values import World
from stateful_tests.coverage import Coverage
from stateful_tests.lockstep import Lockstep, name_of, outcome_name
from stateful_tests.pair import Judge
from stateful_tests.system import COORDINATOR, System
from stateful_tests.target import StoreTarget, Target
from stateful_tests.tours import touring

_AMOUNTS: Final = (1, 10, 100, 1_000, 10_000, 60_000, 3_600_000)


def initial_world(initial: Mapping[str, Any]) -> World:
    """The world in which a trace with this `initial` starts: `clock`, and the assumptions `dropped`."""
    unknown = sorted(set(initial) - {"clock", "dropped"})
    if unknown:
        raise ValueError(f"initial: unknown field {unknown[0]!r}; known are clock, dropped")
    given = dict(initial)
    if type(given.get("clock", 0)) is not int:
        raise ValueError(f"initial.clock: {given['clock']!r} is no integer")
    dropped = given.get("dropped", [])
    if not isinstance(dropped, list) or not all(isinstance(name, str) for name in dropped):
        raise ValueError("initial.dropped: a list of the names of assumptions is expected")
    if "dropped" in given:
        given["dropped"] = frozenset(dropped)
    return model.initial_world(**given)


def simpler_actions(action: Action) -> Iterator[Action]:
    """Actions like `action` but simpler, the simplest first. Each is smaller, so this comes to an end."""
    if isinstance(action, AdvanceClock):
        sign = -1 if action.ms < 0 else 1
        for amount in _AMOUNTS:
            if amount < abs(action.ms):
                yield AdvanceClock(sign * amount)
    if isinstance(action, PutBack):
        for index in range(action.index):
            yield PutBack(index)
    if isinstance(action, Open):
        if type(action.initial_max_active_runs) is int and action.initial_max_active_runs > 1:
            yield evolve(action, initial_max_active_runs=1)
        if not action.arbitration:
            yield evolve(action, arbitration=True)
    if isinstance(action, Call):
        for key in sorted(action.arguments):
            yield evolve(
                action, arguments={name: one for name, one in action.arguments.items() if name != key}
            )
        for key, value in sorted(action.arguments.items()):
            for simpler in _simpler_values(value):
                yield evolve(action, arguments={**action.arguments, key: simpler})
    if isinstance(action, Open | Call):
        for disturbances in _fewer(action.disturbances):
            yield evolve(action, disturbances=disturbances)


def _simpler_values(value: Any) -> Iterator[int | str]:
    if type(value) is int:
        for amount in _AMOUNTS:
            if amount < value:
                yield amount
    # Identifiers stay as they are: shorter, they would mean something else.
    if isinstance(value, str) and len(value) > 1 and len(value) != 36:
        yield value[:1]
        if len(value) > 2:
            yield value[: len(value) // 2]


def _fewer(disturbances: tuple[Disturbance, ...]) -> Iterator[tuple[Disturbance, ...]]:
    if len(disturbances) > 1:
        yield ()
    for index, one in enumerate(disturbances):
        yield disturbances[:index] + disturbances[index + 1 :]
        if one.nth > 1:
            yield (*disturbances[:index], evolve(one, nth=1), *disturbances[index + 1 :])


def without(actions: tuple[Action, ...], index: int) -> Iterator[tuple[Action, ...]]:
    """Ways to leave out the action at `index`: its time passes later, numbers that count it fall by one."""
    before, gone, after = actions[:index], actions[index], actions[index + 1 :]
    if isinstance(gone, AdvanceClock):
        for at, later in enumerate(after):
            if isinstance(later, AdvanceClock):
                together = AdvanceClock(gone.ms + later.ms)
                yield (*before, *after[:at], together, *after[at + 1 :])
                break
        return
    admitted = tuple(map(_one_admission_less, after))
    published = tuple(map(_one_state_less, after))
    for changed in (admitted, published, tuple(map(_one_state_less, admitted))):
        if changed != after:
            yield before + changed


def _one_admission_less(action: Action) -> Action:
    if isinstance(action, Call):
        sequence = action.arguments.get("projectAdmitCommitSeq")
        if type(sequence) is int and sequence > 1:
            return evolve(action, arguments={**action.arguments, "projectAdmitCommitSeq": sequence - 1})
    return action


def _one_state_less(action: Action) -> Action:
    return PutBack(action.index - 1) if isinstance(action, PutBack) and action.index else action


def _pair(target: Target, world: World, judge: Judge | None) -> Lockstep:
    return Lockstep(target, world, judge=judge)


SYSTEM: Final = System(
    name=COORDINATOR,
    initial=initial_world,
    step=model.step,
    declined=lambda outcome: isinstance(outcome, Declined),
    action_to_json=action_to_json,
    action_from_json=action_from_json,
    outcome_to_json=outcome_to_json,
    name_of=name_of,
    outcome_name=outcome_name,
    target=StoreTarget,
    pair=_pair,
    judge=invariants.check,
    witnessed=invariants.witnessed,
    invariants=tuple(each.id for each in invariants.INVARIANTS),
    actor="host",
    simpler=simpler_actions,
    draw=walk.draw,
    on_tour=lambda number, steps: touring(walk.draw, 3 * number, steps // 3),
    coverage=Coverage,
    without=without,
)
