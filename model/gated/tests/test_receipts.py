"""`apply_receipted_steps`, sentence by sentence."""

from typing import Literal

import pytest

from model.gated import step
from model.gated.actions import Fault, OpenLedger, Step
from model.gated.outcomes import Raised
from model.gated.tests.worlds import (
    a_compensator,
    a_step,
    apply,
    died,
    fails,
    keys,
    lines,
    moments,
    ok,
    opened,
    put,
    ran,
    refused,
    undo,
    value,
)
from model.gated.values import World

NEVER_AGAIN = a_step(2, idempotent=False)


def in_doubt() -> World:
    """A client died in the second step of three, after its effect and before its receipt."""
    world = died(opened(), apply(a_step(1), NEVER_AGAIN, a_step(3)), "ran:2")
    return ok(world, OpenLedger("ann"))


def test_steps_run_in_the_order_of_their_sequences_with_a_receipt_after_each() -> None:
    steps = (a_step(1, sequence=30), a_step(2, sequence=10), a_step(3, sequence=20))
    world = ok(opened(), apply(*steps))
    assert ran(world) == keys(world) == ["r2", "r3", "r1"]
    told = value(opened(), apply(*steps))
    assert (told["status"], told["executedStepIds"], told["skippedStepIds"]) == (
        "completed",
        ["s2", "s3", "s1"],
        [],
    )
    assert moments(opened(), apply(a_step(1)))[:4] == ["run", "ran", "begin", "begun"]


def test_no_steps_are_completed_at_once() -> None:
    assert value(opened(), apply()) == {
        "status": "completed", "executedStepIds": [], "skippedStepIds": [], "receipts": [],
    }  # fmt: skip


def test_a_receipt_that_is_durable_is_returned_and_its_step_skipped() -> None:
    world = ok(opened(), apply(a_step(1)))
    told = value(world, apply(a_step(1), a_step(2)))
    assert (told["executedStepIds"], told["skippedStepIds"]) == (["s2"], ["s1"])
    receipts = told["receipts"]
    assert isinstance(receipts, list)
    assert len(receipts) == 2
    after = ok(world, apply(a_step(1), a_step(2)))
    assert ran(after) == keys(after) == ["r1", "r2"]


def test_a_known_receipt_is_returned_whatever_else_it_says() -> None:
    world = ok(opened(), apply(a_step(1)))
    other = Step("other", "r1", 9, False, "x", "y")
    assert value(world, apply(other))["skippedStepIds"] == ["other"]


def test_the_same_receipt_id_in_another_run_is_another_receipt() -> None:
    world = ok(opened(), apply(a_step(1)), apply(a_step(1), run="another"))
    assert ran(world) == ["r1", "r1"]
    assert [line.name for line in lines(world)] == [("run", "r1"), ("another", "r1")]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_step_that_raises_passes_through_and_earlier_receipts_stay(
    when: Literal["before", "after"],
) -> None:
    world, outcome = step(opened(), apply(a_step(1), a_step(2, raises=when), a_step(3)))
    assert outcome == Raised("step")
    assert keys(world) == ["r1"]
    assert ran(world) == ["r1", "r2"][: 1 + (when == "after")]


@pytest.mark.parametrize("moment", ["begin", "append", "append-fsync"])
def test_a_receipt_that_cannot_be_appended_stops_all_in_doubt(moment: str) -> None:
    action = apply(a_step(1), a_step(2), a_step(3), faults=fails(moment, nth=2))
    told = value(opened(), action)
    assert (told["status"], told["stoppedAtStepId"]) == ("in_doubt", "s2")
    assert told["executedStepIds"] == ["s1", "s2"]
    world = ok(opened(), action)
    assert ran(world) == ["r1", "r2"]
    assert keys(world) == ["r1"]


@pytest.mark.parametrize("moment", ["mirror", "commit"])
def test_a_receipt_that_is_durable_all_the_same_lets_it_go_on(moment: str) -> None:
    action = apply(a_step(1), a_step(2), faults=fails(moment))
    told = value(opened(), action)
    assert (told["status"], told["executedStepIds"]) == ("completed", ["s1", "s2"])
    world = ok(opened(), action)
    assert keys(world) == ran(world) == ["r1", "r2"]
    assert "caught-up" in moments(opened(), action)


def test_whether_it_is_durable_may_not_be_known() -> None:
    action = apply(a_step(1), a_step(2), faults=(*fails("mirror"), *fails("catch-up")))
    assert value(opened(), action)["status"] == "in_doubt"
    world = ok(opened(), action)
    assert value(world, apply(a_step(1), a_step(2)))["skippedStepIds"] == ["s1"]


def test_a_poisoning_receipt_is_in_doubt_and_the_next_call_refused() -> None:
    action = apply(a_step(1), a_step(2), faults=(*fails("append-fsync"), *fails("cut")))
    assert value(opened(), action)["status"] == "in_doubt"
    world = ok(opened(), action)
    refused(world, apply(a_step(1), a_step(2)), "LEDGER_APPEND_REQUIRED_FAILED", "operator")
    assert value(ok(world, OpenLedger("ann")), apply(a_step(1)))["skippedStepIds"] == ["s1"]


