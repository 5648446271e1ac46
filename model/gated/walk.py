"""A random walk over the ledger's model: every call, every outcome, every fault, crash and tampering.

`draw(dice, world)` gives one action; `walk(dice, length)` a whole story from the start. The same dice give
the same story. Most of what is drawn works, so that histories grow; a part of it is a retry, fails in the
middle, is nonsense, or dies. Where a ledger is damaged for good, the story soon begins anew.

Nothing drawn is sure to be possible: what the model declines, a caller just draws again.
"""

from collections.abc import Callable, Iterator
from typing import Final

from attrs import evolve

from model.drawing import Dice, chance, weighted
from model.gated import recovery
from model.gated.actions import (
    FAULTS,
    Action,
    ApplySteps,
    Call,
    CloseLedger,
    Compensate,
    Crash,
    Fault,
    OpenLedger,
    ReadState,
    Tamper,
    Transact,
)
from model.gated.drawing import (
    CLIENTS,
    NONSENSE,
    OTHER,
    a_batch_number,
    a_number,
    batch,
    compensation,
    faults,
    transaction,
)
from model.gated.outcomes import Declined
from model.gated.start import initial_world
from model.gated.stepping import step, steps
from model.gated.values import LedgerFile, Mirror, World


def _transact(dice: Dice, world: World, client: str) -> Transact:
    action = transaction(a_number(dice, world), client)
    if action.phase == "verify" and chance(dice, 0.4):
        action = evolve(action, verifier=dice.choice((False, False, "raises")))
    if chance(dice, 0.85):
        return action
    changes: tuple[dict[str, object], ...] = (
        {"intent": "another"}, {"intent": "another"}, {"node_id": "elsewhere"}, {"attempt_id": "another"},
        {"mutation": {"raises": True}}, {"mutation": {"raises": True}}, {"mutation": {"increment": "note"}},
        {"mutation": {"garbage": dice.choice(NONSENSE)}}, {"mutation": {"garbage": {"all": "new"}}},
        {"mutation": {"set": {"": 1}}}, {"mutation": {}}, {"idempotency_key": ""}, {"intent": 0.5},
        {"phase": "receipt"}, {"phase": "later"}, {"idempotency_key": "r1"}, {"event_type": "\ud800"},
        {"phase": "verify", "verifier": None}, {"phase": "apply", "verifier": True},
    )  # fmt: skip
    return evolve(action, **dice.choice(changes))  # type: ignore[arg-type]  # nonsense on purpose


def _apply(dice: Dice, world: World, client: str) -> ApplySteps:
    action = batch(a_batch_number(dice, world), client)
    listed = list(action.steps)
    at = dice.randrange(0, len(listed))
    if chance(dice, 0.12):
        listed[at] = evolve(listed[at], raises=dice.choice(("before", "after")))
    elif chance(dice, 0.12):
        other = listed[at - 1]
        spoilt = (
            evolve(listed[at], id=other.id),
            evolve(listed[at], sequence=other.sequence),
            evolve(listed[at], receipt_id=other.receipt_id),
            evolve(listed[at], receipt_id=f"{other.receipt_id}:started"),
            evolve(listed[at], receipt_id="undo:s1"),
            evolve(listed[at], receipt_id="undo"),
            evolve(listed[at], id=""),
            evolve(listed[at], idempotent=not listed[at].idempotent),
            evolve(listed[at], after_state_hash=OTHER),
        )
        listed[at] = dice.choice(spoilt)
    return evolve(action, steps=tuple(listed[1:] if chance(dice, 0.05) else listed))


def _compensate(dice: Dice, world: World, client: str) -> Compensate:
    action = compensation(a_batch_number(dice, world), client)
    listed = list(action.steps)
    at = dice.randrange(0, len(listed))
    if chance(dice, 0.15):
        listed[at] = evolve(listed[at], raises=dice.choice(("before", "after")))
    elif chance(dice, 0.15):
        other = listed[at - 1]
        spoilt = (
            evolve(listed[at], id=other.id),
            evolve(listed[at], sequence=other.sequence),
            evolve(listed[at], idempotent=False, applied=True),
            evolve(listed[at], idempotent=True, applied=False),
        )
        listed[at] = dice.choice(spoilt)
    action = evolve(action, steps=tuple(listed))
    if chance(dice, 0.06):
        return evolve(action, after_state_hash=OTHER)
    return evolve(action, idempotency_key=dice.choice(("r1", "undo-2", ""))) if chance(dice, 0.08) else action


def _read(_dice: Dice, _world: World, client: str) -> ReadState:
    return ReadState(client)


_CALLS: Final[tuple[tuple[float, Callable[[Dice, World, str], Call]], ...]] = (
    (50, _transact),
    (26, _apply),
    (16, _compensate),
    (8, _read),
)


def _is_out_of_step(world: World) -> bool:
    """There is something to cut, to catch up or to build."""
    return not isinstance(world.mirror, Mirror) or not recovery.in_step(world.ledger, world.mirror)


