"""Worlds and actions that the tests of the model start from.

One host `h` of holder `alpha`, epoch 1, a lease that lasts, two slots. Reservation `n` is for run `n`.
"""

from model import initial_world, step
from model.actions import (
    Action,
    Admit,
    AdvanceClock,
    Answers,
    Call,
    Disturbance,
    Effect,
    Finish,
    Happens,
    Moment,
    Open,
    Quiesce,
    SetLease,
)
from model.outcomes import Accepted, Refused
from model.values import JSON, Row, Store, World

CLOCK = 1_790_000_000_000
PROJECT = "00000001-0000-4000-8000-000000000001"
DOMAIN = "00000002-0000-4000-8000-000000000001"
ATTEMPT = "00000003-0000-4000-8000-000000000001"
TTL = 1000


def rid(number: int) -> str:
    return f"0000000a-0000-4000-8000-{number:012x}"


def run_id(number: int) -> str:
    return f"0000000e-0000-4000-8000-{number:012x}"


def cid(number: int) -> str:
    return f"0000000c-0000-4000-8000-{number:012x}"


def lease(holder: str = "alpha", epoch: int = 1, expires_at: int = CLOCK + 10**12) -> SetLease:
    return SetLease(
        {"holderId": holder, "fencingEpoch": epoch, "endpoint": "unix:x", "expiresAt": expires_at}
    )


def ok(world: World, *actions: Action) -> World:
    """The world after all of these, each of which must be accepted."""
    for action in actions:
        world, outcome = step(world, action)
        assert isinstance(outcome, Accepted), (action, outcome)
    return world


def value(world: World, action: Action) -> object:
    """What an accepted action answers."""
    _, outcome = step(world, action)
    assert isinstance(outcome, Accepted), (action, outcome)
    return outcome.value


def refused(world: World, action: Action, code: str, side_effects: str = "none") -> World:
    """The world after an action that must be refused, with its store as it was."""
    after, outcome = step(world, action)
    assert isinstance(outcome, Refused), (action, outcome)
    assert (outcome.code, outcome.side_effects) == (code, side_effects)
    assert after.store == world.store
    assert after.identity_file == world.identity_file
    return after


def opened(
    maximum: int = 2, epoch: int = 1, *, arbitration: bool = True, world: World | None = None
) -> World:
    world = initial_world() if world is None else world
    return ok(world, lease(epoch=epoch), Open("h", "alpha", epoch, maximum, arbitration))


def call(
    operation: str,
    who: str = "alice",
    host: str = "h",
    during: tuple[Disturbance, ...] = (),
    **arguments: JSON,
) -> Call:
    return Call(host, who, operation, arguments, during)


def reserve(
    number: int = 1,
    ttl: int = TTL,
    *,
    run: int | None = None,
    who: str = "alice",
    host: str = "h",
    during: tuple[Disturbance, ...] = (),
) -> Call:
    return Call(
        host,
        who,
        "reserve",
        {
            "reservationId": rid(number),
            "projectId": PROJECT,
            "projectControlDomainId": DOMAIN,
            "runId": run_id(number if run is None else run),
            "ttlMs": ttl,
        },
        during,
    )


def admit(number: int = 1, *, run: int | None = None) -> Admit:
    return Admit(rid(number), PROJECT, DOMAIN, run_id(number if run is None else run))


def commit(
    number: int = 1,
    seq: int = 1,
    *,
    attempt: JSON = None,
    job: JSON = None,
    who: str = "alice",
    during: tuple[Disturbance, ...] = (),
) -> Call:
    return call(
        "commit", who, "h", during,
        id=rid(number), projectAdmitCommitSeq=seq, attemptId=attempt, providerJobHandle=job,
    )  # fmt: skip


def force(
    number: int = 1,
    command: int = 1,
    who: str = "root",
    *,
    acknowledged: JSON = True,
    reason: JSON = "lost",
    during: tuple[Disturbance, ...] = (),
) -> Call:
    return call(
        "forceRelease", who, "h", during,
        id=rid(number), commandId=cid(command), riskAcknowledgement=acknowledged, reason=reason,
    )  # fmt: skip


def maximum(many: int, command: int = 1, who: str = "root", during: tuple[Disturbance, ...] = ()) -> Call:
    return call("setMaxActiveRuns", who, "h", during, commandId=cid(command), maxActiveRuns=many)


def release(number: int = 1, who: str = "alice", during: tuple[Disturbance, ...] = ()) -> Call:
    return call("normalRelease", who, "h", during, id=rid(number))


def committed(number: int = 1, world: World | None = None) -> World:
    """A world in which reservation `number` is the first that any project admitted, and committed."""
    world = opened() if world is None else world
    return ok(world, reserve(number), admit(number), commit(number, world.project_seq + 1))


def over(number: int = 1) -> tuple[Action, ...]:
    """The run of that reservation ends, and nothing of it lives."""
    return (Finish(rid(number), "completed"), Quiesce(rid(number)))


def row(world: World, number: int = 1) -> Row:
    assert world.store is not None
    return next(each for each in world.store.rows if each.reservation_id == rid(number))


def the_store(world: World) -> Store:
    assert world.store is not None
    return world.store


def at(moment: Moment, effect: Effect, nth: int = 1) -> tuple[Disturbance, ...]:
    return (Disturbance(moment, nth, effect),)


def passes(ms: int, moment: Moment, nth: int = 1) -> tuple[Disturbance, ...]:
    """The clock moves while that callback is awaited."""
    return at(moment, Happens(AdvanceClock(ms)), nth)


def says(moment: Moment, answer: JSON, nth: int = 1) -> tuple[Disturbance, ...]:
    return at(moment, Answers(answer), nth)


def subject(number: int = 1) -> dict[str, JSON]:
    """The ids that an answer about that reservation names."""
    return {
        "reservationId": rid(number),
        "projectId": PROJECT,
        "projectControlDomainId": DOMAIN,
        "runId": run_id(number),
    }
