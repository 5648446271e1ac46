"""Several processes at work on one store, each killed somewhere, at a point and a time drawn from a seed.

The seed fixes who is to be killed at which arrival; the order in which the processes come is the
machine's. Whatever it was: what a process had acknowledged is there, what it was doing when it was killed
is there or not, nothing else is, and the store works on.
"""

import random
from functools import partial

from crash_tests.children import Child, Say
from crash_tests.races import Place, host, reserve
from crash_tests.scenarios import uuid_of
from impl import disk

WORKERS = 6
CALLS = 30
"""How many calls a worker makes at most; most are killed before."""

_POINTS = tuple(
    point
    for point in disk.COORDINATOR_POINTS
    if point.startswith(("lock-acquire", "lock-release", "state-", "identity-read", "foreign"))
)


def killed_anywhere(seed: int, place: Place) -> list[str]:
    """What was wrong, in words."""
    draw = random.Random(f"torture/{seed}")
    slots = WORKERS * CALLS + 1
    host(place, maximum=slots).close()
    wrong: list[str] = []
    children: list[Child] = []
    try:
        for worker in range(WORKERS):
            work = partial(_works, place, worker, slots, draw.choice(_POINTS), draw.randint(1, CALLS))
            children.append(Child(work, inherits=tuple(child.reader for child in children)))
        ends = [child.wait() for child in children]
    finally:
        for child in children:
            child.end()
    rows = place.rows()
    expected: set[str] = set()
    for worker, end in enumerate(ends):
        if not end.killed and not end.finished:
            wrong.append(f"worker {worker} {end.describe()}")
        answered = end.said.count(b"+")
        mine = [uuid_of(worker * CALLS + call + 1) for call in range(CALLS)]
        expected |= set(mine[: answered + (1 if end.killed else 0)])
        if lost := [one for one in mine[:answered] if one not in rows]:
            wrong.append(f"worker {worker}: acknowledged and gone: {', '.join(lost)}")
    if strangers := sorted(set(rows) - expected):
        wrong.append(f"never asked for, or refused: {', '.join(strangers)}")
    with host(place, maximum=slots) as mine_now:
        said = reserve(mine_now, slots)
    if said.code != "ok":
        wrong.append(f"after the kills the store does not work on: {said}")
    return wrong + place.faults()


def _works(place: Place, worker: int, slots: int, point: disk.CrashPoint, n: int, say: Say) -> None:
    with host(place, maximum=slots) as mine:
        disk.install(disk.kill_at(point, n))
        for call in range(CALLS):
            said = reserve(mine, worker * CALLS + call + 1)
            if said.code != "ok":
                raise RuntimeError(f"call {call} of worker {worker} was refused: {said}")
            say(b"+")
