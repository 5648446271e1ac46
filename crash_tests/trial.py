"""One kill trial: fork, run, kill, recover, check; and again, with the recovery itself killed.

A `Situation` is a warm, open store in this process, a picture of its directory, and the actions that are
about to happen. `record` performs them once in a child and learns which marked points they pass. `kill`
puts the directory back, forks a child that performs them and dies at one of those points, and has the
oracle say which world it left. `recover` opens the store again in this process and walks on in lockstep
with the model. What a kill leaves can be made a situation of its own, whose action is the opening: so
recoveries are killed like anything else.

The surroundings outlive the process. A trial gives the recovering store those that the recording run had
at the same point, since the same actions on the same bytes reach it in the same way.

Not covered: what a power cut leaves. SIGKILL keeps the page cache.
"""

import pickle
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from attrs import define, evolve, field, frozen

import model
from crash_tests.afterwards import work_on
from crash_tests.children import Ended, HarnessError, MisfitError, Say, in_child
from crash_tests.forge import Forge
from crash_tests.ground import Ground, Picture
from crash_tests.oracle import TEMPS, Candidate, Violation, candidates, decide
from crash_tests.scenarios import Scenario
from impl import disk
from model.actions import Action
from model.invariants import check
from model.values import JSON, World
from stateful_tests.lockstep import DivergedError, Lockstep
from stateful_tests.memory import recall, remember
from stateful_tests.observe import Observation
from stateful_tests.target import StoreTarget

_ANSWERED = b"\x06"


@frozen
class Arrival:
    """The `n`-th arrival at `point`, with what the surroundings knew and how much had been acknowledged."""

    point: str
    n: int
    memory: bytes = field(repr=False)
    acknowledged: int = 0

    @property
    def key(self) -> str:
        return f"{self.point}#{self.n}"


@frozen
class Aftermath:
    """What a kill left behind: the files, the world decided upon, and what the surroundings know."""

    picture: Picture = field(repr=False)
    decided: Candidate
    memory: bytes = field(repr=False)


@define
class Situation:
    """A store at work in this process, and what is about to happen to it. `worlds` are the model's."""

    ground: Ground
    target: StoreTarget
    picture: Picture
    memory: bytes
    flight: tuple[Action, ...]
    worlds: tuple[World, ...]
    left: dict[str, JSON] = field(factory=dict)
    """What was seen of the files after the last kill, for people."""
    _possible: dict[int, tuple[Candidate, ...]] = field(factory=dict)
    _seen: dict[tuple[object, ...], Observation] = field(factory=dict)
    _forge: Forge | None = None
    _eyes: StoreTarget | None = None

    @classmethod
    def of(cls, ground: Ground, target: StoreTarget, world: World, flight: Sequence[Action]) -> "Situation":
        """The situation as it stands on `ground` now."""
        worlds = [world]
        for action in flight:
            worlds.append(model.step(worlds[-1], action)[0])
        memory = remember(target.around)
        return cls(ground, target, ground.picture(), memory, tuple(flight), tuple(worlds))

    def possible(self, acknowledged: int) -> tuple[Candidate, ...]:
        if acknowledged not in self._possible:
            self._possible[acknowledged] = candidates(self.worlds, acknowledged)
        return self._possible[acknowledged]

    def look(self, picture: Picture, memory: bytes) -> Observation:
        """What the store shows when the directory is as in `picture`; the same bytes are judged but once."""
        key = (picture.exact, memory)
        if key not in self._seen:
            self._seen[key] = self.fresh(memory).observe()
        return self._seen[key]

    def fresh(self, memory: bytes) -> StoreTarget:
        """The store as a fresh process finds it: nothing open, the surroundings as they were.

        It is the same object each time: of what its eyes have verified once, only what is new costs.
        """
        if self._eyes is None:
            self._eyes = StoreTarget(self.ground.directory)
        eyes = self._eyes
        eyes.close()
        eyes.hosts.clear()
        eyes.files.published.clear()
        eyes.look_afresh()
        recall(eyes.around, memory)
        return eyes

    def ask(self, request: "Kill | Survive") -> Ended:
        """Has a child of the warm store do what is requested."""
        if self._forge is None:
            self._forge = Forge(self._perform)
        return self._forge.ask(request)

    def close(self) -> None:
        if self._eyes is not None:
            self._eyes.close()
        if self._forge is not None:
            self._forge.close()
            self._forge = None

    def _perform(self, request: "Kill | Survive", say: Say) -> None:
        if isinstance(request, Kill):
            disk.install(disk.kill_at(disk.CrashPoint(request.point), request.n))
            for action in self.flight:
                self.target.apply(action)
                say(_ANSWERED)
        else:
            recall(self.target.around, request.memory)
            self.target.look_afresh()
            say(pickle.dumps(work_on(self.target, request.world, request.actions)))


@frozen
class Kill:
    """A request: perform the actions in flight, and die at the `n`-th arrival at `point`."""

    point: str
    n: int


@frozen
class Survive:
    """A request: go on working with the warm store, which has not seen what was done to its files."""

    memory: bytes
    world: World
    actions: tuple[Action, ...]


