"""The races of a target's processes as jobs and as traces: how many rounds, what is counted, what is told.

Each round is counted as `race/<name>`, or `race/<name>, <style>` (see `rounds`); what can't be raced is
counted under `beyond/…` or `deviation/…`, so that the report says so. A race ends at its first failure.

No order of processes can be forced, so a replay runs rounds until one fails, and `fixed` says only that none
did.
"""

import itertools
import random
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import define, evolve, field, frozen

import model
from crash_tests.ground import memory
from crash_tests.wire.calls import Place, usable
from crash_tests.wire.crowd import Crowd
from crash_tests.wire.racers import RACES, WireRace
from crash_tests.wire.rounds import AT_CALL, AT_ONCE, STYLES, Lost, Round
from model.actions import Action
from model.values import JSON
from stateful_tests.removing import remove
from stateful_tests.results import Failure, Job, JobResult, Plan
from stateful_tests.wire.capabilities import Capabilities
from stateful_tests.wire.faults import CLAUSES, HUNG
from stateful_tests.wire.reach import Reach
from stateful_tests.wire.runners import REPRODUCE, Aim, of_target

TRIAL: Final = "race"
SCHEMA_VERSION: Final = 1
AGAIN: Final = 30
"""Rounds of a replay, at most."""
ONE_PROCESS: Final = "beyond/races of several processes: the target is for one process at a time"
NO_CALLS: Final = "beyond/races in which one stands still at a system call"
MISSED: Final = "missed/races in which one was to stand still or to be killed"
SLOW: Final = "beyond/rounds of races that a slow target left no time for"
_TRIES: Final = 4
_RUNNER: Final = "crash_tests.wire.racing:run_races"


class RaceError(ValueError):
    """The trace of a race can't be read. The message names the place in it."""


@frozen
class Budget:
    """Rounds of each race and style; of targets that can't begin again, whose processes all have to be
    started anew, `slowly` as many; and `calls` in which one stops at a system call. `least` are done
    however long they take, `patience_s` is how long a job starts more."""

    rounds: int
    slowly: int
    calls: int
    jobs: int
    patience_s: float
    least: int = 1


BUDGETS: Final[Mapping[str, Budget]] = {
    "quick": Budget(3, 1, 2, 2, 20.0),
    "ci": Budget(20, 4, 8, 4, 120.0, 2),
    "deep": Budget(300, 30, 60, 7, 900.0, 5),
}


def plan_races(profile: str, seed: int, *, aim: Aim, capabilities: Capabilities, strace: str | None) -> Plan:
    """The races that the target can be sent into, in a few jobs; in one more what is out of its reach.

    `strace` says why none can be stopped at system calls, if so.
    """
    budget = BUDGETS[profile]
    names = [name for name in RACES if beyond(RACES[name], capabilities, aim) is None]
    others: list[JSON] = [name for name in RACES if name not in names]
    rounds = budget.rounds if capabilities.again else budget.slowly
    every: dict[str, JSON] = {"profile": profile, "seed": seed, "rounds": rounds, **aim.to_json()}
    every["strace"] = strace
    jobs = []
    for start in range(budget.jobs):
        some: list[JSON] = list(names[start :: budget.jobs])
        jobs += [_job({**every, "names": some, "beyond": []}, 2.0 * rounds * len(some))] if some else []
    if others:
        why: list[JSON] = [beyond(RACES[str(name)], capabilities, aim) for name in others]
        jobs.append(_job({**every, "names": [], "beyond": why}, 0.1))
    least = min(budget.least, rounds)
    return Plan(tuple(jobs), {key(name, style): least for name in names for style in STYLES})


def beyond(race: WireRace, capabilities: Capabilities, aim: Aim) -> str | None:
    """Why the target's processes can't be sent into `race`."""
    if capabilities.processes == "one":
        return ONE_PROCESS
    reach = Reach(evolve(capabilities, hosts="many"), aim.policy)  # one host each
    world = model.initial_world()
    turns: tuple[Action, ...] = tuple(turn.action for burst in race.bursts for turn in burst if turn)
    for action in (*race.history, *turns):
        why = reach.beyond(action, world)
        if why is not None:
            return why
        world = model.step(world, action)[0]
    return None


def key(name: str, style: str) -> str:
    """How a round is counted."""
    return f"race/{name}" if style == AT_ONCE else f"race/{name}, {style}"


def _job(params: Mapping[str, JSON], weight: float) -> Job:
    return Job("kills", _RUNNER, params, weight)


def run_races(params: Mapping[str, Any]) -> JobResult:
    """Sends the target's processes into the races that `params` names, round after round."""
    aim, counts = Aim.of(params), Counter[str](params["beyond"])
    budget, failures = BUDGETS[params["profile"]], list[Failure]()
    course = Course(aim, int(params["seed"]))
    until = time.monotonic() + budget.patience_s
    failed: set[str] = set()
    calls = 0 if params["strace"] is not None else budget.calls
    if params["names"] and not calls:
        counts[f"{NO_CALLS}: {params['strace']}"] += 1
    try:
        for number, name, style in itertools.product(
            range(max(int(params["rounds"]), calls)), params["names"], (*STYLES, AT_CALL)
        ):
            if name in failed or number >= (calls if style == AT_CALL else int(params["rounds"])):
                continue
            if number >= budget.least and time.monotonic() > until:
                counts[SLOW] += 1
                continue
            lost = course.round(RACES[name], style)
            counts[MISSED if course.missed else key(name, style)] += 1
            if lost is not None:
                failed.add(name)
                failures.append(failure(RACES[name], style, lost, aim))
                if lost.violation.clause == CLAUSES[HUNG]:
                    break  # each more would cost the whole time limit
    finally:
        course.close()
    told: dict[str, JSON] = {"target": {"command": params["command"], "policy": params["policy"]}}
    return JobResult(_job(params, 1.0), dict(counts), tuple(failures), details=told)


