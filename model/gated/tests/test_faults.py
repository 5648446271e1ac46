"""Each step that fails: what is durable, what is rolled back, which code, which recoverability."""

import pytest
from attrs import evolve

from model.gated import step
from model.gated.actions import FAULTS, CloseLedger, OpenLedger, ReadState, Transact
from model.gated.outcomes import Raised, Refused
from model.gated.tests.worlds import (
    a_step,
    apply,
    counted,
    died,
    fails,
    keys,
    ledger,
    mirror,
    moments,
    ok,
    opened,
    put,
    refused,
    state,
    torn,
    undo,
    value,
)
from model.gated.values import World

BOTH = (*fails("append"), *fails("cut"))


def poisoned() -> World:
    world, _ = step(counted(1), put("k2", faults=BOTH))
    return world


def behind() -> World:
    """The third line stands in the ledger; the mirror has not seen it."""
    return refused(counted(2), put("k3", faults=fails("mirror")), "SQLITE_MIRROR_FAILED", "in_doubt")


@pytest.mark.parametrize("kind", FAULTS["begin"])
def test_a_begin_not_had_in_time_does_nothing_and_is_to_be_retried(kind: str) -> None:
    world = counted(1)
    action = put("k2", faults=fails("begin", kind))
    assert refused(world, action, "SQLITE_MIRROR_FAILED", "retry") == world
    assert moments(world, action) == ["begin", "reply"]


@pytest.mark.parametrize(
    ("moment", "kind"), [("append", "fails"), ("append", "full"), ("append-fsync", "fails")]
)
def test_a_failing_append_is_cut_off_again_and_rolled_back(moment: str, kind: str) -> None:
    world = counted(1)
    action = put("k2", faults=fails(moment, kind))
    assert refused(world, action, "LEDGER_APPEND_REQUIRED_FAILED", "rollback") == world
    assert moments(world, action)[-7:] == [
        "cut", "cut-done", "cut-fsync", "cut-synced", "rollback", "rolled-back", "reply",
    ]  # fmt: skip
    assert state(ok(world, put("k2"))) == {"count": 2}


@pytest.mark.parametrize("moment", ["cut", "cut-fsync"])
def test_a_cut_that_fails_too_poisons_the_client_until_it_opens_anew(moment: str) -> None:
    action = put("k2", faults=(*fails("append", "full"), *fails(moment)))
    world = refused(counted(1), action, "LEDGER_APPEND_REQUIRED_FAILED", "in_doubt")
    assert bool(ledger(world).tail) == (moment == "cut")
    for call in (put("k3"), put("k1"), ReadState("ann"), apply(), apply(a_step(1)), undo()):
        assert refused(world, call, "LEDGER_APPEND_REQUIRED_FAILED", "operator") == world
    for again in ((OpenLedger("ann"),), (CloseLedger("ann"), OpenLedger("ann"))):
        assert state(ok(world, *again, put("k2"))) == {"count": 2}


def test_a_whole_record_that_could_not_be_taken_back_stays() -> None:
    action = put("k2", faults=(*fails("append-fsync"), *fails("cut")))
    world = refused(counted(1), action, "LEDGER_APPEND_REQUIRED_FAILED", "in_doubt")
    assert keys(world) == ["k1", "k2"]
    assert state(world) == {"count": 1}
    world = ok(world, OpenLedger("ann"))
    assert value(world, put("k2"))["status"] == "noop"
    assert state(world) == {"count": 2}


def test_poison_is_of_one_client() -> None:
    world = ok(poisoned(), OpenLedger("ben"), put("k2", client="ben"))
    assert state(world) == {"count": 2}
    refused(world, put("k3"), "LEDGER_APPEND_REQUIRED_FAILED", "operator")


@pytest.mark.parametrize("kind", FAULTS["mirror"])
def test_a_failing_mirror_is_in_doubt_and_leaves_the_event_durable(kind: str) -> None:
    world = refused(counted(1), put("k2", faults=fails("mirror", kind)), "SQLITE_MIRROR_FAILED", "in_doubt")
    assert keys(world) == ["k1", "k2"]
    assert state(world) == {"count": 1}


@pytest.mark.parametrize("kind", FAULTS["commit"])
def test_a_failing_commit_is_in_doubt_and_leaves_the_event_durable(kind: str) -> None:
    action = put("k2", faults=fails("commit", kind))
    world = refused(counted(1), action, "SQLITE_COMMIT_AFTER_LEDGER_FAILED", "in_doubt")
    assert keys(world) == ["k1", "k2"]
    assert state(world) == {"count": 1}
    assert moments(counted(1), action)[-4:] == ["commit", "rollback", "rolled-back", "reply"]


