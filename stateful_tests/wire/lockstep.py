"""Model and wire target, one action at a time: as `stateful_tests.lockstep`, for what a target reports.

Compared after every action: outcome, code, side effects, answer, the durable state as it is reported, the
project ledgers, the launches. Where the checker reads the files itself (capability `files`), all that is
compared in process is compared here. A breakdown of the conversation is a difference of its own kind.

Not compared without `files`: bytes, temporary files, the identity file; and without `audit` the audit.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

import model
from model.actions import Action
from model.forms import value_to_json
from model.outcomes import Accepted, Outcome, Refused
from model.values import JSON, World
from stateful_tests import clauses
from stateful_tests.compare import Difference, differences, fact_to_json, same
from stateful_tests.lockstep import Lockstep, name_of, outcome_differs, outcome_name
from stateful_tests.observe import Observation
from stateful_tests.pair import Found, Judge
from stateful_tests.target import Answered, Refusal, Result
from stateful_tests.wire.faults import CLAUSES, Broke
from stateful_tests.wire.policy import Policy
from stateful_tests.wire.target import WireTarget

_REPORTED: Final = (
    *("fencingEpoch", "commitSeq", "lastWallTime", "maxActiveRuns", "reservations", "commands"),
    "audit",
)
"""Of `store_to_json`; the last one with the capability `audit`."""


class WireLockstep(Lockstep):
    """`counts` gets the declared deviations that were met."""

    target: WireTarget

    def __init__(
        self,
        target: WireTarget,
        world: World | None = None,
        *,
        judge: Judge | None = None,
        policy: Policy | None = None,
        counts: Counter[str] | None = None,
    ) -> None:
        super().__init__(target, model.initial_world() if world is None else world, judge=judge)
        self.policy = policy or Policy()
        self.counts = Counter[str]() if counts is None else counts
        capabilities = target.greeting.capabilities
        self._files = capabilities.files is not None
        parts = _REPORTED if capabilities.audit else _REPORTED[:-1]
        self._parts: tuple[str, ...] = ("version", *_REPORTED) if self._files else parts
        self._unkept = frozenset(one.name for one in self.policy.fields)
        self._expected: tuple[object, JSON] = (None, None)

    def differs(
        self, action: Action, before: World, outcome: Outcome, result: Any, seen: Observation
    ) -> Found | None:
        broke = result if isinstance(result, Broke) else self.target.broke
        if broke is not None:
            told = Difference("reply", outcome_name(outcome), broke.text)
            return (broke.kind, CLAUSES[broke.kind], (told,))
        result = self._as_declared(action, outcome, result)
        if self._files and not self._unkept:
            return super().differs(action, before, outcome, result, seen)
        return outcome_differs(outcome, self._as_kept(outcome, result)) or self._reported(outcome)

    def agrees(self, action: Action, outcome: Outcome, result: Result) -> bool:
        """Whether `result`, as declared, is what the model has as the outcome of `action`."""
        result = self._as_kept(outcome, self._as_declared(action, outcome, result))
        return outcome_differs(outcome, result) is None

    def shows(self, world: World) -> tuple[Difference, ...]:
        """Where what the target reports now is not the durable state of `world`."""
        expected = self._of(world)
        store = self._seen(expected, self.observation.store)
        return () if same(expected, store) else differences(expected, store)

    def _reported(self, outcome: Outcome) -> Found | None:
        world, now = self.world, self.observation
        found = self.shows(world)
        if found:
            clause = clauses.REFUSED if isinstance(outcome, Refused) else clauses.PUBLISHED
            return ("store", clause, found)
        facts: dict[str, JSON] = {fact.reservation_id: fact_to_json(fact) for fact in world.facts}
        if not same(facts, now.facts):
            return ("ledgers", clauses.LEDGERS, differences(facts, now.facts))
        if world.launched != now.launched:
            return ("launches", clauses.LAUNCHES, differences(list(world.launched), list(now.launched)))
        return None

    def _of(self, world: World) -> JSON:
        """The parts of the model's state that this target reports."""
        if world.store is None:
            return None
        if self._expected[0] is not world.store:
            whole = self._store_json(world.store)
            self._expected = (world.store, {name: whole[name] for name in self._parts})
        return self._expected[1]

    def _seen(self, expected: JSON, store: Any) -> Any:
        """What is reported, with what the policy lets be."""
        return _kept(expected, store, self._unkept) if self._unkept else store

    def _as_kept(self, outcome: Outcome, result: Result) -> Result:
        """`result`, with the fields that the policy lets be as the model has them."""
        if self._unkept and isinstance(outcome, Accepted) and isinstance(result, Answered):
            return Answered(_kept(value_to_json(outcome.value), result.value, self._unkept))
        return result

    def _as_declared(self, action: Action, outcome: Outcome, result: Result) -> Result:
        """`result`, with the code that the model has where the policy says that it is meant."""
        if not isinstance(outcome, Refused) or not isinstance(result, Refusal) or not self.policy.codes:
            return result
        declared = self.policy.code_for(name_of(action), outcome.code, result.code)
        if declared is None:
            return result
        self.counts[declared.key] += 1
        return Refusal(outcome.code, result.side_effects)


def _kept(expected: Any, seen: Any, unkept: frozenset[str]) -> Any:
    """`seen`, where the fields of `unkept` say what `expected` says, be it nothing."""
    if isinstance(expected, Mapping) and isinstance(seen, dict):
        told = {
            key: _kept(expected.get(key), value, unkept) for key, value in seen.items() if key not in unkept
        }
        return {**told, **{key: value for key, value in expected.items() if key in unkept}}
    if isinstance(expected, list) and isinstance(seen, list) and len(expected) == len(seen):
        return [_kept(one, other, unkept) for one, other in zip(expected, seen, strict=True)]
    return seen
