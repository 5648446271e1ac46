"""A store too broken to be measured is a failure found, with its story: no job is lost for it."""

import json
from collections.abc import Callable

import pytest

from crash_tests import jobs, rates
from crash_tests.gated import jobs as ledger
from crash_tests.oracle import Violation
from crash_tests.races import Place, Race
from crash_tests.replays import replay_trace
from impl import CoordinatorError
from impl.gated import LedgerError
from stateful_tests.target import Refusal, StoreTarget

BROKEN = Violation("C6", "two temporary files stand there", action=0)


def test_a_kill_that_goes_wrong_is_told_with_where_and_what_came_after(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rates, "recover", lambda *_: BROKEN)
    seen = jobs.run_rates({})
    (failure,) = seen.failures
    assert (seen.figures, failure.clause) == ({}, "C6")
    trace = json.loads(json.dumps(failure.trace))
    assert trace["kills"][0]["point"]
    assert trace["after"]
    assert replay_trace(trace).status == "fixed"


def test_what_the_kill_itself_leaves_and_a_walk_that_differs_are_told_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rates, "kill", lambda *_: BROKEN)
    assert jobs.run_rates({}).failures[0].clause == "C6"
    monkeypatch.undo()
    monkeypatch.setattr(StoreTarget, "apply", lambda *_: Refusal("DURABILITY_FAILED"))
    (failure,) = jobs.run_rates({}).failures
    assert "without any kill" in failure.title


def raising(error: Exception) -> Callable[[Place], list[str]]:
    def run(_: Place) -> list[str]:
        raise error

    return run


@pytest.mark.parametrize(
    "error", [json.JSONDecodeError("cut off", "", 0), KeyError("state"), TypeError("None")]
)
def test_files_that_a_race_can_not_read_are_wrong_and_no_lost_job(error: Exception) -> None:
    race = Race("r", "why", "S1", raising(error))
    for once in (jobs.once, ledger.once):
        (wrong,) = once(race)
        assert wrong.startswith(f"what the race left can't be read: {type(error).__name__}")


def test_a_refusal_that_no_race_expects_is_wrong_of_either_system() -> None:
    refused = Race("r", "why", "S1", raising(CoordinatorError("DURABILITY_FAILED", "no")))
    assert jobs.once(refused) == ["refused where nothing may be: DURABILITY_FAILED: no"]
    other = Race("r", "why", "S1", raising(AssertionError("no")))
    assert ledger.once(other) == ["what leads up to the race was refused: no"]
    refused = Race("r", "why", "S1", raising(LedgerError("IDEMPOTENCY_CONFLICT", "no", "rollback")))
    assert ledger.once(refused) == ["refused where nothing may be: IDEMPOTENCY_CONFLICT: no"]
