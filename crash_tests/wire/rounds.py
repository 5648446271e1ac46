"""One round of a race: a history, processes asked at once, and the judgement of what came of it.

In a round all are asked *at once*; or *one stands still*: it is stopped at a random moment of its request,
or after a system call, and goes on when the others have answered or wait for it; or *one is killed*.
Whoever comes first:

- some order of the requests gives each process its answer, and ends where a fresh process says the store is;
- whoever waits for another is answered in the end. Where one stands still, and only there, any of them may be
  refused with DURABILITY_FAILED and no side effects instead: it has then done nothing;
- a killed process has done what it was asked for, or nothing, and holds nobody up;
- the fresh process works on, beside the model.
"""

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from attrs import define, evolve, frozen

import model
from crash_tests.oracle import Violation
from crash_tests.scenarios import lease
from crash_tests.wire.calls import Place, places, recording, stopping
from crash_tests.wire.crowd import STANDING_S, STOPS_S, Asking, Crowd, Request, sound
from crash_tests.wire.judging import judged, told
from crash_tests.wire.orders import Asked
from crash_tests.wire.racers import Turn, WireRace
from model.values import World
from stateful_tests.lockstep import DivergedError, name_of
from stateful_tests.target import Refusal
from stateful_tests.wire.faults import CLAUSES, TargetFaultError
from stateful_tests.wire.lockstep import WireLockstep
from stateful_tests.wire.policy import Policy
from stateful_tests.wire.target import WireTarget

AT_ONCE: Final = "at once"
STANDING: Final = "one stands still"
KILLED: Final = "one is killed"
STYLES: Final = (AT_ONCE, STANDING, KILLED)
AT_CALL: Final = "one stands still at a system call"
"""The fourth style, where `strace` can be had."""

_GUESS_S: Final = 0.01


class _MissedError(Exception):
    """A process that was to stand still at some system call came to it at another time."""


@frozen
class Lost:
    """A round that went wrong: what is wrong, in words, the worst first; and who was asked and said what."""

    violation: Violation
    wrong: tuple[str, ...]
    steps: tuple[str, ...]


