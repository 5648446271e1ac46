"""Receipted steps over events in memory: order, what is skipped, what is in doubt."""

import pytest

from impl.gated import (
    LedgerError,
    Step,
)
from impl.gated.events import Place
from impl.gated.records import make_record
from impl.gated.tests.bench import HASH, refused
from impl.gated.tests.effects import APPEND, LOST, Effects, StepError, applied, raising
from impl.gated.tests.fakes import FakeEvents


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