def a_call(dice: Dice, world: World, client: str) -> Call:
    """What an open client might ask for, sometimes with a failing disk."""
    action = weighted(dice, _CALLS)(dice, world, client)
    if _is_out_of_step(world) and chance(dice, 0.3):
        moment = dice.choice(("catch-up", "cut", "cut-fsync"))
        return evolve(action, faults=(Fault(moment, 1, dice.choice(FAULTS[moment])),))
    if chance(dice, 0.22):
        many = len(action.steps) if isinstance(action, ApplySteps | Compensate) else 1
        return evolve(action, faults=faults(dice, many=max(1, 2 * many - 1)))
    return action


def an_opening(dice: Dice, world: World, client: str) -> OpenLedger | Crash:
    """Recovery fails or dies more often where there is something to recover."""
    behind = _is_out_of_step(world)
    opening = OpenLedger(client)
    if chance(dice, 0.3 if behind else 0.08):
        moment = dice.choice(("catch-up", "catch-up", "cut", "cut-fsync"))
        opening = OpenLedger(client, (Fault(moment, 1, dice.choice(FAULTS[moment])),))
    return (a_crash(dice, world, opening) if chance(dice, 0.35 if behind else 0.1) else None) or opening


def a_crash(dice: Dice, world: World, inside: Call) -> Crash | None:
    """Death at one of the small steps of a call; `None` if that has next to none."""
    names = [name for name, _ in steps(world, inside)]
    if len(names) < 2 or ("append" not in names and isinstance(inside, Transact) and chance(dice, 0.7)):
        return None
    name = dice.choice(sorted(set(names)))
    nth = 1 + dice.randrange(0, names.count(name))
    return Crash(inside.client, name if nth == 1 else f"{name}:{nth}", inside)


_OF_THE_LEDGER: Final = (
    (5.0, "tail-torn"),
    (2.0, "tail-cut"),
    (1.0, "line-removed"),
    (1.0, "line-swapped"),
    (1.0, "line-repeated"),
    (1.0, "line-edited"),
    (1.0, "line-appended"),
    (0.3, "ledger-deleted"),
)
_OF_THE_MIRROR: Final = (
    (3.0, "mirror-deleted"),
    (2.0, "mirror-emptied"),
    (2.0, "mirror-corrupt"),
    (2.0, "mirror-schema"),
    (2.0, "mirror-edited"),
    (4.0, "mirror-behind"),
    (0.7, "mirror-foreign"),
)


def a_tampering(dice: Dice, world: World) -> Tamper:
    """Of the mirror if nobody has it open, mostly."""
    entries = (world.ledger or LedgerFile()).entries
    if not world.clients and chance(dice, 0.7):
        kind = weighted(dice, _OF_THE_MIRROR)
        return Tamper(kind, n=dice.randrange(0, len(entries) + 1) if kind[7:] in ("behind", "foreign") else 0)
    kind = weighted(dice, _OF_THE_LEDGER)
    late = max(1, len(entries) - dice.randrange(0, 3))
    line = late if chance(dice, 0.6) else 1 + dice.randrange(0, len(entries) + 1)
    length = len(entries[min(line, len(entries)) - 1].text) if entries else 1
    if kind in ("tail-torn", "tail-cut"):
        whole = chance(dice, 0.15) and kind == "tail-cut"
        return Tamper(kind, n=length if whole else 1 if chance(dice, 0.2) else 1 + dice.randrange(0, length))
    return Tamper(
        kind, line if kind != "ledger-deleted" else 0, dice.randrange(0, length) * (kind == "line-edited")
    )


def _is_broken(world: World) -> bool:
    """Opening would be refused for integrity."""
    return recovery.whole(world.ledger or LedgerFile(), world.mirror) is None


def _mending(dice: Dice, world: World) -> Action:
    """One step towards a store that opens again: its mirror anew, or all of it."""
    if world.clients:
        return CloseLedger(dice.choice(world.clients).name)
    if world.mirror != "missing":
        return Tamper("mirror-deleted")
    return Tamper("ledger-deleted")


def draw(dice: Dice, world: World) -> Action:
    """One action that suits the world, or nearly."""
    if _is_broken(world) and chance(dice, 0.5):
        return _mending(dice, world)
    if not world.clients:
        if chance(dice, 0.3):
            return a_tampering(dice, world)
        return an_opening(dice, world, dice.choice(CLIENTS))
    client = dice.choice(world.clients)
    at = dice.random()
    if at < 0.04 or (client.poisoned and at < 0.5):
        return an_opening(dice, world, client.name)
    if at < 0.08:
        return an_opening(dice, world, dice.choice(CLIENTS))
    if at < 0.13:
        return CloseLedger(client.name) if chance(dice, 0.8) else Crash(client.name)
    if at < 0.15:
        return a_tampering(dice, world)
    call = a_call(dice, world, client.name)
    dies = at < (0.4 if _is_out_of_step(world) else 0.24)
    return (a_crash(dice, world, call) if dies else None) or call


def walk(dice: Dice, length: int, world: World | None = None) -> Iterator[Action]:
    """`length` actions that can happen one after another, from `world` or the start."""
    world = initial_world() if world is None else world
    while length > 0:
        action = draw(dice, world)
        after, outcome = step(world, action)
        if isinstance(outcome, Declined):
            continue
        yield action
        world, length = after, length - 1