@define
class Round:
    """`race`, in a fresh `directory`, whose parent is there.

    `request_s` is what one request takes, or so: 0 for not known. In the style `AT_CALL` process `victim`,
    not the first, stops after the call `place`. `late` says that who was to stand still had answered before;
    `spared` that who was to stand still or to be killed was not even asked, since its opening was refused.
    """

    race: WireRace
    crowd: Crowd
    policy: Policy
    directory: Path
    style: str
    draw: random.Random
    request_s: float = 0.0
    victim: int = 1
    place: Place | None = None
    late: bool = False
    spared: bool = False
    _steps: tuple[str, ...] = ()

    def run(self) -> Lost | None:
        """What was wrong, if anything. A fault of the conversation is."""
        whole = False
        try:
            lost = self._run()
            whole = True
            return lost
        except _MissedError:
            self.late = True
            return None
        except DivergedError as error:
            found = error.record.divergence
            assert found is not None
            title = f"what leads up to the race differs: {found.title}"
            return self._lost(Violation(found.clause, title, found.differences))
        except TargetFaultError as fault:
            return self._lost(Violation(CLAUSES[fault.kind], f"a process of the target {fault}"))
        finally:
            self.crowd.leave(whole=whole)

    def _run(self) -> Lost | None:
        founder, world = self._founded()
        asking = Asking(self._racers(founder, world))
        try:
            self._race(asking)
        finally:
            self._steps = told(asking.requests)  # of a round that breaks down, too
        asked = [_counted(one, self.style, self.policy) for one in asking.requests]
        (fresh,) = self.crowd.members(self.directory, [world])
        wrong = judged(self.race, world, asked, fresh, self.policy)
        return None if wrong is None else self._lost(wrong[0], *wrong[1])

    def _racers(self, founder: WireTarget, world: World) -> list[WireTarget]:
        around = [self._believed(world, number) for number in range(self.race.processes)]
        if self.place is None:
            return [founder, *self.crowd.members(self.directory, around[1:])]
        try:
            wrapped = self.crowd.wrapped(self.directory, around.pop(self.victim), stopping(self.place))
        except TargetFaultError as fault:
            raise _MissedError from fault
        others = [founder, *self.crowd.members(self.directory, around[1:])]
        return [*others[: self.victim], wrapped, *others[self.victim :]]

    def record(self, log: Path) -> tuple[Place, ...]:
        """The system calls of process `victim` as it is asked when the others would be, but alone.

        None if that fails: what is wrong with that shows in other rounds.
        """
        try:
            world = self._founded()[1]
            wrapper = recording(log, locks=True)
            target = self.crowd.wrapped(self.directory, self._believed(world, self.victim), wrapper)
            asking, start = Asking({self.victim: target}), 0
            for burst in self.race.bursts[: self.race.strike + 1]:
                start = log.stat().st_size
                if (turn := burst[self.victim]) is not None and asking.send(self.victim, turn):
                    asking.collect()
            return places(log, start, self.directory)
        except (DivergedError, TargetFaultError):
            return ()
        finally:
            self.crowd.leave(whole=False)

    def _founded(self) -> tuple[WireTarget, World]:
        """The first process, which brings the history about, and the world that it has led to."""
        (founder,) = self.crowd.members(self.directory, [model.initial_world()])
        walk = WireLockstep(founder, policy=self.policy)
        sound(founder)
        for action in self.race.history:
            walk.check(action)
        return founder, evolve(walk.world, hosts=(), earlier=())

    def _believed(self, world: World, number: int) -> World:
        return model.step(world, lease(self.race.epoch(number)))[0]

    def _race(self, asking: Asking) -> None:
        bursts = [
            {at: turn for at, turn in enumerate(burst) if turn is not None} for burst in self.race.bursts
        ]
        for turns in bursts[: self.race.strike]:
            if self.place is not None and self.victim in turns:
                self._asked_alone(asking, turns.pop(self.victim))
            self._asked(asking, turns)
        left = bursts[self.race.strike :]
        victim, delay = self.draw.choice(list(left[0])), self.draw.uniform(0, self.request_s or _GUESS_S)
        if self.style == AT_CALL:
            victim = self.victim
        if self.style in (STANDING, AT_CALL):
            self._one_stands_still(asking, left, victim, delay)
        elif self.style == KILLED:
            self._one_is_killed(asking, left, victim, delay)
        elif self.style == AT_ONCE:
            self._asked(asking, left.pop(0))
            self.request_s = self.request_s or asking.first_s
        for turns in left:
            self._asked(asking, turns)

    def _asked(self, asking: Asking, turns: Mapping[int, Turn]) -> None:
        for number, turn in turns.items():
            asking.send(number, turn)
        asking.collect()

    def _asked_alone(self, asking: Asking, turn: Turn) -> None:
        """Asks who is to stop at a system call later, as when its calls were counted."""
        asking.send(self.victim, turn)
        if not asking.settled(5 * STOPS_S, only=self.victim):
            raise _MissedError  # it seems to have made more of them today, and stands still already
        asking.collect()

    def _one_stands_still(
        self, asking: Asking, left: list[dict[int, Turn]], victim: int, delay_s: float
    ) -> None:
        """One is asked and stopped; the others are asked for all that is left, until they wait for it.

        What has been asked is taken out of `left`.
        """
        self.spared = not asking.send(victim, left[0].pop(victim))
        if self.spared:
            return  # nobody to stop: the round goes on at once, and what was answered is judged
        if self.place is not None:
            where = f"system call {self.place.nth} of {self.place.name}"
            self.late = not asking.stopped_by_itself(victim, where)
        else:
            self.late = not asking.stand_still(victim, delay_s)
            self.request_s = delay_s if self.late else max(self.request_s, 1.5 * delay_s)
        try:
            for turns in left:
                for number in [number for number in turns if number != victim]:
                    asking.send(number, turns.pop(number))
                if not asking.settled(STANDING_S, but=victim):
                    break
                asking.collect(but=victim)
        finally:
            asking.go_on(victim)
        asking.collect()

    def _one_is_killed(
        self, asking: Asking, left: list[dict[int, Turn]], victim: int, delay_s: float
    ) -> None:
        """One is asked, then the others; it is killed. What has been asked is taken out of `left`."""
        first = left.pop(0)
        self.spared = not asking.send(victim, first.pop(victim))
        for number, turn in first.items():
            asking.send(number, turn)
        if not self.spared:
            asking.kill(victim, delay_s)
        asking.collect()
        for turns in left:
            turns.pop(victim, None)

    def _lost(self, violation: Violation, *more: str) -> Lost:
        return Lost(violation, (violation.title, *more), self._steps)


def _counted(request: Request, style: str, policy: Policy) -> Asked:
    """How a request counts: not at all if it was given up, because another process stood still."""
    result, failed = request.result, "DURABILITY_FAILED"
    given_up = (
        style in (STANDING, AT_CALL)
        and isinstance(result, Refusal)
        and result.side_effects == "none"
        and (result.code == failed or policy.code_for(name_of(request.turn.action), failed, result.code))
    )
    return Asked(request.turn, result, request.after, bool(given_up))
