"""One kill trial: open, run, kill, look, recover, ask again; and the recovery killed in its turn.

A `Situation` is a picture of a store that nobody has open, and what a process is about to do with it. Its
child opens the store anew, since no SQLite connection outlives a fork. `record` performs the flight once and
learns which marked points it passes; `kill` performs it again, dies at one of them, and has the oracle say
which world is left. `recover` opens the store in this process and walks on in lockstep with the model: the
client that lost its answer asks again. What a kill leaves can be a situation of its own.

The effects of steps outlive the process: a trial counts those that had happened in the recording run by the
same point, since the same actions on the same bytes reach it in the same way.

Not covered: what a power cut leaves. SIGKILL keeps the page cache.
"""

import pickle
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial

from attrs import define, evolve, field, frozen

from crash_tests.children import Ended, HarnessError, MisfitError, Say, in_child
from crash_tests.forge import Forge
from crash_tests.gated.oracle import STUCK, Candidate, candidates, decide
from crash_tests.gated.scenarios import CLIENT, Scenario, counted
from crash_tests.ground import Ground, Picture
from crash_tests.oracle import Violation
from crash_tests.trial import told
from impl import disk
from model.gated import initial_world, invariants, step
from model.gated.actions import Action, Call, CloseLedger, OpenLedger
from model.gated.values import World
from model.values import JSON
from stateful_tests.gated.lockstep import LedgerLockstep
from stateful_tests.gated.observe import Observer
from stateful_tests.gated.target import LedgerTarget
from stateful_tests.pair import DivergedError, Divergence, StepRecord

_ANSWERED = b"\x06"
Effects = tuple[JSON, ...]
judge = partial(invariants.check, leave_out=invariants.SLOW)


@frozen
class Arrival:
    """The `n`-th arrival at `point`, the effects by then, and how many calls had been answered."""

    point: str
    n: int
    effects: Effects = field(repr=False)
    acknowledged: int = 0

    @property
    def key(self) -> str:
        return f"{self.point}#{self.n}"


@frozen
class Aftermath:
    """What a kill left behind: the files, the world decided upon, and the effects that had happened."""

    picture: Picture = field(repr=False)
    decided: Candidate
    effects: Effects = field(repr=False)

    @property
    def likeness(self) -> tuple[object, ...]:
        """Equal for what is recovered from in the same way."""
        return (self.decided.label, self.decided.world, tuple(self.picture.names))


@define
class Situation:
    """`world` is the store's, nobody having it open; `worlds` are those of the flight, once warm."""

    ground: Ground
    picture: Picture
    world: World
    effects: Effects
    warm: tuple[Action, ...]
    flight: tuple[Call, ...]
    worlds: tuple[World, ...] = ()
    left: dict[str, JSON] = field(factory=dict)
    """What was seen of the files after the last kill, for people."""
    observer: Observer = field(init=False)
    _forge: Forge | None = None

    def __attrs_post_init__(self) -> None:
        self.observer = Observer(self.ground.directory)
        world = self.world
        for action in self.warm:
            world, _ = step(world, action)
        worlds = [world]
        for action in self.flight:
            worlds.append(step(worlds[-1], action)[0])
        self.worlds = tuple(worlds)

    def target(self) -> LedgerTarget:
        """The store as a fresh process finds it."""
        target = LedgerTarget(self.ground.directory)
        target.effects.happened = list(self.effects)
        return target

    def kill(self, arrival: Arrival) -> Ended:
        if self._forge is None:
            self._forge = Forge(self._perform)
        return self._forge.ask((arrival.point, arrival.n))

    def close(self) -> None:
        self.observer.close()
        if self._forge is not None:
            self._forge.close()
            self._forge = None

    def _perform(self, request: tuple[str, int], say: Say) -> None:
        target = self.target()
        for action in self.warm:
            target.apply(action)
        disk.install(disk.kill_at(disk.CrashPoint(request[0]), request[1]))
        for action in self.flight:
            target.apply(action)
            say(_ANSWERED)


@contextmanager
def prepared(scenario: Scenario, ground: Ground) -> Iterator[Situation]:
    """The situation that `scenario` leads up to. Raises `DivergedError` if its history already diverges."""
    with LedgerTarget(ground.directory) as target:
        walk = LedgerLockstep(target, initial_world(), judge=judge)
        for action in scenario.history:
            _undeclined(walk.check(action))
        for client in walk.world.clients:
            walk.check(CloseLedger(client.name))
        effects = tuple(target.effects.happened)
    situation = Situation(ground, ground.picture(), walk.world, effects, scenario.warm, scenario.flight)
    with closing(situation):
        yield situation


