"""Simpler actions of the second system, for the shrinker: fewer faults, fewer steps, plainer mutations.

Texts are not made shorter: keys and ids mean something by being equal to others.
"""

from collections.abc import Iterator
from typing import Any, Final, TypeVar

from attrs import evolve

from model.gated.actions import (
    Action,
    ApplySteps,
    Call,
    Compensate,
    CompensationStep,
    Crash,
    Fault,
    OpenLedger,
    ReadState,
    Step,
    Tamper,
    Transact,
)

S = TypeVar("S", Step, CompensationStep)
_PLAIN: Final[dict[str, Any]] = {"set": {"a": 1}}


def simpler_actions(action: Action) -> Iterator[Action]:
    """Actions like `action` but simpler, the simplest first. Each is smaller, so this comes to an end."""
    if isinstance(action, Crash):
        yield from _simpler_crashes(action)
        return
    if isinstance(action, Tamper):
        for line in range(1, action.line):
            yield evolve(action, line=line)
        for n in {0, 1, action.n // 2} if action.n else ():
            if n < action.n:
                yield evolve(action, n=n)
        return
    if isinstance(action, OpenLedger | Transact | ApplySteps | Compensate | ReadState):
        for faults in _fewer(action.faults):
            yield evolve(action, faults=faults)
    if isinstance(action, ApplySteps):
        for steps in _fewer_steps(action.steps):
            yield evolve(action, steps=steps)
    if isinstance(action, Compensate):
        for compensators in _fewer_steps(action.steps):
            yield evolve(action, steps=compensators)
    if isinstance(action, Transact):
        if action.mutation not in (_PLAIN, {}):
            yield evolve(action, mutation={})
            yield evolve(action, mutation=_PLAIN)
        if action.attempt_id is not None:
            yield evolve(action, attempt_id=None)
        if action.intent is not None:
            yield evolve(action, intent=None)


def _fewer_steps(steps: tuple[S, ...]) -> Iterator[tuple[S, ...]]:
    for index, step in enumerate(steps):
        yield steps[:index] + steps[index + 1 :]
        if step.raises is not None:
            plain: S = evolve(step, raises=None)
            # mypy takes no starred tuple of a type variable.
            yield steps[:index] + (plain,) + steps[index + 1 :]  # noqa: RUF005


def _simpler_crashes(action: Crash) -> Iterator[Action]:
    if action.inside is None:
        return
    yield Crash(action.client)
    yield action.inside
    moment, _, nth = action.at.partition(":")
    if nth and int(nth) > 1:
        yield evolve(action, at=moment)
    for simpler in simpler_actions(action.inside):
        if isinstance(simpler, Call):
            yield evolve(action, inside=simpler)


def _fewer(faults: tuple[Fault, ...]) -> Iterator[tuple[Fault, ...]]:
    if len(faults) > 1:
        yield ()
    for index, one in enumerate(faults):
        yield faults[:index] + faults[index + 1 :]
        if one.nth > 1:
            yield (*faults[:index], evolve(one, nth=1), *faults[index + 1 :])
        if one.kind != "fails":
            yield (*faults[:index], evolve(one, kind="fails"), *faults[index + 1 :])
