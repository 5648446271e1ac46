"""What is wrong with a race of processes, in words: no order of its requests explains it, or nothing goes on.

An answer that the store never gives is told apart from a store that does not fit the answers, and
reservations that were granted and are not stored are named. What a person reads of a request is made here.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from attrs import evolve

from crash_tests.oracle import Violation
from crash_tests.scenarios import HOLDER, call, lease
from crash_tests.wire.crowd import Request, sound
from crash_tests.wire.orders import Asked, Orders
from crash_tests.wire.racers import Turn, WireRace
from model.actions import Call, Open
from model.values import World
from stateful_tests.target import Answered, Crashed, Refusal, Result
from stateful_tests.wire.lockstep import WireLockstep
from stateful_tests.wire.policy import Policy
from stateful_tests.wire.target import WireTarget

Wrong = tuple[Violation, tuple[str, ...]]
"""The rule that is broken, and what more there is to say."""


def judged(
    race: WireRace, world: World, asked: Sequence[Asked], fresh: WireTarget, policy: Policy
) -> Wrong | None:
    """What is wrong with what was answered and with what the process `fresh` shows then, if anything.

    `world` is that before the race. Raises `TargetFaultError`.
    """
    look = WireLockstep(fresh, world, policy=policy)
    sound(fresh)
    if look.observation.problems:
        title = f"what the race left is not whole: {look.observation.problems[0]}"
        return Violation(race.clause, title), ()
    shown = _ids(look.observation.store)
    ends = Orders(look.agrees, shown).explain(world, asked)
    decided = next((end for end in ends if not look.shows(end)), None)
    if decided is None:
        return _unexplained(race, world, asked, look, shown)
    return _worked_on(race, decided, fresh, policy)


def _ids(store: Any) -> tuple[str, ...]:
    """Of the rows that are shown, whatever their shape."""
    return tuple(
        str(row["reservation"].get("reservationId"))
        for row in (store or {}).get("reservations", ())
        if isinstance(row, dict) and isinstance(row.get("reservation"), dict)
    )


def _unexplained(
    race: WireRace, world: World, asked: Sequence[Asked], look: WireLockstep, shown: tuple[str, ...]
) -> Wrong:
    last = {id(turn) for turn in race.bursts[-1]}
    ended = [one.result for one in asked if id(one.turn) in last] or [one.result for one in asked]
    title = f"{race.why}: {_tally(ended)}"
    granted = {_number(one.turn) for one in asked if isinstance(one.result, Answered)} - {""}
    lost = sorted(granted - {_short(name) for name in shown}, key=int)
    more = [f"granted and not stored: {', '.join(lost)}"] if lost else []
    fitting = Orders(look.agrees).explain(world, asked)
    if not fitting:
        return Violation(race.clause, title), (*more, "no order of the requests explains the answers")
    unlike = "some order explains the answers, but not what is stored after them"
    return Violation(race.clause, title, look.shows(fitting[0])), (*more, unlike)


def _worked_on(race: WireRace, decided: World, fresh: WireTarget, policy: Policy) -> Wrong | None:
    """The fresh process opens the store, too, and reads all of it."""
    fresh.forget_sight()
    walk = WireLockstep(fresh, evolve(decided, hosts=()), policy=policy)
    epoch = 1 if decided.store is None else decided.store.fencing_epoch
    for action in (lease(epoch), Open("fresh", HOLDER, epoch, 3), call("snapshot", host="fresh")):
        found = walk.step(action).divergence
        if found is not None:
            title = f"after the race a fresh process differs: {found.title}"
            return Violation(race.clause, title, found.differences), ()
    return None


def told(requests: Sequence[Request]) -> tuple[str, ...]:
    """Who was asked for what, and the answer, a line each."""
    return tuple(f"process {r.number + 1}: {r.turn.words}{r.fate}: {_words(r.result)}" for r in requests)


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


def _number(turn: Turn) -> str:
    """Of a reservation that is asked for; nothing for another request."""
    action = turn.action
    if isinstance(action, Call) and action.operation == "reserve":
        return _short(str(action.arguments["reservationId"]))
    return ""


def _short(name: str) -> str:
    """The number that is in one of our ids."""
    return str(int(name[-12:])) if name[-12:].isdecimal() else name[:40]
