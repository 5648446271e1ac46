"""A store too broken to be measured is a failure found, made short: no job is lost for it."""

import pytest

from model.actions import Call
from stateful_tests import runners
from stateful_tests.target import Refusal, StoreTarget

PARAMS = {"seed": 0, "profile": "quick", "rounds": 2}
honest = StoreTarget.apply


def dishonest(target: StoreTarget, action: object) -> object:
    """A store that refuses each reservation."""
    reserves = isinstance(action, Call) and action.operation == "reserve"
    return Refusal("RECONCILE_REQUIRED") if reserves else honest(target, action)  # type: ignore[arg-type]


def test_a_broken_store_is_told_instead_of_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StoreTarget, "apply", dishonest)
    seen = runners.run_rates(PARAMS)
    (failure,) = seen.failures
    assert seen.figures == {}
    assert failure.title.startswith("reserve: ")
    assert isinstance(failure.trace, dict)
    assert failure.trace["seed"] == 0


def test_over_the_wire_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StoreTarget, "apply", dishonest)
    seen = runners.run_wire_rates(PARAMS)
    assert (len(seen.failures), seen.figures) == (1, {})


def test_a_sound_store_is_measured() -> None:
    seen = runners.run_rates({**PARAMS, "rounds": 1})
    assert (seen.failures, sorted(seen.figures)) == (
        (),
        ["bare_operations_per_s", "checked_actions_per_s", "ratio"],
    )
