"""What a kill trial costs, against the least that it could: fork, SIGKILL, wait, from the same parent.

Both are measured in one run, in turns, so that a busy machine slows both. A trial is a whole one: put the
directory back, fork, perform the action in flight, be killed, find out which world is left, open the store
again, do the action once more and one more write, all compared with the model.
"""

import os
import signal
import statistics
import time
from collections.abc import Mapping

from crash_tests.afterwards import recovery
from crash_tests.children import fork
from crash_tests.ground import ground
from crash_tests.oracle import Violation
from crash_tests.scenarios import RESERVED, TTL_MS, Scenario, call, reserve, uuid_of
from crash_tests.stories import Killed, Story, diverged
from crash_tests.trial import Arrival, Situation, kill, prepared, record, recover
from model.actions import Action
from stateful_tests.pair import DivergedError

ROUNDS = 5
COMMITS = 50

TRIALS = "kill trials per second"
BARE = "bare fork + SIGKILL + wait per second"
RATIO = "kill trials / bare fork + SIGKILL + wait"


def _renewals(number: int) -> tuple[Action, ...]:
    """Each with another time limit: the clock stands still here, and what changes nothing is no commit."""
    return tuple(call("renew", id=uuid_of(1), ttlMs=TTL_MS + index) for index in range(1, number + 1))


MEASURED = Scenario(
    "measured",
    f"a reservation after {COMMITS} commits",
    (*RESERVED, *_renewals(COMMITS - 2)),
    (reserve(2),),
)


class FoundError(Exception):
    """There is nothing to measure: a trial found that the store is broken, and `story` says how."""

    def __init__(self, story: Story) -> None:
        super().__init__(story.title)
        self.story = story


def measure(*, rounds: int = ROUNDS) -> Mapping[str, float]:
    """The two rates and their ratio. Raises `FoundError` if a trial finds that the store is broken.

    Each trial is followed by a bare one, so that whatever else the machine does slows both alike. Of each
    point's trials, and of all the bare ones, the median counts.
    """
    try:
        with ground() as place, prepared(MEASURED, place) as situation:
            arrivals = record(situation)
            turns = [_turn(situation, arrivals) for _ in range(rounds + 1)][1:]
    except DivergedError as error:
        raise FoundError(Story(MEASURED, (), (), diverged(error))) from error
    trial = statistics.mean(
        statistics.median(turn[index][0] for turn in turns) for index in range(len(arrivals))
    )
    bare = statistics.median(seconds for turn in turns for _, seconds in turn)
    return {TRIALS: 1 / trial, BARE: 1 / bare, RATIO: bare / trial}


def _turn(situation: Situation, arrivals: tuple[Arrival, ...]) -> list[tuple[float, float]]:
    """Seconds that a trial and that a bare fork, kill and wait took, for each of `arrivals`."""
    took = []
    for arrival in arrivals:
        started = time.perf_counter()
        _trial(situation, arrival)
        done = time.perf_counter()
        _bare()
        took.append((done - started, time.perf_counter() - done))
    return took


def _trial(situation: Situation, arrival: Arrival) -> None:
    left, actions = kill(situation, arrival), tuple[Action, ...]()
    found = left if isinstance(left, Violation) else None
    if not isinstance(left, Violation):
        actions = recovery(situation.flight, left.decided.world)
        found = recover(situation, left, actions)
    if found is not None:
        kills = (Killed(situation.flight, arrival.point, arrival.n, situation.left),)
        raise FoundError(Story(MEASURED, kills, actions, found))


def _bare() -> None:
    pid = fork()
    if pid == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
