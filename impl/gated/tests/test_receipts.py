"""Receipted steps and compensations over events in memory: order, what is skipped, what is in doubt."""

from collections.abc import Callable
from typing import Final

import pytest

from impl.gated import (
    ApplyRequest,
    ApplyResult,
    CompensationRequest,
    CompensationStep,
    LedgerError,
    Step,
    apply_receipted_steps,
    run_gated_compensation,
)
from impl.gated.events import Place
from impl.gated.records import make_record
from impl.gated.tests.bench import HASH, refused
from impl.gated.tests.fakes import FakeEvents

LOST = OSError(5, "lost")
APPEND: Final = "LEDGER_APPEND_REQUIRED_FAILED"


class StepError(Exception):
    """What a step raises."""


class Effects:
    """Counts what steps do."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    def step(
        self, name: str, sequence: int, *, idempotent: bool = True, run: Callable[[], object] | None = None
    ) -> Step:
        return Step(
            id=name,
            receipt_id=f"receipt-{name}",
            sequence=sequence,
            idempotent=idempotent,
            before_state_hash=HASH,
            after_state_hash=HASH,
            run=run if run is not None else lambda: self.ran.append(name),
        )

    def undoing(
        self,
        name: str,
        sequence: int,
        *,
        idempotent: bool = True,
        applied: bool = True,
        run: Callable[[], object] | None = None,
    ) -> CompensationStep:
        undo = run if run is not None else lambda: self.ran.append(name)
        return CompensationStep(name, sequence, idempotent, applied, undo)


def raising() -> None:
    raise StepError("the step failed")


def applied(events: FakeEvents, *steps: Step, run_id: str = "run") -> ApplyResult:
    return apply_receipted_steps(events, ApplyRequest(run_id, "node", "op", steps))


def compensation(*steps: CompensationStep, key: str = "undo", after: str = HASH) -> CompensationRequest:
    return CompensationRequest("run", "node", "op", key, HASH, after, steps)


def test_steps_run_in_the_order_of_their_sequence_each_with_its_receipt() -> None:
    effects, events = Effects(), FakeEvents()
    result = applied(events, effects.step("b", 2), effects.step("a", -1), effects.step("c", 30))
    assert effects.ran == ["a", "b", "c"]
    assert (result.status, result.executed_step_ids, result.skipped_step_ids) == (
        "completed",
        ("a", "b", "c"),
        (),
    )
    assert [receipt.idempotency_key for receipt in result.receipts] == [
        "receipt-a",
        "receipt-b",
        "receipt-c",
    ]
    assert {(receipt.phase, receipt.event_type) for receipt in result.receipts} == {
        ("receipt", "scheduler.node.receipt")
    }


def test_a_step_with_a_receipt_is_skipped_and_its_receipt_returned() -> None:
    effects, events = Effects(), FakeEvents()
    first = applied(events, effects.step("a", 1))
    again = applied(events, effects.step("a", 1), effects.step("b", 2))
    assert effects.ran == ["a", "b"]
    assert (again.executed_step_ids, again.skipped_step_ids) == (("b",), ("a",))
    assert again.receipts[0] == first.receipts[0]


def test_the_same_receipt_id_in_another_run_is_another_receipt() -> None:
    effects, events = Effects(), FakeEvents()
    applied(events, effects.step("a", 1), run_id="one")
    applied(events, effects.step("a", 1), run_id="two")
    assert effects.ran == ["a", "a"]


def test_a_step_that_raises_passes_through_and_earlier_receipts_stay() -> None:
    effects, events = Effects(), FakeEvents()
    with pytest.raises(StepError):
        applied(events, effects.step("a", 1), effects.step("b", 2, run=raising), effects.step("c", 3))
    assert effects.ran == ["a"]
    assert events.written == ["receipt-a"]


@pytest.mark.parametrize("blind", [False, True])
def test_a_receipt_that_is_lost_stops_at_once(blind: bool) -> None:
    effects, events = Effects(), FakeEvents(lose={"receipt-b": LOST}, blind=blind)
    result = applied(events, effects.step("a", 1), effects.step("b", 2), effects.step("c", 3))
    assert effects.ran == ["a", "b"]
    assert (result.status, result.stopped_at_step_id) == ("in_doubt", "b")
    assert result.executed_step_ids == ("a", "b")
    assert len(result.receipts) == 1
    assert result.reason is not None
    assert "lost" in result.reason


def test_a_receipt_that_is_durable_all_the_same_lets_the_steps_go_on() -> None:
    effects, events = Effects(), FakeEvents(keep={"receipt-a"})
    result = applied(events, effects.step("a", 1), effects.step("b", 2))
    assert (result.status, result.executed_step_ids) == ("completed", ("a", "b"))
    assert len(result.receipts) == 2


def test_a_step_that_is_not_idempotent_has_a_durable_start_before_it_runs() -> None:
    effects, events = Effects(), FakeEvents()
    seen: list[list[str]] = []
    step = effects.step("a", 1, idempotent=False, run=lambda: seen.append(list(events.written)))
    applied(events, step)
    assert seen == [["receipt-a:started"]]
    assert events.written == ["receipt-a:started", "receipt-a"]
    start = events.events["run", "receipt-a:started"]
    assert (start.phase, start.event_type) == ("start", "scheduler.node.receipt")


def test_a_step_that_was_started_and_has_no_receipt_is_in_doubt_for_ever() -> None:
    effects, events = Effects(), FakeEvents()
    with pytest.raises(StepError):
        applied(events, effects.step("a", 1, idempotent=False, run=raising))
    for _ in range(2):
        result = applied(events, effects.step("a", 1, idempotent=False), effects.step("b", 2))
        assert (result.status, result.stopped_at_step_id) == ("in_doubt", "a")
        assert result.executed_step_ids == ()
    assert effects.ran == []
    assert events.written == ["receipt-a:started"]


def test_a_start_that_another_one_wrote_meanwhile_is_in_doubt() -> None:
    effects = Effects()

    class Raced(FakeEvents):
        def find(self, run_id: str, key: str) -> None:
            """Too early: the other one comes just after."""

    events = Raced()
    place = Place("run", "node", "op", None, "scheduler.node.receipt", "start")
    events.events["run", "receipt-a:started"] = make_record(place, "receipt-a:started", HASH, HASH)
    result = applied(events, effects.step("a", 1, idempotent=False))
    assert (result.status, effects.ran) == ("in_doubt", [])


@pytest.mark.parametrize("blind", [False, True])
@pytest.mark.parametrize(
    ("failure", "recoverability"),
    [
        (LOST, "rollback"),
        (LedgerError("SQLITE_MIRROR_FAILED", "locked", "retry"), "retry"),
        (LedgerError(APPEND, "poisoned", "operator"), "operator"),
        (LedgerError(APPEND, "uncut", "in_doubt"), "in_doubt"),
    ],
)
def test_a_start_that_is_lost_keeps_the_step_from_running(
    failure: Exception, recoverability: str, blind: bool
) -> None:
    effects, events = Effects(), FakeEvents(lose={"receipt-a:started": failure}, blind=blind)
    error = refused(lambda: applied(events, effects.step("a", 1, idempotent=False)), APPEND, recoverability)
    assert (error.phase, error.run_id, error.node_id) == ("start", "run", "node")
    assert error.cause is failure
    assert effects.ran == []


def test_a_start_that_is_durable_all_the_same_lets_the_step_run() -> None:
    effects, events = Effects(), FakeEvents(keep={"receipt-a:started"})
    assert applied(events, effects.step("a", 1, idempotent=False)).status == "completed"
    assert effects.ran == ["a"]


def test_ambiguous_steps_are_refused_before_anything_runs_or_is_written() -> None:
    effects, events = Effects(), FakeEvents()
    a = effects.step("a", 1)
    same_sequence = effects.step("b", 1)
    same_id = Step("a", "r2", 2, True, HASH, HASH, raising)
    same_receipt = Step("b", "receipt-a", 2, True, HASH, HASH, raising)
    not_idempotent = effects.step("a", 1, idempotent=False)
    as_a_start = Step("b", "receipt-a:started", 2, True, HASH, HASH, raising)
    for steps in ((a, same_sequence), (a, same_id), (a, same_receipt), (not_idempotent, as_a_start)):
        with pytest.raises(ValueError, match="times"):
            applied(events, *steps)
    assert (effects.ran, events.written) == ([], [])
    applied(events, a, Step("b", "receipt-a:started", 2, True, HASH, HASH, lambda: None))


def test_a_start_is_never_taken_for_a_receipt() -> None:
    effects, events = Effects(), FakeEvents()
    applied(events, effects.step("a", 1, idempotent=False))
    step = Step("b", "receipt-a:started", 2, True, HASH, HASH, lambda: effects.ran.append("b"))
    refused(lambda: applied(events, step), "IDEMPOTENCY_CONFLICT", "operator")
    assert effects.ran == ["a"]


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
