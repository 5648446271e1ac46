"""The races that processes of a target are sent into: what has happened, and who is asked for what at once.

The names, the clauses and what is at stake are those of `crash_tests.processes`, told in actions of the model
instead of calls of this project's store: so the model judges them (see `orders`), and whatever is sent fits
the wire. Out of the protocol's reach are `admit-against-abandon` and `during-dispatch`: the project's ledger
and the launches stand in each adapter, and are not shared.
"""

from collections.abc import Mapping
from typing import Final

from attrs import evolve, frozen

from crash_tests.scenarios import (
    DOMAIN,
    HOLDER,
    LATE,
    PROJECT,
    TTL_MS,
    call,
    lease,
    run_of,
    set_maximum,
    uuid_of,
)
from model.actions import Action, Admit, Call, Close, Finish, Open, Quiesce

FOUNDER: Final = "founder"
"""The host that brings the history about, and is closed before the race."""


@frozen
class Turn:
    """What one process is asked for, in words and as it is sent. `epoch` is that of its own lease."""

    words: str
    action: Open | Call
    epoch: int = 1


Burst = tuple[Turn | None, ...]
"""What is asked of each process at the same time; of some nothing."""


@frozen
class WireRace:
    """`history` has happened by one process; then come `bursts`, each answered before the next is sent.

    `why` says what is at stake, `clause` names the rule that a fault breaks. One that is to stand still or
    to be killed is so in burst `strike`, from 0.
    """

    name: str
    why: str
    clause: str
    history: tuple[Action, ...]
    bursts: tuple[Burst, ...]
    strike: int = 1

    @property
    def processes(self) -> int:
        return len(self.bursts[0])

    @property
    def mixed(self) -> bool:
        """Whether the last process is asked for something of its own kind."""
        return self.bursts[0][-1] is None

    def epoch(self, number: int) -> int:
        """The epoch of the lease that process `number`, from 0, believes to stand."""
        return max(turn.epoch for burst in self.bursts if (turn := burst[number]) is not None)


def _open(maximum: int, host: str = FOUNDER, epoch: int = 1) -> Open:
    return Open(host, HOLDER, epoch, maximum)


def _history(maximum: int, *actions: Action) -> tuple[Action, ...]:
    """`actions` of a store with `maximum` slots that was made for them."""
    founded = tuple(evolve(one, host=FOUNDER) if isinstance(one, Call) else one for one in actions)
    return (lease(), _open(maximum), *founded, Close(FOUNDER))


def _opens(many: int, maximum: int) -> Burst:
    return tuple(Turn("open", _open(maximum, f"p{number}")) for number in range(1, many + 1))


def _asks(many: int, words: str, ask: Call) -> Burst:
    """Each process is asked for the same."""
    return tuple(Turn(words, evolve(ask, host=f"p{number}")) for number in range(1, many + 1))


def _reserve(number: int, *, run: int | None = None, host: str = FOUNDER) -> Call:
    binding = run_of(number if run is None else run)
    arguments = {"reservationId": uuid_of(number), **binding, "ttlMs": TTL_MS}
    return Call(host, "alice", "reserve", arguments)


def _reserves(many: int) -> Burst:
    numbers = range(1, many + 1)
    return tuple(Turn(f"reserve {number}", _reserve(number, host=f"p{number}")) for number in numbers)


def _admit(number: int, *, run: int | None = None) -> Admit:
    return Admit(uuid_of(number), PROJECT, DOMAIN, uuid_of(number if run is None else run, 3))


def _commit(number: int, host: str = FOUNDER) -> Call:
    """Its project's record of it is the `number`th."""
    return call("commit", host=host, id=uuid_of(number), projectAdmitCommitSeq=number)


def _command(number: int) -> Turn:
    """One command, that four processes give for 4 slots and four for 5."""
    maximum = 4 if number % 2 else 5
    asked = set_maximum(maximum, 101)
    return Turn(f"setMaxActiveRuns {maximum}, command 1", evolve(asked, host=f"p{number}"))


_ENDED = (_reserve(1), _admit(1), _commit(1), Finish(uuid_of(1), "completed"), Quiesce(uuid_of(1)))

RACES: Final[Mapping[str, WireRace]] = {
    race.name: race
    for race in (
        WireRace(
            "for-slots",
            "8 processes race for 3 slots",
            "S10",
            _history(3),
            (_opens(8, 3), _reserves(8)),
        ),
        WireRace(
            "first-opens",
            "8 processes open a missing directory, and reserve",
            "genesis",
            (lease(),),
            (_opens(8, 3), _reserves(8)),
            strike=0,
        ),
        WireRace(
            "for-one-binding",
            "6 processes commit one binding",
            "S8",
            _history(6, *(what for n in range(1, 7) for what in (_reserve(n, run=1), _admit(n, run=1)))),
            (_opens(6, 6), tuple(Turn(f"commit {n}, for run 1", _commit(n, f"p{n}")) for n in range(1, 7))),
        ),
        WireRace(
            "one-release",
            "8 processes retry one release",
            "normalRelease",
            _history(3, *_ENDED),
            (_opens(8, 3), _asks(8, "normalRelease 1", call("normalRelease", id=uuid_of(1)))),
        ),
        WireRace(
            "one-command",
            "8 processes give one command id to two commands",
            "commands-take-effect-once",
            _history(3),
            (_opens(8, 3), tuple(_command(number) for number in range(1, 9))),
        ),
        WireRace(
            "one-sweep",
            "6 processes open and read when the time of 3 admitted reservations is over",
            "sweep",
            _history(3, *(what for n in (1, 2, 3) for what in (_reserve(n), _admit(n))), LATE),
            (_opens(6, 3), _asks(6, "snapshot", call("snapshot"))),
            strike=0,
        ),
        WireRace(
            "newer-epoch",
            "7 processes reserve while one of a newer epoch takes over",
            "older-hosts-are-fenced",
            _history(7),
            (
                (*_opens(7, 7), None),
                (*_reserves(7), Turn("open with epoch 2", _open(7, "p8", 2), 2)),
            ),
        ),
    )
}
"""By name."""
