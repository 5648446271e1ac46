"""Several clients at work on one ledger, each killed somewhere, at a point and a time drawn from a seed.

The seed fixes who is to be killed at which arrival; the order in which the processes come is the
machine's. Whatever it was: what a process was told of is there, what it was doing when it was killed is
there or not, nothing else is; a step that isn't idempotent has run once at most; and the store works on.
"""

import random
from functools import partial

from crash_tests.children import Child, Say
from crash_tests.gated.clients import Place, applying, asked, count, effects, faults, keys, opened
from crash_tests.races import Said
from impl import disk
from impl.gated import Ledger

WORKERS = 4
CALLS = 20
"""How many calls a worker makes at most; most are killed before."""


_OFTEN = (
    "lock-acquire",
    "lock-release",
    "ledger-append",
    "ledger-fsync",
    "mirror-begin",
    "mirror-insert",
    "mirror-commit",
)


def killed_anywhere(seed: int, place: Place) -> list[str]:
    """What was wrong, in words."""
    draw = random.Random(f"torture/ledger/{seed}")
    opened(place).close()
    wrong: list[str] = []
    children: list[Child] = []
    points = [point for point in disk.CrashPoint if _is_often_passed(point)]
    try:
        for worker in range(WORKERS):
            work = partial(_works, place, worker, draw.choice(points), draw.randint(1, CALLS))
            children.append(Child(work, inherits=tuple(child.reader for child in children)))
        ends = [child.wait() for child in children]
    finally:
        for child in children:
            child.end()
    with opened(place) as mine:
        again = count(mine, "afterwards")
    if again.code != "committed":
        wrong.append(f"after the kills the store does not work on: {again}")
    found = keys(place)
    allowed = {"afterwards"}
    for worker, end in enumerate(ends):
        if not end.killed and not end.finished:
            wrong.append(f"worker {worker} {end.describe()}")
        answered = end.said.count(b"+")
        mine_all = [_written(worker, call) for call in range(CALLS)]
        told = [key for names in mine_all[:answered] for key in names]
        allowed |= {key for names in mine_all[: answered + 1] for key in names}
        if lost := [key for key in told if key not in found]:
            wrong.append(f"worker {worker}: acknowledged and gone: {', '.join(lost)}")
    if strangers := sorted(set(found) - allowed):
        wrong.append(f"never asked for: {', '.join(strangers)}")
    twice = [name for name, times in effects(place).items() if times > 1]
    if twice:
        wrong.append(f"ran twice, though not idempotent: {', '.join(twice)}")
    return wrong + faults(place)


def _is_often_passed(point: disk.CrashPoint) -> bool:
    return point.startswith(_OFTEN)


def _written(worker: int, call: int) -> tuple[str, ...]:
    """The keys of the lines that a call writes."""
    if call % 4 == 3:
        return (f"run-{worker}-{call}/r1", f"run-{worker}-{call}/r1:started")
    return (f"{worker}-{call}",)


def _asked(place: Place, mine: Ledger, worker: int, call: int) -> Said:
    if call % 4 == 3:
        request = applying(place, False, run=f"run-{worker}-{call}")
        return asked(lambda: mine.apply_steps(request))
    return count(mine, f"{worker}-{call}")


def _works(place: Place, worker: int, point: disk.CrashPoint, n: int, say: Say) -> None:
    with opened(place) as mine:
        disk.install(disk.kill_at(point, n))
        for call in range(CALLS):
            said = _asked(place, mine, worker, call)
            if said.code not in ("committed", "completed"):
                raise RuntimeError(f"call {call} of worker {worker} ended with {said}")
            say(b"+")
