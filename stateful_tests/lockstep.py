"""Model and store, one action at a time: the model first, then the store, then everything is compared.

An action that the model declines is never sent. After every other one these must agree: outcome, code, side
effects, answer, the whole durable state, the project ledgers, the launches, the count of temporary files,
and what the authority was shown. Where the model's durable state did not change, the store's bytes must not
have changed. The model's own invariants must hold of the step, too.

It stops at the first difference: after one, the two worlds have nothing to say to each other.
"""

from collections.abc import Mapping
from typing import Any

import model
from model.actions import Action, Call, Open
from model.forms import outcome_to_json, store_to_json, value_to_json
from model.outcomes import Accepted, Declined, Outcome, Refused
from model.values import JSON, Store, World
from stateful_tests import clauses
from stateful_tests.compare import Difference, differences, fact_to_json, same, same_store
from stateful_tests.observe import Observation
from stateful_tests.pair import DivergedError, Divergence, Found, Judge, Pair, StepRecord
from stateful_tests.shown import shown_differs
from stateful_tests.target import Answered, Crashed, Refusal, Result, Target

__all__ = [
    "DivergedError", "Divergence", "Judge", "Lockstep", "StepRecord", "name_of", "outcome_differs",
    "outcome_name",
]  # fmt: skip


class Lockstep(Pair):
    """The coordinator's model and store. `world` is, if not given, that in which nothing has happened.

    Kinds of difference: outcome, code, side-effects, answer, crashed, problem, store, bytes, identity,
    ledgers, launches, temps, shown, invariant.
    """

    world: World
    target: Target
    observation: Observation

    def __init__(self, target: Target, world: World | None = None, *, judge: Judge | None = None) -> None:
        super().__init__(target, model.initial_world() if world is None else world, judge=judge)
        self._facts: tuple[object, dict[str, JSON]] = (None, {})
        self._meddled = target.meddled
        self._store: tuple[Store | None, Mapping[str, JSON]] = (None, {})
        self._agreed: tuple[object, object] = (None, None)
        self._temps_open = False

    def expect(self, action: Action) -> tuple[World, Outcome, bool]:
        after, outcome = model.step(self.world, action)
        return after, outcome, isinstance(outcome, Declined)

    def differs(
        self, action: Action, before: World, outcome: Outcome, result: Any, seen: Observation
    ) -> Found | None:
        meddled, self._meddled = self._meddled, self.target.meddled
        untouched = meddled == self._meddled
        found = outcome_differs(outcome, result) or self._state(action, before, outcome, seen, untouched)
        shown = self.target.shown
        if found is None and isinstance(action, Call) and shown is not None:
            return shown_differs(action, before, outcome, self.world, shown)
        return found

    def name_of(self, action: Action) -> str:
        return name_of(action)

    def _state(
        self, action: Action, before: World, outcome: Outcome, seen: Observation, untouched: bool
    ) -> Found | None:
        world, now = self.world, self.observation
        if now.problems:
            found = Difference("files", [], list(now.problems))
            return ("problem", clauses.FILES, (found,))
        expected = None if world.store is None else self._store_json(world.store)
        unpublished = (
            _commit_seq(before) == _commit_seq(world) and before.identity_file == world.identity_file
        )
        agreed = expected is self._agreed[0] and now.store is self._agreed[1]
        if not agreed and not same_store(expected, now.store):
            clause = clauses.REFUSED if unpublished and untouched else clauses.PUBLISHED
            return ("store", clause, differences(expected, now.store))
        self._agreed = (expected, now.store)
        if world.identity_file != now.identity:
            there = "coordinator.identity.json is there"
            return ("identity", clauses.GENESIS, (Difference(there, world.identity_file, now.identity),))
        if untouched and unpublished and seen.fingerprint != now.fingerprint:
            return ("bytes", clauses.REFUSED, ())
        if not self._temps_agree(action, outcome):
            return ("temps", clauses.TEMPS, (Difference("temporary files", world.temps, now.temps),))
        if self._facts[0] is not world.facts:
            self._facts = (world.facts, {fact.reservation_id: fact_to_json(fact) for fact in world.facts})
        if self._facts[1] != now.facts:
            return ("ledgers", clauses.LEDGERS, differences(self._facts[1], now.facts))
        if world.launched != now.launched:
            return ("launches", clauses.LAUNCHES, differences(list(world.launched), list(now.launched)))
        return None

    def _temps_agree(self, action: Action, outcome: Outcome) -> bool:
        """Whether a refusal because of damaged files comes before or after the clean-up is left open.

        So after one the store may have more of them, until the next transaction that is accepted.
        """
        if self.world.temps == self.observation.temps:
            self._temps_open = False
            return True
        self._temps_open |= bool(self.world.damage)
        through = isinstance(action, Call | Open) and isinstance(outcome, Accepted)
        return self._temps_open and not through and self.observation.temps > self.world.temps

    def _store_json(self, store: Store) -> Mapping[str, JSON]:
        """The model's state as JSON; the same object as long as the state is the same object."""
        if self._store[0] is not store:
            self._store = (store, store_to_json(store))
        return self._store[1]


def name_of(action: Action) -> str:
    """The operation's name as the specification writes it, or the event's in the same manner."""
    if isinstance(action, Call):
        return action.operation
    name = type(action).__name__
    return name[0].lower() + name[1:]


def outcome_name(outcome: Outcome) -> str:
    """`accepted`, `declined`, or the code."""
    if isinstance(outcome, Refused):
        return outcome.code
    return "accepted" if isinstance(outcome, Accepted) else "declined"


def _commit_seq(world: World) -> int:
    return 0 if world.store is None else world.store.commit_seq


def outcome_differs(outcome: Outcome, result: Result) -> Found | None:
    """The difference between what the model says and what the store says came of an action, if any."""
    if isinstance(result, Crashed):
        told = Difference("outcome", outcome_to_json(outcome), result.text)
        return ("crashed", clauses.CRASHED, (told,))
    expected = outcome_name(outcome)
    observed = result.code if isinstance(result, Refusal) else "accepted"
    if expected != observed:
        kind = "outcome" if "accepted" in (expected, observed) else "code"
        return (kind, clauses.of_outcome(expected, observed), (Difference(kind, expected, observed),))
    if isinstance(outcome, Refused) and isinstance(result, Refusal):
        if outcome.side_effects != result.side_effects:
            told = Difference("side_effects", outcome.side_effects, result.side_effects)
            return ("side-effects", clauses.SIDE_EFFECTS, (told,))
    elif isinstance(outcome, Accepted) and isinstance(result, Answered):
        answer = value_to_json(outcome.value)
        if not same(answer, result.value):
            return ("answer", clauses.ANSWER, differences(answer, result.value, "answer"))
    return None
