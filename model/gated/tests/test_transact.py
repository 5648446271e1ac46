"""`run_ledger_gated_transaction`, sentence by sentence, as long as no step of it fails."""

import pytest

from model.gated import step
from model.gated.actions import CloseLedger, OpenLedger, ReadState
from model.gated.outcomes import Accepted, Declined, Raised
from model.gated.tests.worlds import (
    a_step,
    apply,
    counted,
    fails,
    keys,
    lines,
    mirror,
    moments,
    ok,
    opened,
    put,
    refused,
    state,
    undo,
    value,
)
from model.values import JSON


def test_a_committed_transaction_answers_its_record_and_the_new_state() -> None:
    told = value(opened(), put("k1", {"set": {"a": 1}}))
    assert (told["status"], told["applied"], told["state"]) == ("committed", True, {"a": 1})
    record = told["record"]
    assert isinstance(record, dict)
    assert record["idempotencyKey"] == "k1"


def test_the_ledger_is_written_first_and_mirrored_second() -> None:
    assert moments(opened(), put()) == [
        "begin", "begun", "append", "append-torn", "append-written", "append-fsync", "append-synced",
        "mirror", "mirrored", "commit", "committed", "reply",
    ]  # fmt: skip


def test_the_ledger_grows_by_one_line_for_each_committed_transaction() -> None:
    world = counted(3)
    assert keys(world) == ["k1", "k2", "k3"]
    assert mirror(world).lines == lines(world)
    assert state(world) == {"count": 3}


def test_a_mutation_that_changes_nothing_is_committed_all_the_same() -> None:
    world = ok(counted(1), put("k2", {}))
    record = lines(world)[1].record
    assert record.before_state_hash == record.after_state_hash


def test_rows_are_set_and_removed() -> None:
    world = ok(opened(), put("k1", {"set": {"a": 1, "b": 2}}), put("k2", {"remove": ["a", "absent"]}))
    assert state(world) == {"b": 2}
    assert lines(world)[1].change.remove == ("a",)


def test_a_retry_is_a_noop_with_the_stored_record_and_the_present_state() -> None:
    world = ok(opened(), put("k1"), put("k2"))
    told = value(world, put("k1"))
    assert (told["status"], told["applied"], told["state"]) == ("noop", False, {"count": 2})
    assert told["record"] == value(opened(), put("k1"))["record"]
    assert ok(world, put("k1")) == world


def test_a_retry_whose_mutate_would_raise_now_gets_its_answer() -> None:
    """L1, and mutate is not called."""
    world = counted(1)
    mutations: list[dict[str, JSON]] = [{"raises": True}, {"garbage": 1}, {"set": {"other": 1}}]
    for mutation in mutations:
        assert value(world, put("k1", mutation))["status"] == "noop"


def test_a_retry_of_phase_verify_does_not_ask_the_verifier_again() -> None:
    world = ok(opened(), put("k1", phase="verify", verifier=True))
    assert value(world, put("k1", phase="verify", verifier=False))["status"] == "noop"


def test_another_request_under_a_known_key_is_a_conflict() -> None:
    world = counted(1)
    for other in (put("k1", intent=1), put("k1", attempt="a"), put("k1", {"raises": True}, phase="commit")):
        assert refused(world, other, "IDEMPOTENCY_CONFLICT", "operator") == world


def test_a_key_is_global_over_the_ledger_and_apart_from_receipts() -> None:
    world = ok(opened(), apply(a_step(1)), put("r1"), put("undo"), undo())
    assert keys(world) == ["r1", "r1", "undo", "undo"]
    assert {line.name for line in lines(world)} == {("run", "r1"), ("", "r1"), ("", "undo"), ("run", "undo")}


def test_the_verifier_looks_at_the_stage_in_phase_verify() -> None:
    world = opened()
    assert value(world, put(phase="verify", verifier=True))["status"] == "committed"
    assert refused(world, put(phase="verify", verifier=False), "VERIFY_GATE_FAILED", "rollback") == world
    assert step(world, put(phase="verify", verifier="raises")) == (world, Raised("mutation"))


def test_what_mutate_returns_is_looked_at_before_the_verifier_is_asked() -> None:
    asked = put("k", {"garbage": 1}, phase="verify", verifier=False)
    assert step(opened(), asked) == (opened(), Raised("value-error"))


def test_a_mutate_that_raises_passes_through_and_leaves_nothing() -> None:
    world = counted(1)
    for mutation in ({"raises": True}, {"increment": "note"}):
        world = ok(world, put("note", {"set": {"note": "x", "count": 1}}))
        assert step(world, put("k2", dict(mutation))) == (world, Raised("mutation"))


@pytest.mark.parametrize("garbage", [None, [], {"": 1}, {"a": 0.5}, {"a": 2**53}, {"a": "\ud800"}])
def test_a_mutate_that_returns_no_state_is_a_value_error(garbage: JSON) -> None:
    world = counted(1)
    assert step(world, put("k2", {"garbage": garbage})) == (world, Raised("value-error"))
    assert value(world, put("k2", {"garbage": {"all": "new"}}))["state"] == {"all": "new"}


def test_counting_beyond_what_json_keeps_is_a_value_error() -> None:
    world = ok(opened(), put("k1", {"set": {"count": 2**53 - 1}}))
    assert step(world, put("k2")) == (world, Raised("value-error"))


def test_a_transaction_that_ends_early_is_rolled_back_once() -> None:
    world = counted(1)
    for action in (put("k1"), put("k1", intent=1), put("k2", {"raises": True}), put("k3", {"garbage": 1}),
                   put("k4", phase="verify", verifier=False)):  # fmt: skip
        assert moments(world, action) == ["begin", "begun", "rollback", "rolled-back", "reply"]


@pytest.mark.parametrize("phase", ["receipt", "start", "compensate", "other", ""])
def test_a_phase_that_is_not_for_transactions_is_a_value_error(phase: str) -> None:
    assert step(opened(), put(phase=phase)) == (opened(), Raised("value-error"))


def test_a_request_that_cannot_be_made_is_a_value_error_before_anything_else() -> None:
    world = ok(opened(), put("poison"))
    world, _ = step(world, put("k", faults=(*fails("append"), *fails("cut"))))
    for action in (put(""), put("\ud800"), put(intent=0.5), put(attempt=""), put(phase="verify"),
                   put(verifier=True), put(verifier=False)):  # fmt: skip
        assert step(world, action) == (world, Raised("value-error"))


def test_a_state_is_read_as_it_is_committed() -> None:
    assert step(counted(2), ReadState("ann"))[1] == Accepted({"count": 2})
    assert moments(counted(2), ReadState("ann")) == ["reply"]


def test_two_clients_work_on_one_store() -> None:
    world = ok(counted(1), OpenLedger("ben"), put("k2", client="ben"), put("k3"))
    assert state(world) == {"count": 3}
    assert value(world, put("k3", client="ben"))["status"] == "noop"


def test_who_has_nothing_open_is_never_asked() -> None:
    world = ok(opened(), CloseLedger("ann"))
    for action in (put(), ReadState("ann"), apply(), undo(), CloseLedger("ann")):
        assert isinstance(step(world, action)[1], Declined)
        assert moments(world, action) == []
