"""One kill of a target: a history, an action in flight, death, a new process, and on in lockstep.

The story is that of an in-process trial (`crash_tests.trial`), told over the wire: `history` is walked beside
the model, `flight` is sent, and the process group dies where `Way` says. A new process is then started on
the same directory and given the surroundings that outlived the kill; what it observes must be the state
before or the state after the action in flight, everything acknowledged included; and work goes on.

The project's ledger lives in the adapter and dies with it. It is given back as of before the action; where
the store shows what came after, what arbitration had recorded by then is told again, since it was durable.

The process that recovers can be killed in its turn, while it opens the store (`kill_recovering`).
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from attrs import evolve, field, frozen

import model
from crash_tests.afterwards import recovery, reopening
from crash_tests.oracle import (
    ACKNOWLEDGED,
    OLD_OR_NEW,
    STUCK,
    WHOLE,
    Candidate,
    Violation,
    after_all,
    candidates,
)
from crash_tests.scenarios import Scenario
from crash_tests.wire.calls import Place, killing
from model.actions import Abandon, Action
from model.forms import action_to_json
from model.invariants import check
from model.values import World
from stateful_tests.lockstep import DivergedError
from stateful_tests.wire.faults import CLAUSES, DIED, TargetFaultError
from stateful_tests.wire.lockstep import WireLockstep
from stateful_tests.wire.runners import Aim
from stateful_tests.wire.target import Session, WireTarget, surroundings_of

POINT: Final = "point"
CALL: Final = "call"
MOMENT: Final = "moment"
REPLY: Final = "reply"

_SETTLE_S: Final = 1.0
"""How long a target may go on after its last reply before it counts as not having come to the place."""


@frozen
class Way:
    """How the target dies: at a marked `point`, at a system call's `place`, `delay_s` after a request was
    sent, or right after the reply."""

    kind: str
    name: str
    nth: int = 1
    place: Place | None = None
    delay_s: float = 0.0

    @property
    def key(self) -> str:
        """`<step>-<before, torn or after>#<n>`, as the reports count kills."""
        if self.kind == CALL and self.place is not None:
            return self.place.key
        named = (
            self.name
            if self.kind == POINT
            else {MOMENT: "random moment-torn", REPLY: "reply-after"}[self.kind]
        )
        return f"{named}#{self.nth}"


@frozen
class Left:
    """What a kill left: the actions begun, how many of them had been acknowledged, and the model's worlds."""

    during: tuple[Action, ...]
    acknowledged: int
    worlds: tuple[World, ...] = field(repr=False)
    earlier: tuple[World, ...] = field(default=(), repr=False)
    """Those of the history, oldest first."""


@frozen
class Recording:
    """What the flight takes when nobody is killed, in seconds; and where it can be killed from outside."""

    seconds: float
    log_start: int


