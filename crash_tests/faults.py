"""Disk steps that fail: full disk, I/O error, a write cut short, fsync failing, at each step of each action.

In a child with the warm, open store a step is made to fail where it would begin (or half-way through a
write). Then: the error is DURABILITY_FAILED with side effects `unknown`; the state is the old one or, once
the rename had happened, the new one; no temporary file is left; while the fault stands, it fails the same
way again; and once it is gone, the very next call works.

Where removing a temporary file or giving up the mutex fails, nothing says whether the call then fails too:
either is accepted, as long as the state agrees with the answer and the next call works.

Not covered: what a failed fsync does to pages that the kernel then drops. That needs another disk.
"""

import errno
import pickle
from collections.abc import Iterator, Mapping, Sequence

from attrs import evolve, field, frozen

import model
from crash_tests.afterwards import probes, work_on
from crash_tests.children import HarnessError, Say, in_child
from crash_tests.oracle import Violation, candidates, decide
from crash_tests.reading import Fields, StoryError
from crash_tests.trial import Arrival, Situation
from impl import disk
from model.actions import Action, Call, Open, ReadEpoch
from model.outcomes import Refused
from model.values import JSON, World
from stateful_tests.compare import Difference
from stateful_tests.target import Refusal, Result, StoreTarget

ERROR = "An I/O error: DURABILITY_FAILED, unknown"
STATE = "An I/O error: the old state or, once the rename happened, the new one"
TEMPS = "C5: a failed publication leaves no temporary file"
NEXT = "C5: once the fault is gone the next call works"
UNLOCKED = "One transaction, 12: the mutex is released, whatever happened"

ERRORS: Mapping[str, tuple[int, ...]] = {
    "create": (errno.ENOSPC, errno.EIO),
    "write": (errno.ENOSPC, errno.EIO),
    "fsync": (errno.EIO, errno.ENOSPC),
    "rename": (errno.EIO,),
    "dirsync": (errno.EIO,),
    "mkdir": (errno.ENOSPC,),
    "read": (errno.EIO,),
    "acquire": (errno.ENOLCK,),
    "release": (errno.EIO,),
    "unlink": (errno.EIO,),
}
"""What a step may fail with, likeliest first."""

_EITHER_WAY = ("temp-unlink", "lock-release")
_BEFORE_CLEANING = ("lock-create", "lock-acquire", "temp-unlink", "mkdir", "mkdir-dirsync")


@frozen
class Fault:
    """The step that begins (or is half done) at the `n`-th arrival at `point` fails with `number`.

    With `untidy`, removing the temporary file fails after that as well.
    """

    point: str
    n: int
    number: int
    untidy: bool = False
    left: Mapping[str, JSON] | None = field(default=None, eq=False)
    """What was on disk then, for people, where that was looked at."""

    @property
    def step(self) -> str:
        return self.point.rpartition("-")[0]

    def __str__(self) -> str:
        told = f"{self.point} ({self.n}) failing with {errno.errorcode[self.number]}"
        return f"{told}, and its temporary file can't be removed" if self.untidy else told

    def to_json(self) -> dict[str, JSON]:
        name = errno.errorcode[self.number]
        told: dict[str, JSON] = {"point": self.point, "n": self.n, "errno": name, "untidy": self.untidy}
        return told if self.left is None else {**told, "left": dict(self.left)}


def fault_from_json(trace: Fields) -> Fault:
    """What `Fault.to_json` wrote. Raises `StoryError` for anything else."""
    number = getattr(errno, name := trace.text("errno"), None)
    if not isinstance(number, int):
        raise StoryError(f"{trace.place('errno')}: {name!r} is no error number's name, such as 'EIO'")
    if (point := trace.text("point")) not in set(disk.CrashPoint):
        raise StoryError(f"{trace.place('point')}: {point!r} is no marked point of this version's store")
    return Fault(point, trace.number("n"), number, trace.flag("untidy"), trace.free("left"))


def faults(arrivals: Sequence[Arrival], *, every_error: bool) -> Iterator[Fault]:
    """What can fail on the way of `arrivals`."""
    for one in arrivals:
        step, _, moment = one.point.rpartition("-")
        if moment == "after":
            continue
        numbers = ERRORS[step.rpartition("-")[2]]
        for number in numbers if every_error else numbers[:1]:
            yield Fault(one.point, one.n, number)
        if step.endswith(("-write", "-fsync", "-rename")):
            yield Fault(one.point, one.n, numbers[0], untidy=True)


def strike(situation: Situation, fault: Fault) -> Violation | None:
    """Performs the actions in a child, with `fault`; the first thing that is wrong."""
    situation.ground.put_back(situation.picture)
    ended = in_child(lambda say: _struck(say, situation, fault))
    if not ended.finished:
        raise HarnessError(f"a child with {fault} {ended.describe()}")
    found: Violation | None
    found, situation.left = pickle.loads(ended.said)
    return found