def test_a_step_that_is_not_idempotent_is_started_first() -> None:
    world = ok(opened(), apply(NEVER_AGAIN))
    assert keys(world) == ["r2:started", "r2"]
    assert [line.record.phase for line in lines(world)] == ["start", "receipt"]
    names = moments(opened(), apply(NEVER_AGAIN))
    assert names.index("committed") < names.index("run")


@pytest.mark.parametrize(
    ("faults", "recoverability"),
    [
        (fails("begin"), "retry"),
        (fails("append"), "rollback"),
        ((*fails("append-fsync"), *fails("cut-fsync")), "in_doubt"),
        ((*fails("mirror"), *fails("catch-up")), "in_doubt"),
        ((*fails("commit"), *fails("catch-up")), "in_doubt"),
    ],
)
def test_a_start_that_fails_is_refused_and_the_step_not_run(
    faults: tuple[Fault, ...], recoverability: Literal["retry", "rollback", "in_doubt"]
) -> None:
    action = apply(NEVER_AGAIN, faults=faults)
    world = refused(opened(), action, "LEDGER_APPEND_REQUIRED_FAILED", recoverability)
    assert ran(world) == []


def test_a_start_that_is_durable_all_the_same_lets_it_go_on() -> None:
    world = ok(opened(), apply(NEVER_AGAIN, faults=fails("mirror")))
    assert keys(world) == ["r2:started", "r2"]


def test_a_start_keeps_the_error_of_its_rollback() -> None:
    action = apply(NEVER_AGAIN, faults=(*fails("append"), *fails("rollback")))
    refused(opened(), action, "LEDGER_APPEND_REQUIRED_FAILED", "rollback", rollback_failed=True)


def test_started_without_receipt_is_in_doubt_and_never_run_again() -> None:
    """L2"""
    world = in_doubt()
    assert ran(world) == ["r1", "r2"]
    action = apply(a_step(1), NEVER_AGAIN, a_step(3))
    for _ in range(2):
        told = value(world, action)
        assert (told["status"], told["stoppedAtStepId"]) == ("in_doubt", "s2")
        assert (told["skippedStepIds"], told["executedStepIds"]) == (["s1"], [])
        world = ok(world, action)
    assert ran(world) == ["r1", "r2"]


def test_an_idempotent_step_that_lost_its_receipt_runs_again() -> None:
    world = ok(died(opened(), apply(a_step(1)), "ran"), OpenLedger("ann"), apply(a_step(1)))
    assert ran(world) == ["r1", "r1"]
    assert keys(world) == ["r1"]


def test_a_step_that_raised_before_its_effect_is_in_doubt_too_once_it_was_started() -> None:
    world, _ = step(opened(), apply(a_step(2, idempotent=False, raises="before")))
    assert value(world, apply(NEVER_AGAIN))["status"] == "in_doubt"
    assert ran(world) == []


@pytest.mark.parametrize(
    "steps",
    [
        (a_step(1), a_step(2, sequence=1)),
        (a_step(1), Step("s1", "other", 2, True, "b", "a")),
        (a_step(1), a_step(2, receipt="r1")),
        (a_step(1, idempotent=False), a_step(2, receipt="r1:started")),
        (a_step(2, receipt="r1:started"), a_step(3), a_step(1, idempotent=False)),
    ],
)
def test_steps_that_nothing_puts_in_order_are_a_value_error(steps: tuple[Step, ...]) -> None:
    """L4: before anything runs or is written."""
    assert step(opened(), apply(*steps)) == (opened(), Raised("value-error"))
    assert moments(opened(), apply(*steps)) == ["reply"]


def test_the_start_of_an_idempotent_step_is_never_written_and_collides_with_nothing() -> None:
    world = ok(opened(), apply(a_step(1), a_step(2, receipt="r1:started")))
    assert keys(world) == ["r1", "r1:started"]


@pytest.mark.parametrize(
    "bad",
    [Step("", "r", 1, True, "b", "a"), Step("s", "", 1, True, "b", "a"), Step("s", "r", 1, True, "", "a")],
)
def test_a_step_without_a_name_is_a_value_error(bad: Step) -> None:
    assert step(opened(), apply(bad)) == (opened(), Raised("value-error"))


def test_a_key_of_another_kind_is_never_taken_for_a_receipt() -> None:
    world = ok(opened(), undo(a_compensator(1)), apply(NEVER_AGAIN))
    for receipt in ("undo", "undo:s1", "r2:started"):
        action = apply(a_step(9, receipt=receipt))
        assert refused(world, action, "IDEMPOTENCY_CONFLICT", "operator") == world
    world = ok(opened(), apply(a_step(1, receipt="r2:started")))
    assert refused(world, apply(NEVER_AGAIN), "IDEMPOTENCY_CONFLICT", "operator") == world


def test_receipts_change_no_row() -> None:
    world = ok(opened(), put("k1"), apply(a_step(1)), put("k2"))
    assert value(world, put("k2"))["state"] == {"count": 2}