@contextmanager
def prepared(scenario: Scenario, ground: Ground) -> Iterator[Situation]:
    """The situation that `scenario` leads up to. Raises `DivergedError` if its history already diverges."""
    with StoreTarget(ground.directory) as target:
        walk = Lockstep(target, model.initial_world(), judge=check)
        done = scenario.history[:-1] if scenario.broken_off else scenario.history
        for action in done:
            if walk.check(action).declined:
                raise MisfitError(f"{scenario.name}: the model declines {action}")
        if scenario.broken_off is None:
            with closing(Situation.of(ground, target, walk.world, scenario.flight)) as situation:
                yield situation
            return
        with closing(Situation.of(ground, target, walk.world, scenario.history[-1:])) as broken:
            point, n = scenario.broken_off
            arrival = next((one for one in record(broken) if (one.point, one.n) == (point, n)), None)
            if arrival is None:
                raise MisfitError(f"{scenario.name}: its opening never passes {point}#{n}")
            left = kill(broken, arrival)
        if isinstance(left, Violation):
            raise HarnessError(f"scenario {scenario.name}: {left.title}")
        with awoken(ground, left, scenario.flight) as situation:
            yield situation


@contextmanager
def awoken(ground: Ground, left: Aftermath, flight: Sequence[Action]) -> Iterator[Situation]:
    """What a kill left, as a situation in which `flight` is about to happen."""
    ground.put_back(left.picture)
    with StoreTarget(ground.directory) as target:
        recall(target.around, left.memory)
        with closing(Situation.of(ground, target, left.decided.world, flight)) as situation:
            yield situation


def record(situation: Situation) -> tuple[Arrival, ...]:
    """The marked points that the actions pass. Raises `DivergedError` if unkilled they already diverge."""
    situation.ground.put_back(situation.picture)

    def watched(say: Say) -> None:
        arrivals: list[Arrival] = []
        seen: Counter[str] = Counter()
        walk = Lockstep(situation.target, situation.worlds[0], judge=check)
        around = situation.target.around

        def hook(point: disk.CrashPoint) -> None:
            seen[point] += 1
            # A host that is asked nothing more tells its later points after its answer.
            arrivals.append(Arrival(str(point), seen[point], remember(around), len(records)))

        records: list[object] = []
        disk.install(hook)
        for action in situation.flight:
            one = walk.step(action)
            records.append(one)
            if one.divergence is not None:
                break
        disk.install(None)
        say(pickle.dumps((arrivals, records)))

    ended = in_child(watched)
    if not ended.finished:
        raise HarnessError(f"the recording run {ended.describe()}")
    arrivals, records = pickle.loads(ended.said)
    for one in records:
        if one.divergence is not None:
            raise DivergedError(one)
        if one.declined:
            raise MisfitError(f"the model declines {one.action} in flight")
    return tuple(arrivals)


def kill(situation: Situation, arrival: Arrival) -> Aftermath | Violation:
    """Kills the process that performs the actions at `arrival`; what it leaves."""
    situation.ground.put_back(situation.picture)
    ended = situation.ask(Kill(arrival.point, arrival.n))
    if not ended.killed:
        raise HarnessError(f"a child was to be killed at {arrival.key}, but it {ended.describe()}")
    return look(situation, arrival, ended)


def look(situation: Situation, arrival: Arrival, ended: Ended) -> Aftermath | Violation:
    """What the killed child left, as the oracle sees it."""
    picture = situation.ground.picture()
    seen = situation.look(picture, arrival.memory)
    acknowledged = len(ended.said)
    decided = decide(seen, situation.possible(acknowledged), situation.worlds, acknowledged)
    situation.left = told(picture, seen, decided)
    if isinstance(decided, Violation):
        return decided
    # One for the state, and one for the identity where that is still missing.
    most = len(situation.picture.temporaries) + 1 + (not situation.worlds[acknowledged].identity_file)
    if seen.temps > most:
        return Violation(
            TEMPS, f"{seen.temps} temporary files stand there after one kill, not {most} at most"
        )
    return Aftermath(picture, decided, arrival.memory)


def told(picture: Picture, seen: Any, decided: object) -> dict[str, JSON]:
    """What was left, in a few words: which world, what was on disk, which files."""
    label = getattr(decided, "label", "none of those that it may be")
    return {"world": label, **seen.brief(), "files": list(picture.names)}


def recover(situation: Situation, left: Aftermath, actions: Sequence[Action]) -> Violation | None:
    """Performs `actions` on what a kill left of `situation`, in lockstep with the model; what is wrong.

    The directory must stand as the kill left it.
    """
    return work_on(situation.fresh(left.memory), left.decided.world, actions)


def survivors(situation: Situation) -> tuple[str, ...]:
    """The hosts that are open in this process, which can stand for another one that lives through a kill."""
    return tuple(host.name for host in situation.worlds[0].hosts if host.is_open)


def survive(situation: Situation, left: Aftermath, actions: Sequence[Action]) -> Violation | None:
    """Performs `actions` in another process, whose store was open all the time.

    The directory must stand as the kill left it.
    """
    world = evolve(left.decided.world, hosts=situation.worlds[0].hosts)
    ended = situation.ask(Survive(left.memory, world, tuple(actions)))
    if not ended.finished:
        raise HarnessError(f"a process that lived through a kill {ended.describe()}")
    found: Violation | None = pickle.loads(ended.said)
    return found
