"""The second system, ledger-gated transactions, as the machinery needs it (see `stateful_tests.system`)."""

from collections.abc import Mapping
from typing import Any, Final

from model.gated import initial_world, invariants, step, walk
from model.gated.forms import action_from_json, action_to_json, outcome_to_json
from model.gated.outcomes import Declined
from model.gated.values import World
from stateful_tests.gated.coverage import PREFIX, LedgerCoverage
from stateful_tests.gated.lockstep import LedgerLockstep, name_of, outcome_name
from stateful_tests.gated.simpler import simpler_actions
from stateful_tests.gated.target import LedgerTarget
from stateful_tests.gated.tours import touring
from stateful_tests.pair import Judge
from stateful_tests.system import System

_TOURS_A_WALK: Final = 3


def _initial(initial: Mapping[str, Any]) -> World:
    """Every trace starts with an empty directory that nobody has opened."""
    if initial:
        raise ValueError(f"initial: unknown field {min(initial)!r}; a ledger's trace has none")
    return initial_world()


def _pair(target: LedgerTarget, world: World, judge: Judge | None) -> LedgerLockstep:
    return LedgerLockstep(target, world, judge=judge)


SYSTEM: Final = System(
    name="ledger",
    initial=_initial,
    step=step,
    declined=lambda outcome: isinstance(outcome, Declined),
    action_to_json=action_to_json,
    action_from_json=action_from_json,
    outcome_to_json=outcome_to_json,
    name_of=name_of,
    outcome_name=outcome_name,
    target=LedgerTarget,
    pair=_pair,
    judge=invariants.check,
    witnessed=invariants.witnessed,
    invariants=tuple(each.id for each in invariants.INVARIANTS),
    actor="client",
    simpler=simpler_actions,
    draw=walk.draw,
    on_tour=lambda number, steps: touring(walk.draw, _TOURS_A_WALK * number, steps // (_TOURS_A_WALK + 1)),
    coverage=LedgerCoverage,
    prefix=PREFIX,
)
