"""Several processes of one target at once: started together, asked together, one of them stopped or killed.

Whoever is asked has been started, greeted and told its surroundings before, so that nothing is left to do but
the request itself. Replies are taken in from all at once, whoever is first; each has the time limit of any
reply. No process is left standing still, and none outlives the crowd.

Where the target can begin again its processes serve for many rounds; otherwise each round starts its own.
"""

import select
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import define, field

from crash_tests.wire.racers import Turn
from model.forms import action_to_json
from model.values import World
from stateful_tests.target import Crashed, Refusal, Result
from stateful_tests.wire.capabilities import Greeting
from stateful_tests.wire.conversation import Conversation
from stateful_tests.wire.faults import TargetFaultError
from stateful_tests.wire.target import Command, WireTarget, result_of, surroundings_of

STANDING_S: Final = 0.15
"""How long a process stands still, unless all others have answered before: far longer than they need if
nobody holds them up, far shorter than any reply may take."""
_WAKE_S: Final = 0.1
STOPS_S: Final = 0.4
"""After so long without an answer a process that is to stop at a system call counts as standing there."""


@define
class Crowd:
    """Processes of `command`. Use `members` for a round, and `leave` after it."""

    command: Command
    _started: list[Conversation] = field(factory=list)
    _idle: list[tuple[Conversation, Greeting]] = field(factory=list)
    _here: list[WireTarget] = field(factory=list)
    _once: list[Conversation] = field(factory=list)

    def members(self, directory: Path, surroundings: Sequence[World]) -> list[WireTarget]:
        """One more process for each of `surroundings`, on `directory`. Raises `TargetFaultError`."""
        started = [Conversation(self.command.start(directory)) for _ in surroundings[len(self._idle) :]]
        self._started += started
        self._idle += [(talk, talk.greet()) for talk in started]
        joined = []
        for world in surroundings:
            talk, greeting = self._idle.pop()
            joined.append(WireTarget(talk, greeting, directory, around=surroundings_of(world), keep=True))
            sound(joined[-1])
        self._here += joined
        return joined

    def wrapped(self, directory: Path, world: World, wrapper: tuple[str, ...]) -> WireTarget:
        """One process for this round alone, with `wrapper` before its command."""
        talk = Conversation(self.command.start(directory, wrapper=wrapper))
        self._once.append(talk)
        target = WireTarget(talk, talk.greet(), directory, around=surroundings_of(world), keep=True)
        sound(target)
        return target

    def leave(self, *, whole: bool) -> None:
        """Ends the round: whoever can begin again stays for the next one, all others end.

        Of a round that did not come to its `whole` end all end: they may be about to answer.
        """
        for talk in self._once:
            talk.process.kill()
        self._once.clear()
        for target in self._here:
            process = target.talk.process
            if whole and process.running and target.broke is None and target.greeting.capabilities.again:
                self._idle.append((target.talk, target.greeting))
            else:
                process.kill()
        self._here.clear()
        self._started = [talk for talk in self._started if talk.process.running]

    def close(self) -> None:
        for talk in (*self._started, *self._once):
            talk.process.kill()

    @property
    def lasting(self) -> bool:
        """Whether its processes have served for a round and can serve for another."""
        return bool(self._idle)


def sound(target: WireTarget) -> None:
    """Raises `TargetFaultError` if the conversation with it has broken down."""
    if target.broke is not None:
        raise TargetFaultError(target.broke.kind, target.broke.text)


@define
class Request:
    """A turn of process `number`; `after` are the places of those that had been answered when it was sent,
    `fate` is what befell the process meanwhile, in words."""

    number: int
    turn: Turn
    after: frozenset[int]
    result: Result | None = None
    pending: bool = True
    fate: str = ""


@define
class Asking:
    """Who was asked for what, in the order in which it was sent, and what has come of it."""

    members: Sequence[WireTarget] | Mapping[int, WireTarget]
    requests: list[Request] = field(factory=list)
    sleeper: int | None = None
    """Who may stop by itself at any time, also later than it should, and is woken until it has answered."""
    first_s: float = 0.0
    """How long the quickest answer of those that were awaited last has taken."""

    def send(self, number: int, turn: Turn) -> bool:
        """Asks it, unless it failed before: the rest of its turns is about what it does not have. Whether it
        was asked."""
        if any(one.number == number and isinstance(one.result, Refusal | Crashed) for one in self.requests):
            return False
        answered = (at for at, one in enumerate(self.requests) if not one.pending and one.result is not None)
        self.requests.append(Request(number, turn, frozenset(answered)))
        self._talk(number).send(action_to_json(turn.action))
        return True

    def stand_still(self, number: int, delay_s: float) -> bool:
        """Stops it in `delay_s`; whether it has not yet answered by then. Whoever calls this wakes it."""
        self._pending(number).fate = f", stopped {delay_s * 1000:.2f} ms later"
        select.select([], [], [], delay_s)  # to the microsecond
        self._talk(number).process.stand_still()
        return not self._talk(number).process.listen()

    def stopped_by_itself(self, number: int, where: str) -> bool:
        """Waits for it to stand still at a system call; whether it has not answered instead."""
        self._pending(number).fate = f", stopped after {where}"
        self.sleeper = number
        return not self.settled(STOPS_S, only=number)

    def go_on(self, number: int) -> None:
        self._talk(number).process.go_on()

    def kill(self, number: int, delay_s: float) -> None:
        """Kills it in `delay_s`. What it had answered by then is its answer."""
        one = self._pending(number)
        one.fate = f", killed {delay_s * 1000:.2f} ms later"
        one.pending = self._talk(number).process.kill_after(delay_s)

    def settled(self, seconds: float, *, but: int | None = None, only: int | None = None) -> bool:
        """Listens for so long at most; whether all have answered that were asked, `but` that one or that one
        `only`."""
        since = time.monotonic()
        until, self.first_s = since + seconds, 0.0
        waiting = [one.number for one in self.requests if one.pending and one.number != but]
        waiting = [number for number in waiting if only in (None, number)]
        while True:
            silent = [number for number in waiting if not self._talk(number).process.listen()]
            if len(silent) < len(waiting):
                self.first_s = self.first_s or time.monotonic() - since
            waiting, left = silent, until - time.monotonic()
            if not waiting or left <= 0:
                return not waiting
            poll = select.poll()
            for number in waiting:
                for descriptor in self._talk(number).process.outlets:
                    poll.register(descriptor, select.POLLIN)
            poll.poll(left * 1000)

    def collect(self, *, but: int | None = None) -> None:
        """Takes the answers of all that were asked, `but` of that one, each within the limit of any reply.

        Raises `TargetFaultError` for the first that broke the protocol.
        """
        due = [self._talk(one.number).due for one in self.requests if one.pending and one.number != but]
        while (left := max(due, default=0.0) - time.monotonic()) > 0:
            if self.settled(left if self.sleeper in (None, but) else min(left, _WAKE_S), but=but):
                break
            if self.sleeper is not None:
                self.go_on(self.sleeper)
        for one in self.requests:
            if one.pending and one.number != but:
                reply = self._talk(one.number).receive(str(action_to_json(one.turn.action)["do"]))
                one.result, one.pending = result_of(reply), False

    def _talk(self, number: int) -> Conversation:
        return self.members[number].talk

    def _pending(self, number: int) -> Request:
        return next(one for one in self.requests if one.number == number and one.pending)
