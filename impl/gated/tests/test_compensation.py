"""Compensations over events in memory: order, what is skipped, what is in doubt."""

import pytest

from impl.gated import (
    LedgerError,
    run_gated_compensation,
)
from impl.gated.tests.bench import refused
from impl.gated.tests.effects import APPEND, LOST, Effects, StepError, applied, compensation, raising
from impl.gated.tests.fakes import FakeEvents


def test_compensators_run_backwards_after_a_durable_start_each_with_its_receipt() -> None:
    effects, events = Effects(), FakeEvents()
    steps = [effects.undoing("a", 1), effects.undoing("c", 3), effects.undoing("b", 2, applied=False)]
    result = run_gated_compensation(events, compensation(*steps))
    assert effects.ran == ["c", "b", "a"]
    assert events.written == ["undo", "undo:c", "undo:b", "undo:a"]
    assert (result.status, result.executed_step_ids) == ("rolled_back", ("c", "b", "a"))
    assert [receipt.idempotency_key for receipt in result.receipts] == ["undo:c", "undo:b", "undo:a"]
    assert {record.phase for record in events.events.values()} == {"compensate"}
    assert events.events["run", "undo"].event_type == "scheduler.node.compensating"
    assert result.receipts[0].event_type == "scheduler.node.compensation.receipt"


def test_nothing_runs_if_a_step_that_is_not_idempotent_was_applied() -> None:
    effects, events = Effects(), FakeEvents()
    steps = [effects.undoing("a", 1), effects.undoing("b", 2, idempotent=False)]
    request = compensation(*steps)
    error = refused(lambda: run_gated_compensation(events, request), "COMPENSATION_FAILED", "in_doubt")
    assert (error.phase, error.event_type) == ("compensate", "scheduler.node.compensating")
    assert (effects.ran, events.written) == ([], [])


def test_a_step_that_is_not_idempotent_and_was_not_applied_is_left_alone() -> None:
    effects, events = Effects(), FakeEvents()
    steps = [effects.undoing("a", 1), effects.undoing("b", 2, idempotent=False, applied=False)]
    assert run_gated_compensation(events, compensation(*steps)).executed_step_ids == ("a",)
    assert effects.ran == ["a"]


def test_compensating_again_writes_and_runs_nothing_a_second_time() -> None:
    effects, events = Effects(), FakeEvents()
    steps = [effects.undoing("a", 1), effects.undoing("b", 2)]
    first = run_gated_compensation(events, compensation(*steps))
    again = run_gated_compensation(events, compensation(*steps))
    assert effects.ran == ["b", "a"]
    assert (again.executed_step_ids, again.receipts) == ((), first.receipts)
    assert events.written == ["undo", "undo:b", "undo:a"]


def test_compensating_again_after_a_failure_goes_on_where_it_stopped() -> None:
    effects, events = Effects(), FakeEvents()
    broken = [effects.undoing("a", 1, run=raising), effects.undoing("b", 2)]
    error = refused(
        lambda: run_gated_compensation(events, compensation(*broken)), "COMPENSATION_FAILED", "in_doubt"
    )
    assert isinstance(error.cause, StepError)
    assert events.written == ["undo", "undo:b"]
    mended = [effects.undoing("a", 1), effects.undoing("b", 2)]
    assert run_gated_compensation(events, compensation(*mended)).executed_step_ids == ("a",)
    assert effects.ran == ["b", "a"]


@pytest.mark.parametrize("blind", [False, True])
def test_a_start_that_is_lost_keeps_every_compensator_from_running(blind: bool) -> None:
    effects, events = Effects(), FakeEvents(lose={"undo": LOST}, blind=blind)
    request = compensation(effects.undoing("a", 1))
    error = refused(lambda: run_gated_compensation(events, request), APPEND, "rollback")
    assert (error.phase, error.cause) == ("compensate", LOST)
    assert effects.ran == []


def test_a_known_start_with_other_content_is_a_conflict() -> None:
    effects, events = Effects(), FakeEvents()
    run_gated_compensation(events, compensation(effects.undoing("a", 1)))
    other = compensation(effects.undoing("a", 1), after="cd" * 32)
    refused(lambda: run_gated_compensation(events, other), "IDEMPOTENCY_CONFLICT", "operator")
    assert effects.ran == ["a"]


def test_a_compensation_receipt_that_is_lost_is_in_doubt_and_stops() -> None:
    effects, events = Effects(), FakeEvents(lose={"undo:b": LOST})
    request = compensation(effects.undoing("a", 1), effects.undoing("b", 2))
    refused(lambda: run_gated_compensation(events, request), APPEND, "in_doubt")
    assert effects.ran == ["b"]


def test_a_compensation_receipt_that_is_durable_all_the_same_lets_it_go_on() -> None:
    effects, events = Effects(), FakeEvents(keep={"undo", "undo:b"})
    request = compensation(effects.undoing("a", 1), effects.undoing("b", 2))
    assert run_gated_compensation(events, request).executed_step_ids == ("b", "a")


def test_ambiguous_compensations_are_refused_before_all_else() -> None:
    effects, events = Effects(), FakeEvents()
    applied_one = effects.undoing("a", 1, idempotent=False)
    for other in (effects.undoing("b", 1), effects.undoing("a", 2)):
        with pytest.raises(ValueError, match="times"):
            run_gated_compensation(events, compensation(applied_one, other))
    assert (effects.ran, events.written) == ([], [])


def test_a_rollback_that_failed_under_a_lost_event_stays_attached() -> None:
    failure = LedgerError(APPEND, "append failed", "rollback")
    failure.rollback_error = LOST
    effects, events = Effects(), FakeEvents(lose={"undo": failure, "receipt-a:started": failure})
    request = compensation(effects.undoing("a", 1))
    assert refused(lambda: run_gated_compensation(events, request), APPEND, "rollback").rollback_error is LOST
    step = effects.step("a", 1, idempotent=False)
    assert refused(lambda: applied(events, step), APPEND, "rollback").rollback_error is LOST
