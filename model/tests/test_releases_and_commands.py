"""The guards of both releases, of the operator's commands, of reads and of dispatch."""

import pytest
from attrs import evolve

from model import step
from model.actions import AdvanceClock, Answers, Call, Disturbance, Finish, Park, Quiesce, Raises, SetIdentity
from model.outcomes import Refused
from model.tests.test_guards import CONFLICT, everybody_else_is_refused
from model.tests.worlds import (
    CLOCK,
    TTL,
    at,
    call,
    cid,
    commit,
    committed,
    force,
    maximum,
    ok,
    opened,
    over,
    refused,
    release,
    reserve,
    rid,
    row,
    says,
    subject,
    the_store,
    value,
)
from model.values import JSON, Command, ForceRelease, SetMaximum, Snapshot

BOB_IS_OPERATOR = SetIdentity("bob", {"principal": "p-bob", "ownerId": "o-bob", "operator": True})
PROOF: dict[str, JSON] = {
    **subject(),
    "projectAdmitCommitSeq": 1,
    "runVersion": 2,
    "proofId": "proof",
    "status": "completed",
    "stage": "terminal",
    "requiresReadmission": False,
    "providerNoLiveProcessTree": True,
    "noAmbiguousJobs": True,
    "reconcileTimeoutOnly": False,
}


def test_a_run_that_is_over_is_released() -> None:
    world = ok(committed(), *over(), AdvanceClock(5))
    after = ok(world, release())
    assert row(after) == evolve(
        row(world),
        state="released",
        release_kind="normal",
        release_proof_id="proof-1-2",
        updated_at=CLOCK + 5,
    )


def test_a_parked_run_is_released_and_a_suspect_one_too() -> None:
    for world in (committed(), ok(committed(), call("markOrphanSuspect", id=rid(1)))):
        after = ok(world, Park(rid(1)), Quiesce(rid(1)), release())
        assert row(after).state == "released"


def test_a_run_that_is_not_proven_to_be_over_keeps_its_slot() -> None:
    refused(committed(), release(), "RECONCILE_REQUIRED")
    refused(ok(committed(), Finish(rid(1), "failed")), release(), "RECONCILE_REQUIRED")
    refused(ok(committed(), Park(rid(1))), release(), "RECONCILE_REQUIRED")


@pytest.mark.parametrize(
    "wrong",
    [
        {"reservationId": rid(2)},
        {"projectId": rid(2)},
        {"projectControlDomainId": rid(2)},
        {"runId": rid(2)},
        {"projectAdmitCommitSeq": 2},
        {"runVersion": 0},
        {"proofId": " "},
        {"providerNoLiveProcessTree": False},
        {"noAmbiguousJobs": 1},
        {"reconcileTimeoutOnly": True},
        {"status": "running"},
        {"status": "paused"},
        {"status": "paused", "stage": "parked", "requiresReadmission": False},
        {"stage": "\ud800"},
    ],
    ids=repr,
)
def test_a_release_proof_is_current_complete_and_about_this_very_run(wrong: dict[str, JSON]) -> None:
    world = committed()
    assert row(ok(world, release(during=says("read_release", PROOF)))).state == "released"
    refused(world, release(during=says("read_release", {**PROOF, **wrong})), "RECONCILE_REQUIRED")


def test_a_run_version_may_be_newer_than_the_admitted_one_but_not_older() -> None:
    world = committed()
    assert row(world).admit_run_version == 1
    for version, fits in ((0, False), (1, True), (7, True)):
        action = release(during=says("read_release", {**PROOF, "runVersion": version}))
        if fits:
            assert row(ok(world, action)).state == "released"
        else:
            refused(world, action, "RECONCILE_REQUIRED")


def test_releasing_again_changes_nothing() -> None:
    world = ok(committed(), *over(), release(), AdvanceClock(5))
    assert ok(world, release()).store is world.store


