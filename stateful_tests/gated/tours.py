"""Tours of the second system: what a random walk meets too seldom to count on, brought about on purpose.

One for each failing step of a transaction, of steps and of a compensation, one for each tampering, and one
for the death at each small step of each call. Each begins with a store that opens, whatever the walk has left
behind. What really came about is counted by `LedgerCoverage` like everything else.
"""

import random
from collections.abc import Iterator
from typing import Final

from attrs import evolve

from model.gated import recovery
from model.gated.actions import (
    FAULTS,
    TAMPERINGS,
    Action,
    ApplySteps,
    Call,
    CloseLedger,
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
from model.gated.always import lines_of
from model.gated.drawing import AFTER, BEFORE
from model.gated.values import LedgerFile, World
from stateful_tests.system import Draw
from stateful_tests.tours import spliced

_HOST: Final = "tour"
_FAIL: Final = Fault("append-fsync", 1, "fails")
_CALLS: Final = ("transact", "applySteps", "compensate")
_DEATHS: Final = (
    *("begin", "begun", "append", "append-torn", "append-written", "append-fsync", "append-synced"),
    *("mirror", "mirrored", "commit", "committed", "reply"),
)
_CUTTING: Final = ("cut", "cut-done", "cut-fsync", "cut-synced", "rollback", "rolled-back")
_OPENING: Final = (
    *("open", "catch-up", "caught-up", "cut", "cut-done", "cut-fsync", "cut-synced", "reply"),
    *("ledger-created", "aside", "set-aside", "build", "built", "renamed"),
)
TOURS: Final[tuple[tuple[str, str, str], ...]] = (
    *(("fault", moment, kind) for moment, kinds in FAULTS.items() for kind in kinds),
    *(("poisoned", call, "") for call in (*_CALLS, "readState")),
    *(("required", call, moment) for call in _CALLS[1:] for moment in ("begin", "append", "cut", "catch-up")),
    *(("tamper", kind, "") for kind in TAMPERINGS),
    *(("death", call, moment) for call in _CALLS for moment in (*_DEATHS, *_CUTTING)),
    *(("death", call, moment) for call in _CALLS[1:] for moment in ("run", "ran")),
    *(("death", "openLedger", moment) for moment in _OPENING),
    *(("death", "readState", moment) for moment in ("catch-up", "caught-up", "reply")),
)
"""What is brought about, in which call or of which kind, and at which moment."""


def touring(draw: Draw, first: int, every: int) -> Draw:
    """`draw`, with a tour before every `every`-th step of it: number `first`, and so on, round and round."""
    return spliced(draw, len(TOURS), lambda rng, world, n: tour(rng, world, *TOURS[n]), first, every)


def tour(rng: random.Random, world: World, what: str, which: str, moment: str) -> Iterator[Action]:
    """The actions of one tour, from `world` as it stands at its start."""
    yield from _a_store(world)
    fresh = f"{rng.getrandbits(64):016x}"
    first = _transaction(f"{fresh}-0")
    yield first
    if what == "fault":
        yield from _fault(fresh, which, moment)
    elif what == "poisoned":
        yield evolve(_transaction(f"{fresh}-1"), faults=(_FAIL, Fault("cut", 1, "fails")))
        yield _call(which, fresh)
        yield OpenLedger(_HOST)
    elif what == "required":
        yield from _required(fresh, which, moment)
    elif what == "tamper":
        yield from _tampering(world, fresh, which)
    elif which == "openLedger":
        yield from _dying_opening(fresh, moment)
    else:
        yield from _dying_call(fresh, which, moment)


def _a_store(world: World) -> Iterator[Action]:
    """Nobody has it open but we; what can't be opened any more is deleted."""
    yield from (CloseLedger(each.name) for each in world.clients)
    if recovery.whole(world.ledger or LedgerFile(), world.mirror) is None:
        yield from (Tamper("mirror-deleted"), Tamper("ledger-deleted"))
    yield OpenLedger(_HOST)


def _transaction(key: str) -> Transact:
    return Transact(_HOST, "op", "run", "node", "tour", "apply", key, {"increment": "count"}, intent=key)


def _call(name: str, fresh: str) -> Call:
    if name == "transact":
        return _transaction(f"{fresh}-2")
    if name == "applySteps":
        steps = (Step("s1", "r1", 1, False, BEFORE, AFTER), Step("s2", "r2", 2, True, BEFORE, AFTER))
        return ApplySteps(_HOST, fresh, "node", "op", steps)
    if name == "compensate":
        undone = (CompensationStep("s1", 1, True, True), CompensationStep("s2", 2, True, False))
        return Compensate(_HOST, fresh, "node", "op", "undo", AFTER, BEFORE, undone)
    return ReadState(_HOST)


def _fault(fresh: str, moment: str, kind: str) -> Iterator[Action]:
    fault = Fault(moment, 1, kind)
    action = _transaction(f"{fresh}-1")
    if moment.startswith("cut"):
        yield evolve(action, faults=(_FAIL, fault))
        yield OpenLedger(_HOST)
    elif moment == "catch-up":
        yield evolve(action, faults=(Fault("mirror", 1, "fails"),))
        yield evolve(_transaction(f"{fresh}-2"), faults=(fault,))
        yield ReadState(_HOST, (fault,))
        yield OpenLedger(_HOST, (fault,))
        yield OpenLedger(_HOST)
    elif moment == "rollback":
        yield evolve(action, mutation={"raises": True}, faults=(fault,))
        yield evolve(action, faults=(Fault("commit", 1, "fails"), fault))
    else:
        yield evolve(action, faults=(fault,))
    yield action


def _required(fresh: str, which: str, moment: str) -> Iterator[Action]:
    """What steps and compensations can't go on without."""
    action = _call(which, fresh)
    faults = (_FAIL, Fault("cut", 1, "fails")) if moment == "cut" else (Fault(moment, 1, "fails"),)
    if moment == "catch-up":
        yield evolve(_transaction(f"{fresh}-1"), faults=(Fault("mirror", 1, "fails"),))
    yield evolve(action, faults=faults)
    yield OpenLedger(_HOST)
    yield action
    yield action


def _tampering(world: World, fresh: str, kind: str) -> Iterator[Action]:
    yield _transaction(f"{fresh}-1")
    if kind.startswith("mirror-"):
        yield CloseLedger(_HOST)
    many = len(lines_of(world)) if recovery.whole(world.ledger or LedgerFile(), world.mirror) else 0
    yield Tamper(kind, *_where(kind, many + 1))
    if not kind.startswith("mirror-"):
        yield _transaction(f"{fresh}-2")
        yield ReadState(_HOST)
    yield OpenLedger(_HOST)


def _where(kind: str, line: int) -> tuple[int, int]:
    """Which line, and how many bytes or events, for a tampering of this kind."""
    if kind.startswith("line-"):
        return (line, 40 if kind == "line-edited" else 0)
    if kind in ("tail-torn", "tail-cut"):
        return (0, 50)
    return (0, 1) if kind in ("mirror-behind", "mirror-foreign") else (0, 0)


def _dying_call(fresh: str, which: str, moment: str) -> Iterator[Action]:
    action = _call(which, fresh)
    if moment in _CUTTING:
        action = evolve(action, faults=(_FAIL,))
    if moment in ("catch-up", "caught-up"):
        yield evolve(_transaction(f"{fresh}-1"), faults=(Fault("mirror", 1, "fails"),))
    yield Crash(_HOST, moment, action)
    yield OpenLedger(_HOST)
    yield evolve(action, faults=())


def _dying_opening(fresh: str, moment: str) -> Iterator[Action]:
    opening = OpenLedger(_HOST)
    if moment.startswith("cut"):
        yield Crash(_HOST, "append-torn", _transaction(f"{fresh}-1"))
    elif moment in ("catch-up", "caught-up"):
        yield Crash(_HOST, "append-written", _transaction(f"{fresh}-1"))
    else:
        yield CloseLedger(_HOST)
    if moment in ("aside", "set-aside", "build", "built", "renamed"):
        yield Tamper("mirror-corrupt")
    if moment == "ledger-created":
        yield from (Tamper("mirror-deleted"), Tamper("ledger-deleted"))
    yield Crash(_HOST, moment, opening)
    yield opening
