"""Each step of the ledger's store made to fail, whether or not the model has a moment for it.

The model knows what comes of the failures that the specification tells apart; those are the lockstep's. Here
any step fails: creating, reading, syncing a directory, renewing, setting aside, building, renaming, taking
and releasing the lock. Whatever comes of it must be an error of the store's own, or no error at all; what
it says must be true (`retry` and `rollback`: nothing new is durable); the files must be what one of the
call's small steps leaves; and once the fault is gone, the store opens and works on.
"""

import errno
import os
import pickle
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from attrs import define, evolve, field, frozen

from crash_tests.children import HarnessError, Say, in_child
from crash_tests.gated.trial import Arrival, Situation, look, recover, recovery
from crash_tests.oracle import Violation
from crash_tests.reading import Fields, StoryError
from impl import disk
from model.gated.actions import Transact
from model.gated.values import LedgerFile, World
from model.values import JSON
from stateful_tests.gated.lockstep import bytes_of
from stateful_tests.gated.results import Crashed, Refusal, Result

ERROR = "Errors: every failure is an error of the store's own"
TRUE = "Errors: what an error says of recoverability is true"

NUMBERS: Mapping[str, tuple[int, ...]] = {
    "append": (errno.ENOSPC, errno.EIO),
    "create": (errno.ENOSPC, errno.EACCES),
    "acquire": (errno.ENOLCK,),
}
"""What a step of the system may fail with, likeliest first; EIO where nothing stands here."""

_SQLITE = ("disk I/O error", "database or disk is full", "database is locked")


@frozen
class Fault:
    """The step that begins (or is half done) at the `n`-th arrival at `point` fails with `number`.

    With `lasting`, every later arrival there fails as well, as on a disk that has died.
    """

    point: str
    n: int
    number: int
    lasting: bool = False
    left: Mapping[str, JSON] | None = field(default=None, eq=False)
    """What was on disk then, for people, where that was looked at."""

    def __str__(self) -> str:
        how = "failing from then on" if self.lasting else "failing"
        return f"{self.point} ({self.n}) {how} with {errno.errorcode[self.number]}"

    @property
    def error(self) -> Exception:
        if self.point.startswith("mirror-") and not _is_of_a_file(self.point):
            which = (errno.EIO, errno.ENOSPC, errno.EBUSY).index(self.number)
            return sqlite3.OperationalError(_SQLITE[which])
        return OSError(self.number, os.strerror(self.number))

    def to_json(self) -> dict[str, JSON]:
        name = errno.errorcode[self.number]
        told: dict[str, JSON] = {"point": self.point, "n": self.n, "errno": name, "lasting": self.lasting}
        return told if self.left is None else {**told, "left": dict(self.left)}


def fault_from_json(trace: Fields) -> Fault:
    """What `Fault.to_json` wrote. Raises `StoryError` for anything else."""
    number = getattr(errno, name := trace.text("errno"), None)
    if not isinstance(number, int):
        raise StoryError(f"{trace.place('errno')}: {name!r} is no error number's name, such as 'EIO'")
    if (point := trace.text("point")) not in set(disk.CrashPoint):
        raise StoryError(f"{trace.place('point')}: {point!r} is no marked point of this version's store")
    return Fault(point, trace.number("n"), number, trace.flag("lasting"), trace.free("left"))


def _is_of_a_file(point: str) -> bool:
    """Steps of the mirror that are the system's, not SQLite's."""
    return point.startswith(("mirror-aside", "mirror-rename", "mirror-dirsync", "mirror-build-fsync"))


def faults(arrivals: Sequence[Arrival], *, every_error: bool) -> Iterator[Fault]:
    """What can fail on the way of `arrivals`."""
    for one in arrivals:
        step, _, moment = one.point.rpartition("-")
        if moment == "after" or step in ("recovery", "lock-release"):
            continue
        sqlite = step.startswith("mirror-") and not _is_of_a_file(step)
        usual = (errno.EIO, errno.ENOSPC, errno.EBUSY) if sqlite else (errno.EIO,)
        numbers = NUMBERS.get(step.rpartition("-")[2], usual)
        for number in numbers if every_error else numbers[:1]:
            yield Fault(one.point, one.n, number)
        if every_error:
            yield Fault(one.point, one.n, numbers[0], lasting=True)


def strike(situation: Situation, fault: Fault) -> Violation | None:
    """Performs the flight in a child, with `fault`; the first thing that is wrong, then or afterwards."""
    situation.ground.put_back(situation.picture)
    situation.left = {}
    ended = in_child(partial(_struck, situation, fault))
    if not ended.finished:
        raise HarnessError(f"a child with {fault} {ended.describe()}")
    index, result, effects = pickle.loads(ended.said)
    if isinstance(result, Crashed):
        return Violation(ERROR, f"{fault}: the call ended with {result.text}")
    left = look(situation, effects, index, struck="fault")
    if isinstance(left, Violation):
        return evolve(left, title=f"{fault}: {left.title}")
    transacting = isinstance(situation.flight[index], Transact)
    if transacting and (wrong := _untrue(situation.worlds[index], left.decided.world, result)):
        return Violation(TRUE, f"{fault}: {wrong}")
    violation = recover(situation, left, recovery(situation.flight[index:]), struck="fault")
    return violation and evolve(violation, title=f"{fault}: {violation.title}")


def _untrue(before: World, after: World, result: Result) -> str | None:
    """What an error says that isn't so."""
    if not isinstance(result, Refusal) or result.recoverability not in ("retry", "rollback"):
        return None
    old, new = bytes_of(before) or b"", bytes_of(after) or b""
    known = len((before.ledger or LedgerFile()).tail)
    if new != old and new != old[: len(old) - known]:
        return f"{result.code} says {result.recoverability}, and the ledger is another one"
    return None


@define
class _Failing:
    """The hook: fails the step, and is told whether it did."""

    fault: Fault
    struck: bool = False
    _seen: Counter[str] = field(factory=Counter)

    def __call__(self, point: disk.CrashPoint) -> None:
        fault = self.fault
        self._seen[point] += 1
        now = self._seen[point]
        if point == fault.point and (now == fault.n or (fault.lasting and now > fault.n)):
            self.struck = True
            raise fault.error


def _struck(situation: Situation, fault: Fault, say: Say) -> None:
    failing = _Failing(fault)
    with situation.target() as target:
        for action in situation.warm:
            target.apply(action)
        disk.install(failing)
        for index, action in enumerate(situation.flight):
            result = target.apply(action)
            if failing.struck:
                disk.install(None)
                say(pickle.dumps((index, result, tuple(target.effects.happened))))
                return
    raise HarnessError(f"{fault} never struck")