@contextmanager
def awoken(ground: Ground, left: Aftermath, flight: tuple[Call, ...]) -> Iterator[Situation]:
    """What a kill left, as a situation in which `flight` is about to happen."""
    with closing(Situation(ground, left.picture, left.decided.world, left.effects, (), flight)) as situation:
        yield situation


def record(situation: Situation) -> tuple[Arrival, ...]:
    """The marked points that the flight passes. Raises `DivergedError` if unkilled it already diverges."""
    situation.ground.put_back(situation.picture)
    ended = in_child(partial(_watched, situation))
    if not ended.finished:
        raise HarnessError(f"the recording run {ended.describe()}")
    arrivals, records = pickle.loads(ended.said)
    for one in records:
        if one.divergence is not None:
            raise DivergedError(one)
        _undeclined(one)
    return tuple(arrivals)


def _watched(situation: Situation, say: Say) -> None:
    arrivals: list[Arrival] = []
    seen: Counter[str] = Counter()
    target = situation.target()
    walk = LedgerLockstep(target, situation.world, judge=judge)
    records: list[StepRecord] = [walk.step(action) for action in situation.warm]
    answered = 0

    def hook(point: disk.CrashPoint) -> None:
        seen[point] += 1
        arrivals.append(Arrival(str(point), seen[point], tuple(target.effects.happened), answered))

    disk.install(hook)
    for action in situation.flight:
        records.append(walk.step(action))
        answered += 1
        if records[-1].divergence is not None:
            break
    disk.install(None)
    target.close()  # this process ends by `os._exit`: nobody else would clear its observer's copies away
    say(pickle.dumps((arrivals, records)))


def _undeclined(record: StepRecord) -> None:
    if record.declined:
        raise MisfitError(f"the model declines {record.action}: {record.expected}")


def kill(situation: Situation, arrival: Arrival, *, put_back: bool = True) -> Aftermath | Violation:
    """Kills the process that performs the flight at `arrival`; what it leaves.

    Without `put_back` the files must stand as in the situation's picture.
    """
    if put_back:
        situation.ground.put_back(situation.picture)
    ended = situation.kill(arrival)
    if not ended.killed:
        raise HarnessError(f"a child was to be killed at {arrival.key}, but it {ended.describe()}")
    return look(situation, arrival.effects, len(ended.said))


def look(
    situation: Situation, effects: Effects, acknowledged: int, *, struck: str = "kill"
) -> Aftermath | Violation:
    """What stands there now, as the oracle sees it."""
    picture = situation.ground.picture()
    seen = situation.observer.look(effects)
    possible = candidates(situation.worlds, situation.flight, acknowledged)
    decided = decide(seen, possible, situation.worlds, acknowledged, struck=struck)
    situation.left = told(picture, seen, decided)
    return decided if isinstance(decided, Violation) else Aftermath(picture, decided, effects)


def asked_again(flight: Sequence[Call], client: str = CLIENT) -> tuple[Action, ...]:
    """What is done by the client that lost its answer: the same again, and one more."""
    again = tuple(
        evolve(action, client=client, faults=()) for action in flight if not isinstance(action, OpenLedger)
    )
    return (*again, counted("probe", client=client))


def recovery(flight: Sequence[Call]) -> tuple[Action, ...]:
    """The reopening, what is asked again, and another opening, which must find nothing to do."""
    opened = (OpenLedger(CLIENT), *asked_again(flight), CloseLedger(CLIENT))
    return (*opened, OpenLedger("z"), CloseLedger("z"))


def recover(
    situation: Situation, left: Aftermath, actions: Sequence[Action], *, struck: str = "kill"
) -> Violation | None:
    """Performs `actions` on what a kill left, in lockstep with the model; the first thing that is wrong.

    The directory must stand as the kill left it, or whatever else `struck`.
    """
    with LedgerTarget(situation.ground.directory) as target:
        target.effects.happened = list(left.effects)
        return work_on(target, left.decided.world, actions, struck=struck)


def work_on(
    target: LedgerTarget, world: World, actions: Sequence[Action], *, struck: str = "kill"
) -> Violation | None:
    """Walks on from `world`. What can't happen because the store may not be opened is left out."""
    walk = LedgerLockstep(target, world, judge=judge)
    for action in actions:
        one = walk.step(action)
        if one.divergence is not None:
            return after_all(one.divergence, struck)
    return None


def after_all(divergence: Divergence, struck: str = "kill") -> Violation:
    """What went wrong when the store was used again, after it was `struck`: by a kill, or by a fault."""
    title = f"after the {struck} the store does not work on: {divergence.title}"
    return Violation(f"{STUCK} ({divergence.clause})", title, divergence.differences, divergence.index)
