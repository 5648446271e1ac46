"""The ledger's model and store, one action at a time: everything is compared after each.

These must agree: outcome, code, recoverability, whether a rollback failed too, the answer; the ledger byte
for byte; what an independent reader makes of its lines and of the mirror; every side effect in its order.
The steps that the store took must have come in the order that its promises rest on (see `order`).
"""

from typing import Any, Final

from attrs import define

from model.gated import initial_world, step
from model.gated.actions import Action, Crash, OpenLedger
from model.gated.forms import outcome_to_json, store_to_json
from model.gated.outcomes import Accepted, Declined, Outcome, Raised, Refused
from model.gated.values import World
from model.values import JSON
from stateful_tests.compare import Difference, differences, same
from stateful_tests.gated import clauses
from stateful_tests.gated.observe import Observation
from stateful_tests.gated.order import out_of_order
from stateful_tests.gated.results import Answered, Crashed, Passed, Refusal, Result
from stateful_tests.gated.target import LedgerTarget
from stateful_tests.pair import Found, Judge, Pair

_NO_SCHEMA: Final = {"empty": "schema"}


class LedgerLockstep(Pair):
    """Walks the store and the model's `world` through the same actions.

    Kinds of difference: outcome, code, recoverability, rollback, answer, crashed, problem, ledger, mirror,
    bytes, effects, order, leftovers, invariant.
    """

    world: World
    target: LedgerTarget
    observation: Observation

    def __init__(
        self, target: LedgerTarget, world: World | None = None, *, judge: Judge | None = None
    ) -> None:
        super().__init__(target, initial_world() if world is None else world, judge=judge)
        self._bytes = _Bytes()

    def expect(self, action: Action) -> tuple[World, Outcome, bool]:
        after, outcome = step(self.world, action)
        return after, outcome, isinstance(outcome, Declined)

    def differs(
        self, action: Action, before: World, outcome: Outcome, result: Any, seen: Observation
    ) -> Found | None:
        del before
        return _outcome(outcome, result) or self._state(action, outcome) or self._aside(action, outcome, seen)

    def name_of(self, action: Action) -> str:
        return name_of(action)

    def _state(self, action: Action, outcome: Outcome) -> Found | None:
        world, now = self.world, self.observation
        if now.problems:
            return ("problem", clauses.FILES, (Difference("files", [], list(now.problems)),))
        expected = store_to_json(world)
        for name in ("ledger", "tail", "size"):
            if expected[name] != now.store[name]:
                return ("ledger", clauses.LEDGER, differences(expected[name], now.store[name], name))
        if self._bytes.of(world) != now.raw:
            return ("bytes", clauses.UNCHANGED, (Difference("ledger.jsonl", "its bytes", "others"),))
        if not mirrors_agree(expected["mirror"], now.store["mirror"]):
            return ("mirror", clauses.MIRROR, differences(expected["mirror"], now.store["mirror"], "mirror"))
        effects = effects_of(world)
        if effects != now.effects:
            return ("effects", clauses.EFFECTS, differences(list(effects), list(now.effects), "effects"))
        watch = self.target.watch
        wrong = next(out_of_order(watch.steps, died=watch.dead, failed=bool(watch.struck)), None)
        if wrong is not None:
            return ("order", clauses.ORDER, (Difference("steps", "in order", wrong),))
        if isinstance(action, OpenLedger) and isinstance(outcome, Accepted) and now.fresh:
            left = Difference("mirrors half built", 0, now.fresh)
            return ("leftovers", clauses.FILES, (left,))
        return None

    def _aside(self, action: Action, outcome: Outcome, seen: Observation) -> Found | None:
        """A mirror that was set aside is there under its new name."""
        if not isinstance(action, OpenLedger) or not isinstance(outcome, Accepted):
            return None
        report: Any = outcome.value
        if not report["setAside"] or self.observation.aside > seen.aside:
            return None
        return ("leftovers", clauses.MIRROR, (Difference("files set aside", "more", self.observation.aside),))


@define
class _Bytes:
    """The bytes of the model's ledger; kept as long as it is the same ledger."""

    ledger: object = None
    whole: bytes | None = None

    def of(self, world: World) -> bytes | None:
        ledger = world.ledger
        if ledger is not self.ledger:
            self.ledger = ledger
            self.whole = bytes_of(world)
        return self.whole


def bytes_of(world: World) -> bytes | None:
    """The bytes of the model's ledger, `None` if there is no such file."""
    ledger = world.ledger
    return None if ledger is None else b"".join(each.text for each in ledger.entries) + ledger.tail


def mirrors_agree(model: Any, store: Any) -> bool:
    """Whether both are the same mirror.

    Whoever looks into an empty one leaves a header in it, though the opening may then be refused.
    """
    return same(*(_NO_SCHEMA.get(str(each), each) for each in (model, store)))


def effects_of(world: World) -> tuple[JSON, ...]:
    """The model's effects in the terms in which the target counts them."""
    return tuple(
        {"runId": one.run_id, "key": one.key, "kind": one.kind, "idempotent": one.idempotent}
        for one in world.effects
    )


def name_of(action: Action) -> str:
    """The action's name; of a crash, with what the client was doing."""
    name = type(action).__name__
    name = name[0].lower() + name[1:]
    if isinstance(action, Crash) and action.inside is not None:
        return f"{name} in {name_of(action.inside)}"
    return name


def outcome_name(outcome: Outcome) -> str:
    """`accepted`, `in_doubt`, `noop`, `declined`, what was raised, or `CODE, recoverability`."""
    if isinstance(outcome, Refused):
        return f"{outcome.code}, {outcome.recoverability}"
    if isinstance(outcome, Raised):
        return f"raised {outcome.kind}"
    if isinstance(outcome, Declined):
        return "declined"
    status = outcome.value.get("status") if isinstance(outcome.value, dict) else None
    return str(status) if status in ("in_doubt", "noop") else "accepted"


def _outcome(outcome: Outcome, result: Result) -> Found | None:
    if isinstance(result, Crashed):
        return ("crashed", clauses.CRASHED, (Difference("outcome", outcome_to_json(outcome), result.text),))
    expected, observed = _kind_of(outcome), _kind_of(result)
    if expected != observed:
        kind = "code" if isinstance(outcome, Refused) and isinstance(result, Refusal) else "outcome"
        return (kind, clauses.of_outcome(expected, observed), (Difference(kind, expected, observed),))
    if isinstance(outcome, Refused) and isinstance(result, Refusal):
        if outcome.recoverability != result.recoverability:
            told = Difference("recoverability", outcome.recoverability, result.recoverability)
            return ("recoverability", clauses.RECOVERABILITY, (told,))
    elif isinstance(outcome, Accepted) and isinstance(result, Answered):
        if not same(outcome.value, result.value):
            return ("answer", clauses.ANSWER, differences(outcome.value, result.value, "answer"))
        return None
    failed = bool(getattr(outcome, "rollback_failed", False)), bool(getattr(result, "rollback_failed", False))
    if failed[0] != failed[1]:
        return ("rollback", clauses.ROLLBACK, (Difference("rollback failed too", *failed),))
    return None


def _kind_of(outcome: Outcome | Result) -> str:
    if isinstance(outcome, Refused | Refusal):
        return outcome.code
    if isinstance(outcome, Raised | Passed):
        return f"raised {outcome.kind}"
    return "accepted"
