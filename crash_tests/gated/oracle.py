"""What a kill may leave of a ledger-gated store, and the verdict when the files show none of it.

A process that is killed in the middle of a call leaves the world before the call, or the world after one of
its small steps: the model lists them. Which effects had happened by then the harness knows. What had been
answered before is there for good.

It judges by what can be read from the files, not by how the store got there.
"""

from collections.abc import Sequence

from attrs import evolve, frozen

from crash_tests.oracle import Violation
from model.gated import steps
from model.gated.actions import Call
from model.gated.forms import store_to_json
from model.gated.values import LedgerFile, World
from model.values import JSON
from stateful_tests.compare import Difference, differences
from stateful_tests.gated.lockstep import bytes_of, effects_of, mirrors_agree
from stateful_tests.gated.observe import Observation

BEFORE_OR_AFTER = "crash: recovered = what was acknowledged, or that and what was in flight"
ACKNOWLEDGED = "The promise: what was acknowledged is there for good"
WHOLE = "Durability rules: what a kill leaves is whole"
STUCK = "Recovery: the store works on after a kill"


@frozen
class Candidate:
    """A world that the killed process may have left behind; its clients died with it."""

    label: str
    world: World

    def shown_by(self, seen: Observation) -> bool:
        return (
            bytes_of(self.world) == seen.raw
            and effects_of(self.world) == seen.effects
            and mirrors_agree(store_to_json(self.world)["mirror"], seen.store["mirror"])
        )


def candidates(worlds: Sequence[World], flight: Sequence[Call], acknowledged: int) -> tuple[Candidate, ...]:
    """What may be found when `acknowledged` of the calls in flight had answered.

    `worlds` are the model's, one more than there are calls.
    """
    before = worlds[acknowledged]
    found = [Candidate("before", _dead(before))]
    if acknowledged < len(flight):
        for moment, world in steps(before, flight[acknowledged]):
            one = Candidate(moment, _dead(world))
            if all(one.world != known.world for known in found):
                found.append(one)
    return tuple(found)


def _dead(world: World) -> World:
    return evolve(world, clients=())


def decide(
    seen: Observation,
    possible: Sequence[Candidate],
    worlds: Sequence[World],
    acknowledged: int,
    *,
    struck: str = "kill",
) -> Candidate | Violation:
    """The candidate that the files show, or why it is none of them. `struck` says what the store suffered."""
    if seen.problems:
        return Violation(WHOLE, f"what the {struck} left is not whole: {seen.problems[0]}")
    for candidate in possible:
        if candidate.shown_by(seen):
            return candidate
    told = set(worlds[acknowledged].acknowledged)
    lost = told - {line.hash for line in seen.reading.lines if line is not None}
    if lost and _is_whole(worlds[acknowledged]):
        return Violation(ACKNOWLEDGED, f"{len(lost)} acknowledged event(s) are gone after the {struck}")
    nearest = min(possible, key=lambda one: len(_differences(one, seen)))
    return Violation(
        BEFORE_OR_AFTER,
        f"the {struck} left none of what the call may leave (nearest: {nearest.label})",
        _differences(nearest, seen),
    )


def _is_whole(world: World) -> bool:
    """Nobody has taken lines out of the ledger before."""
    held = {getattr(each, "hash", None) for each in (world.ledger or LedgerFile()).entries}
    return world.acknowledged <= held


def _differences(candidate: Candidate, seen: Observation) -> tuple[Difference, ...]:
    expected = store_to_json(candidate.world)
    told: list[JSON] = list(effects_of(candidate.world))
    found = differences(expected, dict(seen.store)) + differences(told, list(seen.effects), "effects")
    return found or (Difference("ledger.jsonl", "its bytes", "others"),)