def test_a_retry_after_a_failed_mirror_appends_nothing_twice() -> None:
    """L6: the mirror is caught up first."""
    world = behind()
    told = value(world, put("k3"))
    assert (told["status"], told["state"]) == ("noop", {"count": 3})
    assert keys(ok(world, put("k3"))) == ["k1", "k2", "k3"]


def test_the_next_operation_does_not_work_on_a_stale_state() -> None:
    """L6, too."""
    world = ok(behind(), put("k4"))
    assert state(world) == {"count": 4}
    assert mirror(world).lines == ledger(world).entries


def test_catching_up_is_a_transaction_of_its_own() -> None:
    """It stays although the call itself is rolled back."""
    world, outcome = step(behind(), put("k4", {"raises": True}))
    assert outcome == Raised("mutation")
    assert mirror(world).sequence == 3
    assert moments(behind(), put("k4"))[:4] == ["catch-up", "caught-up", "begin", "begun"]


@pytest.mark.parametrize("kind", FAULTS["catch-up"])
def test_a_catch_up_that_fails_is_in_doubt_and_appends_nothing(kind: str) -> None:
    for call in (put("k4"), put("k3"), put("k1", intent=1), ReadState("ann"), apply(a_step(1))):
        failing = evolve(call, faults=fails("catch-up", kind))
        assert refused(behind(), failing, "SQLITE_MIRROR_FAILED", "in_doubt") == behind()


def test_reading_the_state_catches_up_first() -> None:
    world = ok(behind(), ReadState("ann"))
    assert state(world) == {"count": 3}


def test_a_torn_tail_that_another_client_left_is_cut_before_anything_else() -> None:
    world = died(ok(counted(1), OpenLedger("ben")), put("k2", client="ben"), "append-torn")
    assert ledger(world).tail
    assert moments(world, put("k3"))[:6] == ["cut", "cut-done", "cut-fsync", "cut-synced", "begin", "begun"]
    world = ok(world, put("k3"))
    assert keys(world) == ["k1", "k3"]


@pytest.mark.parametrize("moment", ["cut", "cut-fsync"])
def test_a_cut_of_what_another_left_that_fails_poisons_as_well(moment: str) -> None:
    action = put("k3", faults=fails(moment))
    world = refused(torn(counted(1)), action, "LEDGER_APPEND_REQUIRED_FAILED", "in_doubt")
    refused(world, put("k3"), "LEDGER_APPEND_REQUIRED_FAILED", "operator")
    assert keys(ok(world, OpenLedger("ann"), put("k3"))) == ["k1", "k3"]


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        (put("k1", intent=1), Refused("IDEMPOTENCY_CONFLICT", "operator", True)),
        (put("k2", {"raises": True}), Raised("mutation", True)),
        (put("k2", {"garbage": 1}), Raised("value-error", True)),
        (put("k2", phase="verify", verifier=False), Refused("VERIFY_GATE_FAILED", "rollback", True)),
        (put("k2", faults=fails("append")), Refused("LEDGER_APPEND_REQUIRED_FAILED", "rollback", True)),
        (put("k2", faults=BOTH), Refused("LEDGER_APPEND_REQUIRED_FAILED", "in_doubt", True)),
        (put("k2", faults=fails("mirror")), Refused("SQLITE_MIRROR_FAILED", "in_doubt", True)),
        (put("k2", faults=fails("commit")), Refused("SQLITE_COMMIT_AFTER_LEDGER_FAILED", "in_doubt", True)),
    ],
)
def test_a_rollback_that_fails_never_hides_the_first_error(
    action: Transact, expected: Refused | Raised
) -> None:
    """L5"""
    failing = evolve(action, faults=(*action.faults, *fails("rollback")))
    _, outcome = step(counted(1), failing)
    assert outcome == expected


def test_a_rollback_that_fails_where_nothing_else_did_is_to_be_retried() -> None:
    world = counted(1)
    assert refused(world, put("k1", faults=fails("rollback")), "SQLITE_MIRROR_FAILED", "retry") == world


def test_a_rollback_that_fails_leaves_the_store_usable() -> None:
    world, _ = step(counted(1), put("k2", {"raises": True}, faults=fails("rollback")))
    assert state(ok(world, put("k2"))) == {"count": 2}


def test_a_fault_that_is_never_reached_is_none() -> None:
    for moment in ("rollback", "cut", "cut-fsync", "catch-up"):
        assert state(ok(opened(), put("k1", faults=fails(moment)))) == {"count": 1}
    assert state(ok(opened(), put("k1", faults=fails("append", nth=2)))) == {"count": 1}