class _Failing:
    """The hook: notes what is passed, and fails the step from the `n`-th arrival on, until it is lifted."""

    def __init__(self, fault: Fault) -> None:
        self._fault = fault
        self._left = fault.n
        self.struck = False
        self.passed: set[str] = set()

    def __call__(self, point: disk.CrashPoint) -> None:
        self.passed.add(str(point))
        fault = self._fault
        if point == fault.point:
            self._left -= 1
            if self._left <= 0:
                self.struck = True
                raise OSError(fault.number, "a fault of the test's making")
        elif fault.untidy and self.struck and point is disk.CrashPoint.TEMP_UNLINK_BEFORE:
            raise OSError(errno.EIO, "a second fault of the test's making")


def _struck(say: Say, situation: Situation, fault: Fault) -> None:
    failing = _Failing(fault)
    target = situation.target
    for index, action in enumerate(situation.flight):
        failing.passed.clear()
        disk.install(failing)
        result = target.apply(action)
        if failing.struck:
            seen = target.observe()
            left: dict[str, JSON] = {**seen.brief(), "files": list(situation.ground.picture().names)}
            say(pickle.dumps((_judged(situation, fault, failing, index, result), left)))
            return
    raise HarnessError(f"{fault} never struck")


def _judged(
    situation: Situation, fault: Fault, failing: _Failing, index: int, result: Result
) -> Violation | None:
    """`index` is the action that the fault struck in; the hook is still there."""
    target, action = situation.target, situation.flight[index]
    before, after = situation.worlds[index : index + 2]
    world = _world(situation, fault, failing, index, result)
    if isinstance(world, Violation):
        return world
    unchanged = (world.store, world.identity_file) == (before.store, before.identity_file)
    if unchanged and world.store != after.store and not fault.untidy:
        if (again := _error(fault, before, action, target.apply(action))) is not None:
            return evolve(again, title=f"the second time, {again.title}")
        if target.observe().temps > 0 and fault.step not in _BEFORE_CLEANING:
            return Violation(TEMPS, f"{fault}: the second time a temporary file is left")
    disk.install(None)
    return _next(target, world, situation.flight[index:], fault)


def _world(
    situation: Situation, fault: Fault, failing: _Failing, index: int, result: Result
) -> World | Violation:
    """The world that the failed action left, with the hosts that are still open; or what is wrong with it."""
    action, passed = situation.flight[index], failing.passed
    before, after = situation.worlds[index : index + 2]
    if (wrong := _error(fault, before, action, result)) is not None:
        return wrong
    seen = situation.target.observe()
    decided = decide(seen, candidates((before, after), 0), (before, after), 0, struck="fault")
    if isinstance(decided, Violation):
        return evolve(decided, clause=STATE, title=f"{fault}: {decided.title}")
    renamed = "state-rename-after" in passed
    published = decided.world.store == after.store
    if before.store != after.store and published != renamed:
        shown = "new" if published else "old"
        return Violation(STATE, f"{fault}: the state is the {shown} one, renamed: {renamed}")
    most = 1 + (not before.identity_file) if fault.untidy else 0
    if fault.step in _BEFORE_CLEANING:
        most = len(situation.picture.temporaries)
    if seen.temps > most:
        left = Difference("temporary files", most, seen.temps)
        return Violation(TEMPS, f"{fault}: {seen.temps} temporary files are left", (left,))
    refused = isinstance(result, Refusal)
    hosts = before.hosts if refused else after.hosts
    if isinstance(action, Open) and refused:
        hosts = tuple(host for host in hosts if host.name != action.host)
    return evolve(decided.world, hosts=hosts)


def _error(fault: Fault, before: World, action: Action, result: Result) -> Violation | None:
    """Whether the failing call ended as it should."""
    if fault.step in _EITHER_WAY:
        usual = model.step(before, action)[1]
        code = usual.code if isinstance(usual, Refused) else None
        if code == (result.code if isinstance(result, Refusal) else None):
            return None
    if isinstance(result, Refusal):
        unknown = result.side_effects == "unknown" or isinstance(action, ReadEpoch)
        if result.code == "DURABILITY_FAILED" and unknown:
            return None
    return Violation(ERROR, f"{fault}: the call ended with {result}")


def _next(target: StoreTarget, world: World, flight: Sequence[Action], fault: Fault) -> Violation | None:
    """The fault is gone: the same again, and a write."""
    last = flight[-1]
    host = last.host if isinstance(last, Call | Open) else "a"
    opens = tuple(action for action in flight if isinstance(action, Open))
    actions = (*opens, *probes(flight, world, host))
    violation = work_on(target, world, actions, struck="fault")
    if violation is None:
        return None
    clause = UNLOCKED if fault.step == "lock-release" else NEXT
    return evolve(violation, clause=clause, title=f"{fault}: {violation.title}")
