"""Steps made by hand, of a store gone wrong: what the invariants are tried on."""

from attrs import evolve

from model.gated import step
from model.gated.actions import Action, OpenLedger, ReadState, Tamper
from model.gated.lines import NOTHING, record, request_hash, sealed
from model.gated.outcomes import Accepted, Outcome, Raised
from model.gated.tampering import mirror_of, read
from model.gated.tests.worlds import (
    A,
    B,
    a_compensator,
    a_step,
    apply,
    counted,
    died,
    lines,
    mirror,
    ok,
    opened,
    put,
    undo,
)
from model.gated.values import Change, Client, Effect, Line, State, World
from model.values import JSON

Step = tuple[World, Action, Outcome, World]
NEVER_AGAIN = a_step(1, idempotent=False)


def written(world: World, *more: Line, seen: bool = True) -> World:
    """These lines stand at the end of the ledger, and the mirror has seen them, or not."""
    entries = (*lines(world), *more)
    after = evolve(world, ledger=read(b"".join(each.text for each in entries)))
    return evolve(after, mirror=mirror_of(entries)) if seen else after


def next_line(
    world: World, key: str, phase: str = "apply", change: Change = NOTHING, event: str = "event"
) -> Line:
    """A line that follows the last one, whatever it says."""
    names = {"operation_id": "op", "run_id": "run", "node_id": "node", "event_type": event, "phase": phase}
    entry = record(**names, idempotency_key=key, attempt_id=None, before=B, after=A)
    requested = request_hash(**names, idempotency_key=key, attempt_id=None)
    return sealed(len(lines(world)) + 1, entry, requested, change, lines(world)[-1].hash)


def told(world: World, action: Action, after: World, answer: Action | None = None) -> Step:
    """A step that answers what `answer` would get in `world`, and leaves `after`."""
    _, outcome = step(world, answer or action)
    return world, action, outcome, after


def answered(world: World, action: Action, after: World, **form: JSON) -> Step:
    return world, action, Accepted(dict(form)), after


def ran(world: World, *effects: Effect) -> World:
    return evolve(world, effects=(*world.effects, *effects))


def effect(key: str = "r1", *, idempotent: bool = True, compensates: bool = False) -> Effect:
    return Effect("run", key, "compensator" if compensates else "step", idempotent)


def quiet(after: World, before: World | None = None) -> Step:
    """Something happened that nobody looks at; the world after it is what counts."""
    return (after if before is None else before), ReadState("ann"), Raised("step"), after


def mirror_first() -> Step:
    """Mirrored and committed, and then the append is lost."""
    world = counted(2)
    return quiet(evolve(world, ledger=counted(1).ledger))


def swapped() -> World:
    return evolve(ok(counted(3), Tamper("line-swapped", 1)), wounds=frozenset())


def stale() -> World:
    """The mirror has seen everything and has not done it."""
    world = counted(2)
    return evolve(world, mirror=evolve(mirror(world), state=State((("count", "1"),))))


def retried(outcome: Outcome | None = None, action: Action | None = None) -> Step:
    """A retry that is done a second time, or otherwise wrongly answered."""
    before = counted(2)
    again = put("k1") if action is None else action
    return (
        told(before, again, ok(before, put("k3")), put("k3"))
        if outcome is None
        else (before, again, outcome, before)
    )


def compensated_again() -> Step:
    before = ok(opened(), undo(a_compensator(1)))
    return told(before, undo(a_compensator(1)), ran(before, effect("undo:s1", compensates=True)))


def reopened(after: World) -> Step:
    """An opening that says that all is well, and leaves this."""
    return told(counted(1), OpenLedger("ann"), after)


def poisoned() -> World:
    world = counted(1)
    return evolve(world, clients=(Client("ann", poisoned=True),))


def lost(world: World) -> World:
    return evolve(world, ledger=counted(1).ledger, mirror=counted(1).mirror)


def applied() -> World:
    return ok(opened(), apply(a_step(1)))


def doubtful() -> World:
    return ok(died(opened(), apply(NEVER_AGAIN), "ran"), OpenLedger("ann"))