@define
class Course:
    """Where rounds are run, one after the other, by the same processes where that can be."""

    aim: Aim
    seed: int
    _crowd: Crowd = field(init=False)
    _root: Path = field(init=False)
    _rounds: Counter[str] = field(factory=Counter)
    _request_s: dict[str, float] = field(factory=dict)
    _spots: dict[str, list[tuple[int, Place]]] = field(factory=dict)
    missed: bool = False
    """Whether the last round shows less than it should, because nobody stood still or was killed there."""

    def __attrs_post_init__(self) -> None:
        self._crowd = Crowd(self.aim.command)
        self._root = Path(tempfile.mkdtemp(prefix="holdtrue-races-", dir=memory())).resolve()

    def round(self, race: WireRace, style: str) -> Lost | None:
        """One round; again, if who was to stand still in its request was quicker, and that costs little."""
        lost = None
        for _ in range(_TRIES):
            one = self._prepared(race, style)
            try:
                if style == AT_CALL and not self._at_call(one):
                    return None
                lost = one.run()
            finally:
                self._request_s[race.name] = one.request_s
                remove(one.directory.parent)
            self.missed = one.spared or (one.late and style == AT_CALL)
            if lost is not None or not (one.late or one.spared) or not self._crowd.lasting:
                break
        return lost

    def _prepared(self, race: WireRace, style: str) -> Round:
        named = key(race.name, style)
        self._rounds[named] += 1
        place = self._root / f"{self._rounds.total()}"
        place.mkdir()
        draw = random.Random(f"{self.seed}/{named}/{self._rounds[named]}")
        took = self._request_s.get(race.name, 0.0)
        return Round(race, self._crowd, self.aim.policy, place / "store", style, draw, took)

    def _at_call(self, one: Round) -> bool:
        """Chooses where one stops in that round: each place in its turn. Whether there is any."""
        name = one.race.name
        if not self._spots.get(name):
            spots = []
            for victim in {1, one.race.processes - 1} if one.race.mixed else {1}:
                alone = self._prepared(one.race, AT_ONCE)
                alone.victim = victim
                log = alone.directory.with_suffix(".calls")
                spots += [(victim, place) for place in alone.record(log)]
                remove(alone.directory.parent)
            self._spots[name] = in_turn(spots, random.Random(f"{self.seed}/{name}/spots"))
        spots, self.missed = self._spots[name], not self._spots[name]
        if spots:
            one.victim, one.place = spots[(self._rounds[key(name, AT_CALL)] - 1) % len(spots)]
        return bool(spots)

    def close(self) -> None:
        self._crowd.close()
        remove(self._root)


def in_turn(spots: Sequence[tuple[int, Place]], draw: random.Random) -> list[tuple[int, Place]]:
    """All of `spots` at random, but by turns one where a lock is given up midway, and one of the others."""
    drawn = draw.sample(spots, len(spots))
    parting, others = ([spot for spot in drawn if spot[1].parts == parts] for parts in (True, False))
    pairs = itertools.zip_longest(parting, others)
    return [spot for pair in pairs for spot in pair if spot is not None]


def failure(race: WireRace, style: str, lost: Lost, aim: Aim) -> Failure:
    """`steps` are who was asked for what, and the answer; `wrong` is what is wrong with that."""
    trace: dict[str, Any] = {
        "kind": "kill",
        "trial": TRIAL,
        "schema_version": SCHEMA_VERSION,
        "name": race.name,
        "why": race.why,
        "style": style,
        "clause": lost.violation.clause,
        "steps": list(lost.steps),
        "wrong": list(lost.wrong),
        "differences": [one.to_json() for one in lost.violation.differences],
        "versions": {},
    }
    title = f"{race.name}, {style}: {lost.wrong[0]}"
    return Failure(of_target(trace, {"command": aim.command.text}), title, lost.violation.clause, REPRODUCE)


def again(trace: Mapping[str, Any], aim: Aim, capabilities: Capabilities) -> tuple[Lost | None, str]:
    """Runs the race of `trace` until a round fails; how that went, and a sentence that says so.

    Raises `RaceError` if there is no such race, and for a target that can't be sent into it.
    """
    if trace.get("schema_version") != SCHEMA_VERSION:
        raise RaceError(f"schema_version: {trace.get('schema_version')!r}; known is {SCHEMA_VERSION}")
    name, style = trace.get("name"), trace.get("style")
    if not isinstance(name, str) or name not in RACES:
        raise RaceError(f"name: {name!r} is no race of a target; known are {', '.join(RACES)}")
    if style not in (*STYLES, AT_CALL):
        raise RaceError(f"style: {style!r} is none; known are {', '.join((*STYLES, AT_CALL))}")
    why = beyond(RACES[name], capabilities, aim)
    if style == AT_CALL and why is None:
        unusable = usable()
        why = None if unusable is None else f"{NO_CALLS}: {unusable}"
    if why is not None:
        raise RaceError(f"this target can't be sent into the race {name}: {why.partition('/')[2]}")
    course = Course(aim, 0)
    try:
        for attempt in range(1, AGAIN + 1):
            # What a request takes is seen in rounds at once, without which the others would strike blindly.
            for styled in dict.fromkeys((AT_ONCE, str(style))):
                lost = course.round(RACES[name], styled)
                if lost is not None:
                    return lost, f"in round {attempt}: {lost.wrong[0]}"
    finally:
        course.close()
    return None, f"{AGAIN} times over, the race went as it should"
