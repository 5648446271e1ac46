"""`step` and `steps`: the whole of the model, one action at a time, and the small steps of one.

Guarantees: functions of their arguments and nothing else; whatever the action says, an outcome comes back,
never an exception. An action that cannot happen is `Declined` and leaves the world as it was.
"""

from typing import get_args

from attrs import evolve

from model.gated.actions import Action, ApplySteps, Call, CloseLedger, Crash, OpenLedger, Tamper, Transact
from model.gated.actions import Compensate as Compensation
from model.gated.opening import open_ledger
from model.gated.outcomes import Accepted, Declined, Outcome
from model.gated.receipts import apply_steps, compensate
from model.gated.running import Marks, Passing, Refusal, Running
from model.gated.tampering import tamper
from model.gated.transacting import transact
from model.gated.values import World
from model.values import JSON

_CALLS = get_args(Call)


def step(world: World, action: Action) -> tuple[World, Outcome]:
    """The world after `action`, and what came of it."""
    if isinstance(action, Tamper):
        after = tamper(world, action)
        return (world, after) if isinstance(after, Declined) else (after, Accepted())
    if isinstance(action, CloseLedger):
        if not _has_open(world, action.client):
            return world, Declined(f"{action.client} has nothing open")
        return without(world, action.client), Accepted()
    if isinstance(action, Crash):
        return _crash(world, action)
    return _call(world, action, None)


def steps(world: World, action: Action) -> list[tuple[str, World]]:
    """Each small step of `action`, with the world that its client leaves if it dies right there.

    The client itself is still in those worlds; `Crash` takes it out. The names are `running.MOMENTS`; the
    last is `reply`, where all is done and nobody knows. An action that is declined, or that is no call of a
    client, has none.
    """
    marks: Marks = []
    if isinstance(action, _CALLS):
        _, outcome = _call(world, action, marks)
        if isinstance(outcome, Declined):
            return []
    return marks


def _has_open(world: World, client: str) -> bool:
    return any(each.name == client for each in world.clients)


def without(world: World, client: str) -> World:
    """Nobody of that name has the store open."""
    return evolve(world, clients=tuple(each for each in world.clients if each.name != client))


def _call(world: World, action: Call, marks: Marks | None) -> tuple[World, Outcome]:
    if not isinstance(action, OpenLedger) and not _has_open(world, action.client):
        return world, Declined(f"{action.client} has nothing open")
    running = Running(world, action.client, action.faults, marks)
    outcome: Outcome
    try:
        outcome = Accepted(_answer(running, action))
    except (Refusal, Passing) as ending:
        outcome = ending.outcome()
    after = running.world()
    if marks is not None:
        marks.append(("reply", evolve(after, acknowledged=world.acknowledged & after.acknowledged)))
    return after, outcome


def _answer(running: Running, action: Call) -> JSON:
    if isinstance(action, Transact):
        return transact(running, action)
    if isinstance(action, ApplySteps):
        return apply_steps(running, action)
    if isinstance(action, Compensation):
        return compensate(running, action)
    if isinstance(action, OpenLedger):
        return open_ledger(running, action)
    running.sync()
    running.acknowledge()
    return running.found().state.as_json()


def _crash(world: World, action: Crash) -> tuple[World, Outcome]:
    inside = action.inside
    if inside is None:
        if action.at != "idle" or not _has_open(world, action.client):
            return world, Declined(f"{action.client} is not idle")
        return without(world, action.client), Accepted()
    if inside.client != action.client:
        return world, Declined(f"that is not what {action.client} does")
    moment, _, number = action.at.partition(":")
    nth = int(number) if number.isdecimal() else 1
    there = [each for name, each in steps(world, inside) if name == moment]
    if not 0 < nth <= len(there) or (number and not number.isdecimal()):
        return world, Declined(f"{action.client} never comes to {action.at}")
    return without(there[nth - 1], action.client), Accepted()
