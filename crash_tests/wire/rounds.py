"""One round of a race: a history, processes asked at once, and the judgement of what came of it.

In a round all are asked *at once*; or *one stands still*: it is stopped at a random moment of its request,
and goes on when the others have answered or wait for it; or *one is killed*. Whoever comes first:

- some order of the requests gives each process its answer, and ends where a fresh process says the store is;
- whoever waits for another is answered in the end. Where one stands still, and only there, any of them may be
  refused with DURABILITY_FAILED and no side effects instead: it has then done nothing;
- a killed process has done what it was asked for, or nothing, and holds nobody up;
- the fresh process works on, beside the model.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import define, evolve, frozen

import model
from crash_tests.oracle import Violation
from crash_tests.scenarios import HOLDER, call, lease
from crash_tests.wire.crowd import STANDING_S, Asking, Crowd, Request, sound
from crash_tests.wire.orders import Asked, Orders
from crash_tests.wire.racers import Turn, WireRace
from model.actions import Call, Open
from model.values import World
from stateful_tests.lockstep import DivergedError
from stateful_tests.target import Answered, Crashed, Refusal, Result
from stateful_tests.wire.faults import CLAUSES, TargetFaultError
from stateful_tests.wire.lockstep import WireLockstep
from stateful_tests.wire.policy import Policy
from stateful_tests.wire.target import WireTarget

AT_ONCE: Final = "at once"
STANDING: Final = "one stands still"
KILLED: Final = "one is killed"
STYLES: Final = (AT_ONCE, STANDING, KILLED)

_GUESS_S: Final = 0.01


@frozen
class Lost:
    """A round that went wrong: what is wrong, in words, the worst first; and who was asked and said what."""

    violation: Violation
    wrong: tuple[str, ...]
    steps: tuple[str, ...]


@define
class Round:
    """`race`, in a fresh `directory`, whose parent is there.

    `request_s` is what one request takes, or so: 0 for not known. `late` says that who was to stand still in
    its request had answered before.
    """

    race: WireRace
    crowd: Crowd
    policy: Policy
    directory: Path
    style: str
    draw: random.Random
    request_s: float = 0.0
    late: bool = False
    _steps: tuple[str, ...] = ()

    def run(self) -> Lost | None:
        """What was wrong, if anything. A fault of the conversation is."""
        try:
            return self._run()
        except DivergedError as error:
            found = error.record.divergence
            assert found is not None
            title = f"what leads up to the race differs: {found.title}"
            return self._lost(Violation(found.clause, title, found.differences))
        except TargetFaultError as fault:
            return self._lost(Violation(CLAUSES[fault.kind], f"a process of the target {fault}"))
        finally:
            self.crowd.leave()

    def _run(self) -> Lost | None:
        founder, world = self._founded()
        around = [self._believed(world, number) for number in range(1, self.race.processes)]
        asking = Asking([founder, *self.crowd.members(self.directory, around)])
        try:
            self._race(asking)
        finally:
            self._steps = _steps(asking.requests)  # of a round that breaks down, too
        asked = [_counted(one, self.style) for one in asking.requests]
        (fresh,) = self.crowd.members(self.directory, [world])
        return self._judged(world, asked, fresh)

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
            self._asked(asking, turns)
        left = bursts[self.race.strike :]
        victim, delay = self.draw.choice(list(left[0])), self.draw.uniform(0, self.request_s or _GUESS_S)
        if self.style == STANDING:
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

    def _one_stands_still(
        self, asking: Asking, left: list[dict[int, Turn]], victim: int, delay_s: float
    ) -> None:
        """One is asked and stopped; the others are asked for all that is left, until they wait for it.

        What has been asked is taken out of `left`.
        """
        asking.send(victim, left[0].pop(victim))
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
        for number in (victim, *(number for number in first if number != victim)):
            asking.send(number, first[number])
        asking.kill(victim, delay_s)
        asking.collect()
        for turns in left:
            turns.pop(victim, None)

    def _judged(self, world: World, asked: Sequence[Asked], fresh: WireTarget) -> Lost | None:
        look = WireLockstep(fresh, world, policy=self.policy)
        sound(fresh)
        if look.observation.problems:
            title = f"what the race left is not whole: {look.observation.problems[0]}"
            return self._lost(Violation(self.race.clause, title))
        store = look.observation.store
        shown = tuple(row["reservation"]["reservationId"] for row in store["reservations"]) if store else ()
        ends = Orders(look.agrees, shown).explain(world, asked)
        decided = next((end for end in ends if not look.shows(end)), None)
        if decided is None:
            return self._unexplained(world, asked, look, shown)
        return self._worked_on(decided, fresh)

    def _unexplained(
        self, world: World, asked: Sequence[Asked], look: WireLockstep, shown: tuple[str, ...]
    ) -> Lost:
        """Says what no order explains: the answers by themselves, or the store that is found after them."""
        last = {id(turn) for turn in self.race.bursts[-1]}
        wrong = [f"{self.race.why}: {_tally([one.result for one in asked if id(one.turn) in last])}"]
        granted = {_number(one.turn) for one in asked if isinstance(one.result, Answered)} - {""}
        lost = sorted(granted - {_short(name) for name in shown}, key=int)
        wrong += [f"granted and not stored: {', '.join(lost)}"] if lost else []
        fitting = Orders(look.agrees).explain(world, asked)
        if fitting:
            wrong.append("some order explains the answers, but not what is stored after them")
        else:
            wrong.append("no order of the requests explains the answers")
        found = look.shows(fitting[0]) if fitting else ()
        return self._lost(Violation(self.race.clause, wrong[0], found), *wrong[1:])

    def _worked_on(self, decided: World, fresh: WireTarget) -> Lost | None:
        """The fresh process opens the store, too, and reads all of it."""
        store = decided.store
        assert store is not None
        fresh.forget_sight()
        walk = WireLockstep(fresh, evolve(decided, hosts=()), policy=self.policy)
        epoch = store.fencing_epoch
        for action in (lease(epoch), Open("fresh", HOLDER, epoch, 3), call("snapshot", host="fresh")):
            found = walk.step(action).divergence
            if found is not None:
                title = f"after the race a fresh process differs: {found.title}"
                return self._lost(Violation(self.race.clause, title, found.differences))
        return None

    def _lost(self, violation: Violation, *more: str) -> Lost:
        return Lost(violation, (violation.title, *more), self._steps)


def _counted(request: Request, style: str) -> Asked:
    """How a request counts: not at all if it was given up, because another process stood still."""
    given_up = style == STANDING and request.result == Refusal("DURABILITY_FAILED", "none")
    return Asked(request.turn, request.result, request.after, given_up)


def _tally(results: Sequence[Result | None]) -> str:
    """How often each answer was given, the most frequent first."""
    counts = Counter(_words(result) for result in results)
    return ", ".join(f"{count} {words}" for words, count in counts.most_common())


def _words(result: Result | None) -> str:
    if isinstance(result, Crashed):
        lines = result.text.strip().splitlines() or [""]
        return f"CRASHED ({lines[-1 if lines[0].startswith('Traceback') else 0].strip()[:160]})"
    if isinstance(result, Refusal):
        return result.code if result.side_effects == "none" else f"{result.code}, side effects unknown"
    return "no answer" if result is None else "ok"


def _steps(requests: Sequence[Request]) -> tuple[str, ...]:
    return tuple(f"process {r.number + 1}: {r.turn.words}{r.fate}: {_words(r.result)}" for r in requests)


def _number(turn: Turn) -> str:
    """Of a reservation that is asked for; nothing for another request."""
    action = turn.action
    if isinstance(action, Call) and action.operation == "reserve":
        return _short(str(action.arguments["reservationId"]))
    return ""


def _short(name: str) -> str:
    """The number that is in one of our ids."""
    return str(int(name[-12:])) if name[-12:].isdecimal() else name[:40]