def test_what_was_never_admitted_or_was_forced_is_not_released_normally() -> None:
    refused(opened(), release(), CONFLICT)
    refused(ok(opened(), reserve()), release(), CONFLICT)
    refused(ok(committed(), *over(), force()), release(), CONFLICT)
    everybody_else_is_refused(ok(committed(), *over()), release())


def test_an_operator_can_take_the_risk_for_any_row_that_holds_a_slot() -> None:
    for world in (
        ok(opened(), reserve()),
        committed(),
        ok(committed(), call("markOrphanSuspect", id=rid(1))),
    ):
        after = ok(world, AdvanceClock(5), force())
        assert row(after) == evolve(
            row(world),
            state="released",
            release_kind="force",
            concurrency_guarantee="operator-overridden",
            reserved_expires_at=None,
            updated_at=CLOCK + 5,
        )


def test_nobody_but_an_operator_may_command() -> None:
    world = committed()
    refused(world, force(who="alice"), "POLICY_DENIED")
    refused(world, maximum(5, who="alice"), "POLICY_DENIED")
    refused(ok(world, force()), force(who="alice"), "POLICY_DENIED")
    refused(world, force(who="eve"), "AUTHORITY_REVOKED")


def test_what_is_terminal_cannot_be_forced() -> None:
    """C9: a proven, normal release stays one."""
    refused(opened(), force(), CONFLICT)
    refused(ok(committed(), *over(), release()), force(), CONFLICT)
    refused(ok(opened(), reserve(), force()), force(command=2), CONFLICT)
    refused(ok(opened(), reserve(), AdvanceClock(TTL), call("snapshot")), force(), CONFLICT)


def test_a_command_id_takes_effect_once_and_answers_the_same_again() -> None:
    world = ok(opened(), reserve(), force())
    stored = the_store(world).commands[0]
    assert stored == Command(cid(1), ForceRelease(rid(1), "lost"), "p-root", 3, row(world))
    later = ok(world, AdvanceClock(9))
    assert value(later, force()) == row(world)
    assert ok(later, force()).store is world.store


def test_a_repeated_command_answers_what_it_answered_then() -> None:
    world = ok(opened(), maximum(5), maximum(7, command=2))
    assert value(world, maximum(5)) == 5
    assert the_store(ok(world, maximum(5))).max_active_runs == 7


def test_a_command_id_belongs_to_its_principal_and_its_request() -> None:
    world = ok(opened(), BOB_IS_OPERATOR, reserve(1), reserve(2), force())
    refused(world, force(who="bob"), "CROSS_PRINCIPAL_COMMAND")
    refused(world, force(2, who="bob"), "CROSS_PRINCIPAL_COMMAND")
    refused(world, force(2), "IDEMPOTENCY_CONFLICT")
    refused(world, force(reason="other"), "IDEMPOTENCY_CONFLICT")
    refused(world, maximum(5), "IDEMPOTENCY_CONFLICT")
    refused(ok(opened(), maximum(5)), maximum(6), "IDEMPOTENCY_CONFLICT")


def test_a_command_that_was_refused_has_not_used_its_id() -> None:
    world = ok(opened(), reserve(1), reserve(2))
    refused(world, maximum(1), "CAPACITY_EXCEEDED")
    assert the_store(ok(world, maximum(2))).commands[0].request == SetMaximum(2)


def test_the_maximum_is_never_set_below_what_is_held() -> None:
    world = ok(committed(), reserve(2))
    refused(world, maximum(1), "CAPACITY_EXCEEDED")
    world = ok(world, maximum(2), force(2, command=2), maximum(1, command=3))
    assert the_store(world).max_active_runs == 1


def test_reading_a_reservation_gives_the_row_or_nothing() -> None:
    world = committed()
    assert value(world, call("readReservation", id=rid(1))) == row(world)
    assert value(world, call("readReservation", id=rid(2))) is None
    everybody_else_is_refused(world, call("readReservation", id=rid(1)))


