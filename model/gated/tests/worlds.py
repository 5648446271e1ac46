"""Worlds and actions that the tests of the ledger's model start from: one client `ann`, an empty store."""

from typing import Literal

from attrs import evolve

from model.gated import initial_world, step, steps
from model.gated.actions import (
    Action,
    ApplySteps,
    Call,
    CloseLedger,
    Compensate,
    CompensationStep,
    Crash,
    Fault,
    OpenLedger,
    Step,
    Tamper,
    Transact,
)
from model.gated.always import lines_of
from model.gated.outcomes import Accepted, Refused
from model.gated.values import LedgerFile, Line, Mirror, World
from model.values import JSON

B = "b" * 64
A = "a" * 64
Recoverability = Literal["retry", "rollback", "in_doubt", "operator"]


def ok(world: World, *actions: Action) -> World:
    """The world after all of these, each of which must be accepted."""
    for action in actions:
        world, outcome = step(world, action)
        assert isinstance(outcome, Accepted), (action, outcome)
    return world


def value(world: World, action: Action) -> dict[str, JSON]:
    """What an accepted action answers."""
    _, outcome = step(world, action)
    assert isinstance(outcome, Accepted), (action, outcome)
    assert isinstance(outcome.value, dict)
    return outcome.value


def refused(
    world: World,
    action: Action,
    code: str,
    recoverability: Recoverability,
    *,
    rollback_failed: bool = False,
) -> World:
    """The world after an action that must be refused like this."""
    after, outcome = step(world, action)
    assert outcome == Refused(code, recoverability, rollback_failed), action
    return after


def opened(world: World | None = None) -> World:
    return ok(initial_world() if world is None else world, OpenLedger("ann"))


def fails(moment: str, kind: str = "fails", nth: int = 1) -> tuple[Fault, ...]:
    return (Fault(moment, nth, kind),)


def put(
    key: str = "k1",
    mutation: dict[str, JSON] | None = None,
    *,
    client: str = "ann",
    phase: str = "apply",
    intent: JSON = None,
    attempt: str | None = None,
    verifier: bool | Literal["raises"] | None = None,
    faults: tuple[Fault, ...] = (),
) -> Transact:
    """Counts one up, unless it is told otherwise."""
    mutation = {"increment": "count"} if mutation is None else mutation
    return Transact(
        client, "op", "run", "node", "event", phase, key, mutation, intent, attempt, verifier, faults
    )


def a_step(
    number: int,
    *,
    idempotent: bool = True,
    sequence: int | None = None,
    receipt: str | None = None,
    raises: Literal["before", "after"] | None = None,
) -> Step:
    at = number if sequence is None else sequence
    return Step(f"s{number}", receipt or f"r{number}", at, idempotent, B, A, raises)


def apply(*steps: Step, run: str = "run", client: str = "ann", faults: tuple[Fault, ...] = ()) -> ApplySteps:
    return ApplySteps(client, run, "node", "op", steps, faults=faults)


def undo(
    *steps: CompensationStep,
    key: str = "undo",
    client: str = "ann",
    after: str = A,
    faults: tuple[Fault, ...] = (),
) -> Compensate:
    return Compensate(client, "run", "node", "op", key, B, after, steps, None, faults)


def a_compensator(
    number: int,
    *,
    idempotent: bool = True,
    applied: bool = True,
    sequence: int | None = None,
    raises: Literal["before", "after"] | None = None,
) -> CompensationStep:
    at = number if sequence is None else sequence
    return CompensationStep(f"s{number}", at, idempotent, applied, raises)


def counted(many: int, world: World | None = None) -> World:
    """A store with so many committed transactions, `k1` and on."""
    world = opened() if world is None else world
    return ok(world, *(put(f"k{at}") for at in range(1, many + 1)))


def closed(world: World) -> World:
    return ok(world, *(CloseLedger(each.name) for each in world.clients))


def died(world: World, inside: Call, at: str) -> World:
    return ok(world, Crash(inside.client, at, inside))


def torn(world: World, n: int = 20) -> World:
    return ok(world, Tamper("tail-torn", n=n))


def mirror(world: World) -> Mirror:
    assert isinstance(world.mirror, Mirror)
    return world.mirror


def ledger(world: World) -> LedgerFile:
    assert world.ledger is not None
    return world.ledger


def state(world: World) -> dict[str, JSON]:
    return mirror(world).state.as_json()


def keys(world: World) -> list[str]:
    return [line.record.idempotency_key for line in lines_of(world)]


def lines(world: World) -> tuple[Line, ...]:
    return lines_of(world)


def ran(world: World) -> list[str]:
    """The keys of the effects that happened, in order."""
    return [each.key for each in world.effects]


def moments(world: World, action: Action) -> list[str]:
    return [name for name, _ in steps(world, action)]


def without_clients(world: World) -> World:
    return evolve(world, clients=())