class Trial:
    """`scenario`, against the target of `aim`, in a fresh `directory` below a private one."""

    def __init__(self, aim: Aim, scenario: Scenario, directory: Path) -> None:
        self.aim = aim
        self.scenario = scenario
        self.directory = directory
        self._session = Session(aim.command)
        if scenario.layout == "existing":
            directory.mkdir(mode=0o700, parents=True)

    def record(self, wrapper: tuple[str, ...] = (), log: Path | None = None) -> Recording:
        """Performs history and flight. Raises `DivergedError` if unkilled they already differ."""
        target = self._started(wrapper)
        try:
            walk = self._walked(target)
            start = log.stat().st_size if log is not None else 0
            since = time.monotonic()
            for action in self.scenario.flight:
                walk.check(action)
            seconds = time.monotonic() - since
        finally:
            target.talk.process.end()
        return Recording(seconds, start)

    def kill(self, way: Way) -> Left | None:
        """Performs history and flight, and has the target killed. `None` if it never came to the place."""
        wrapper = killing(way.place) if way.place is not None else ()
        flight = self.scenario.flight
        target = None
        try:
            target = self._started(wrapper)
            before = self._walked(target).world
            if way.kind == POINT:
                target.arm(way.name, way.nth)
        except (TargetFaultError, DivergedError):
            if target is not None:
                target.talk.process.kill()
            if way.kind == CALL:
                return None  # its calls come in another number each time: it was killed before the flight
            raise
        return self._flown(target, before, flight, way, self._earlier())

    def kill_recovering(self, left: Left, way: Way) -> Left | Violation | None:
        """Kills the process that recovers from `left`, while it opens the store. `None` if it lives.

        A system call is no way here: its number is known only for the flight.
        """
        with self._awoken(left) as (target, decided):
            if target is None or isinstance(decided, Violation):
                return decided if isinstance(decided, Violation) else None
            self._tell_facts(target, left, decided)
            if way.kind == POINT:
                target.arm(way.name, way.nth)
            opens = reopening(self.scenario.flight, decided)
            earlier = (*left.earlier, *left.worlds[: left.acknowledged])
            return self._flown(target, decided, opens, way, earlier)

    def _flown(
        self,
        target: WireTarget,
        before: World,
        flight: tuple[Action, ...],
        way: Way,
        earlier: tuple[World, ...],
    ) -> Left | None:
        """What is left when the target has died in the middle of `flight`. `None` if it lived."""
        worlds = [before]
        for action in flight:
            worlds.append(model.step(worlds[-1], action)[0])
        try:
            acknowledged = self._fly(target, flight, way)
        finally:
            target.talk.process.kill()
        if acknowledged is None:
            return None
        at = min(acknowledged, len(flight) - 1)
        return Left(flight[: at + 1], acknowledged, tuple(worlds), earlier)

    def _fly(self, target: WireTarget, flight: tuple[Action, ...], way: Way) -> int | None:
        """Sends the flight; how many were acknowledged when it died, `None` if it lives."""
        talk = target.talk
        for number, action in enumerate(flight):
            form = action_to_json(action)
            try:
                talk.send(form)
                if way.kind == MOMENT and number + 1 == len(flight):
                    return number + talk.process.kill_after(way.delay_s)
                talk.receive(str(form["do"]))
            except TargetFaultError as fault:
                if fault.kind == DIED and talk.process.was_killed and way.kind in (POINT, CALL):
                    return number
                raise
        if way.kind == REPLY:
            return len(flight)
        # At a system call that comes late, as it tidies up or ends; a marked point would have come by now.
        patience = _SETTLE_S if way.kind == CALL else 0.0
        died = talk.process.await_death(time.monotonic() + patience, close_input=way.kind == CALL)
        return len(flight) if died else None

    def recover(self, left: Left) -> tuple[Violation | None, tuple[Action, ...]]:
        """A new process on what the kill left: what is wrong, if anything, and what was done then."""
        with self._awoken(left) as (target, decided):
            if target is None or isinstance(decided, Violation):
                return decided if isinstance(decided, Violation) else None, ()
            self._tell_facts(target, left, decided)
            actions = recovery(self.scenario.flight, decided)
            return self._worked_on(target, decided, actions), actions

    @contextmanager
    def _awoken(self, left: Left) -> Iterator[tuple[WireTarget | None, World | Violation]]:
        """A new process on what the kill left, and the world that it shows, or what is wrong with it."""
        before = left.worlds[left.acknowledged]
        try:
            talk, greeting = self._session.greet(self.directory)
        except TargetFaultError as fault:
            yield None, Violation(STUCK, f"after the kill the target can't be started: {fault}")
            return
        try:
            target = WireTarget(talk, greeting, self.directory, around=surroundings_of(before))
            yield target, self._decided(target, left)
        finally:
            talk.process.kill()

    def _tell_facts(self, target: WireTarget, left: Left, decided: World) -> None:
        """What arbitration had recorded by then was durable: it is recorded again."""
        known = {fact.reservation_id for fact in left.worlds[left.acknowledged].facts}
        newer = [fact for fact in decided.facts if fact.reservation_id not in known]
        for fact in sorted(newer, key=lambda one: one.commit_seq):
            target.apply(Abandon(fact.reservation_id, *fact.binding))

    def _decided(self, target: WireTarget, left: Left) -> World | Violation:
        """The world that the target shows."""
        before = left.worlds[left.acknowledged]
        look = self._pair(target, before)
        if target.broke is not None:
            return Violation(WHOLE, f"what the kill left can't be observed: {target.broke.text}")
        seen = look.observation
        if seen.problems:
            return Violation(WHOLE, f"what the kill left is not whole: {seen.problems[0]}")
        files = target.greeting.capabilities.files is not None
        possible = candidates(left.worlds, left.acknowledged)
        for one in possible:
            if not look.shows(one.world) and (not files or one.world.identity_file == seen.identity):
                return evolve(one.world, launched=before.launched, hosts=(), temps=seen.temps)
        acknowledged = (*left.earlier, *left.worlds[: left.acknowledged])
        for gone, world in enumerate(reversed(acknowledged), 1):
            if not look.shows(world):
                told = f"the last {gone} of the acknowledged actions, or more, are gone after the kill"
                return Violation(ACKNOWLEDGED, told, look.shows(before))
        return _neither(look, possible)

    def _worked_on(self, target: WireTarget, decided: World, actions: Sequence[Action]) -> Violation | None:
        walk = self._pair(target, decided)
        for action in actions:
            one = walk.step(action)
            if one.divergence is not None:
                if one.divergence.kind in CLAUSES:
                    title = f"after the kill the target {one.divergence.kind}: {one.divergence.title}"
                    return Violation(STUCK, title, one.divergence.differences, one.divergence.index)
                return after_all(one.divergence)
        return None

    def _started(self, wrapper: tuple[str, ...]) -> WireTarget:
        talk, greeting = self._session.greet(self.directory, wrapper=wrapper)
        return WireTarget(talk, greeting, self.directory)

    def _walked(self, target: WireTarget) -> WireLockstep:
        walk = self._pair(target, model.initial_world())
        for action in self.scenario.history:
            walk.check(action)
        return walk

    def _earlier(self) -> tuple[World, ...]:
        worlds = [model.initial_world()]
        for action in self.scenario.history:
            worlds.append(model.step(worlds[-1], action)[0])
        return tuple(worlds[:-1])

    def _pair(self, target: WireTarget, world: World) -> WireLockstep:
        return WireLockstep(target, world, judge=check, policy=self.aim.policy)


def _neither(look: WireLockstep, possible: Sequence[Candidate]) -> Violation:
    nearest = min(possible, key=lambda one: len(look.shows(one.world)))
    title = f"the kill left neither the world before nor the world after (nearest: {nearest.label})"
    return Violation(OLD_OR_NEW, title, look.shows(nearest.world))