def test_reading_a_command_is_for_its_own_principal() -> None:
    world = ok(opened(), maximum(5))
    assert value(world, call("readCommand", "root", id=cid(1))) == the_store(world).commands[0]
    assert value(world, call("readCommand", "alice", id=cid(2))) is None
    refused(world, call("readCommand", "alice", id=cid(1)), "CROSS_PRINCIPAL_COMMAND")


def test_a_snapshot_shows_everything_as_it_is_after_publication() -> None:
    world = ok(opened(), reserve(), AdvanceClock(TTL))
    found = value(world, call("snapshot", "bob"))
    after = the_store(ok(world, call("snapshot", "bob")))
    assert found == Snapshot(3, 1, 2, after.rows, ())
    assert after.rows[0].state == "expired"


@pytest.mark.parametrize(
    "read", [call("snapshot"), call("readReservation", id=rid(1)), call("readCommand", id=cid(1))]
)
def test_a_read_with_nothing_to_sweep_writes_nothing(read: Call) -> None:
    world = ok(committed(), AdvanceClock(10**7))
    assert ok(world, read).store is world.store


def test_a_read_sweeps_and_is_recorded_under_its_own_name() -> None:
    world = ok(opened(), reserve(), AdvanceClock(TTL))
    after = the_store(ok(world, call("readReservation", "alice", id=rid(2))))
    assert (after.audit[-1].action, after.audit[-1].principal) == ("readReservation", "p-alice")


def test_dispatch_answers_what_its_activation_returns() -> None:
    world = committed()
    after = ok(world, call("dispatch", id=rid(1)))
    assert value(world, call("dispatch", id=rid(1))) == f"launched:{rid(1)}"
    assert after.launched == (rid(1),)
    assert after.store is world.store
    told = call("dispatch", during=says("activation", {"pid": 7}), id=rid(1))
    assert value(world, told) == {"pid": 7}


def test_dispatch_is_for_a_committed_row_of_ones_own() -> None:
    dispatch = call("dispatch", id=rid(1))
    refused(opened(), dispatch, CONFLICT)
    refused(ok(opened(), reserve()), dispatch, CONFLICT)
    refused(ok(committed(), call("markOrphanSuspect", id=rid(1))), dispatch, CONFLICT)
    refused(ok(committed(), force()), dispatch, CONFLICT)
    everybody_else_is_refused(committed(), dispatch)


def test_a_preparation_that_gives_nothing_to_call_is_refused() -> None:
    after = refused(committed(), call("dispatch", during=says("prepare", "x"), id=rid(1)), "COMMAND_FAILED")
    assert after.launched == ()


def test_a_preparation_that_fails_launches_nothing() -> None:
    during = at("prepare", Raises("POLICY_DENIED"))
    assert refused(committed(), call("dispatch", during=during, id=rid(1)), "POLICY_DENIED").launched == ()
    during = at("prepare", Raises())
    refused(committed(), call("dispatch", during=during, id=rid(1)), "DURABILITY_FAILED", "unknown")


def test_a_dispatch_that_fails_at_its_activation_keeps_what_was_published() -> None:
    world = ok(committed(), reserve(2), AdvanceClock(TTL))
    for effect, outcome in (
        (Raises(), Refused("DURABILITY_FAILED", "unknown")),
        (Raises("COMMAND_FAILED"), Refused("COMMAND_FAILED")),
    ):
        after, found = step(world, call("dispatch", during=at("activation", effect), id=rid(1)))
        assert found == outcome
        assert after.launched == ()
        assert row(after, 2).state == "expired"
        assert the_store(after).audit[-1].action == "dispatch"


def test_a_commit_is_not_what_an_answer_to_another_moment_says() -> None:
    during = (Disturbance("read_release", 1, Answers(PROOF)),)
    world = ok(opened(), reserve())
    refused(world, commit(during=during), CONFLICT)
