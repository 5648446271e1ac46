"""`run_gated_compensation`, sentence by sentence."""

from typing import Literal

import pytest

from model.gated import step
from model.gated.actions import CompensationStep, Fault, OpenLedger
from model.gated.outcomes import Raised
from model.gated.tests.worlds import (
    B,
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
    ran,
    refused,
    undo,
    value,
)

TWO = (a_compensator(1), a_compensator(2))


def test_compensators_run_in_reverse_order_each_followed_by_its_receipt() -> None:
    action = undo(a_compensator(1, sequence=20), a_compensator(2, sequence=30), a_compensator(3, sequence=10))
    world = ok(opened(), action)
    assert ran(world) == ["undo:s2", "undo:s1", "undo:s3"]
    assert keys(world) == ["undo", *ran(world)]
    told = value(opened(), action)
    assert (told["status"], told["executedStepIds"]) == ("rolled_back", ["s2", "s1", "s3"])
    receipts = told["receipts"]
    assert isinstance(receipts, list)
    assert len(receipts) == 3


def test_the_start_stands_in_the_ledger_before_anything_runs() -> None:
    names = moments(opened(), undo(a_compensator(1)))
    assert names.index("committed") < names.index("run") < names.index("append", names.index("run"))
    start, receipt = lines(ok(opened(), undo(a_compensator(1))))
    assert (start.record.phase, receipt.record.phase) == ("compensate", "compensate")
    assert start.record.event_type == "scheduler.node.compensating"
    assert receipt.record.event_type == "scheduler.node.compensation.receipt"
    assert start.record.before_state_hash == receipt.record.before_state_hash == B


def test_only_idempotent_ones_run_applied_or_not() -> None:
    world = ok(
        opened(),
        undo(
            a_compensator(1, applied=False),
            a_compensator(2, idempotent=False, applied=False),
            a_compensator(3),
        ),
    )
    assert ran(world) == ["undo:s3", "undo:s1"]


def test_an_applied_step_that_is_not_idempotent_refuses_all() -> None:
    action = undo(a_compensator(1), a_compensator(2, idempotent=False))
    assert refused(opened(), action, "COMPENSATION_FAILED", "in_doubt") == opened()
    assert moments(opened(), action) == ["reply"]


@pytest.mark.parametrize(
    ("faults", "recoverability"),
    [
        (fails("begin", "locked"), "retry"),
        (fails("append", "full"), "rollback"),
        ((*fails("append"), *fails("cut")), "in_doubt"),
        ((*fails("commit"), *fails("catch-up")), "in_doubt"),
    ],
)
def test_without_its_start_no_compensator_runs(
    faults: tuple[Fault, ...], recoverability: Literal["retry", "rollback", "in_doubt"]
) -> None:
    world = refused(opened(), undo(*TWO, faults=faults), "LEDGER_APPEND_REQUIRED_FAILED", recoverability)
    assert ran(world) == []


def test_a_start_that_is_durable_all_the_same_lets_it_go_on() -> None:
    assert ran(ok(opened(), undo(*TWO, faults=fails("mirror")))) == ["undo:s2", "undo:s1"]


def test_a_known_start_with_other_content_is_a_conflict() -> None:
    world = ok(opened(), undo(*TWO))
    assert refused(world, undo(*TWO, after="c" * 64), "IDEMPOTENCY_CONFLICT", "operator") == world
    action = undo(*TWO, after="c" * 64, faults=fails("rollback"))
    refused(world, action, "IDEMPOTENCY_CONFLICT", "operator", rollback_failed=True)


def test_compensating_again_appends_and_runs_nothing_a_second_time() -> None:
    """L3"""
    world = ok(opened(), undo(*TWO))
    told = value(world, undo(*TWO))
    assert (told["status"], told["executedStepIds"]) == ("rolled_back", [])
    assert told["receipts"] == value(opened(), undo(*TWO))["receipts"]
    after = ok(world, undo(*TWO))
    assert (keys(after), ran(after)) == (keys(world), ran(world))


@pytest.mark.parametrize("at", ["committed:1", "run:1", "ran:1", "committed:2", "run:2", "ran:2", "reply"])
def test_compensating_again_after_a_crash_ends_with_one_start_and_one_receipt_each(at: str) -> None:
    """L3"""
    world = ok(died(opened(), undo(*TWO), at), OpenLedger("ann"), undo(*TWO))
    assert keys(world) == ["undo", "undo:s2", "undo:s1"]
    assert ran(world)[0] == "undo:s2"
    assert ran(world)[-1] == "undo:s1"


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_compensator_that_raises_is_in_doubt_and_earlier_receipts_stay(
    when: Literal["before", "after"],
) -> None:
    action = undo(a_compensator(1, raises=when), a_compensator(2))
    world = refused(opened(), action, "COMPENSATION_FAILED", "in_doubt")
    assert keys(world) == ["undo", "undo:s2"]
    assert ok(world, undo(*TWO)).effects[-1].key == "undo:s1"


@pytest.mark.parametrize(
    "faults",
    [
        fails("begin", nth=2),
        fails("append", nth=2),
        (*fails("append-fsync", nth=2), *fails("cut")),
        (*fails("mirror", nth=2), *fails("catch-up")),
    ],
)
def test_a_receipt_that_cannot_be_appended_is_in_doubt(faults: tuple[Fault, ...]) -> None:
    world = refused(opened(), undo(*TWO, faults=faults), "LEDGER_APPEND_REQUIRED_FAILED", "in_doubt")
    assert ran(world) == ["undo:s2"]


def test_a_receipt_that_is_durable_all_the_same_lets_it_go_on() -> None:
    world = ok(opened(), undo(*TWO, faults=fails("commit", nth=2)))
    assert keys(world) == ["undo", "undo:s2", "undo:s1"]


@pytest.mark.parametrize(
    "steps",
    [
        (a_compensator(1), a_compensator(2, sequence=1)),
        (a_compensator(1), CompensationStep("s1", 2, False, False)),
        (a_compensator(1), CompensationStep("s1", 2, False, True)),
        (a_compensator(1, idempotent=False, applied=False), a_compensator(2, sequence=1)),
    ],
)
def test_compensators_that_nothing_puts_in_order_are_a_value_error(
    steps: tuple[CompensationStep, ...],
) -> None:
    """L4, and before the refusal for what cannot be undone."""
    assert step(opened(), undo(*steps)) == (opened(), Raised("value-error"))


def test_without_a_name_it_is_a_value_error() -> None:
    for action in (undo(key=""), undo(CompensationStep("", 1, True, True)), undo(after="")):
        assert step(opened(), action) == (opened(), Raised("value-error"))


def test_a_start_is_never_taken_for_a_receipt() -> None:
    world = ok(opened(), undo(key="undo:s1"))
    after = refused(world, undo(a_compensator(1)), "IDEMPOTENCY_CONFLICT", "operator")
    assert keys(after) == ["undo:s1", "undo"]
    assert ran(after) == []
    world = ok(opened(), apply(a_step(1)))
    assert refused(world, undo(*TWO, key="r1"), "IDEMPOTENCY_CONFLICT", "operator") == world


def test_without_compensators_only_the_start_is_written() -> None:
    assert value(opened(), undo()) == {"status": "rolled_back", "executedStepIds": [], "receipts": []}
    assert keys(ok(opened(), undo())) == ["undo"]
