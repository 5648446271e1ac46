"""The sweep: what becomes of a reservation whose TTL has passed, and what never does."""

import pytest
from attrs import evolve

from model import step
from model.actions import (
    Abandon,
    AdvanceClock,
    Close,
    Disturbance,
    Finish,
    Happens,
    Moment,
    Open,
    Raises,
    Reenters,
    SetLease,
)
from model.outcomes import Refused
from model.surroundings import fact_of, host_named
from model.tests.worlds import (
    CLOCK,
    DOMAIN,
    PROJECT,
    TTL,
    admit,
    at,
    call,
    commit,
    committed,
    lease,
    ok,
    opened,
    passes,
    refused,
    reserve,
    rid,
    row,
    run_id,
    says,
    subject,
    the_store,
)
from model.values import JSON, World

SNAPSHOT = call("snapshot")
ABANDONED = Abandon(rid(1), PROJECT, DOMAIN, run_id(1))


def due(world: World | None = None, *, arbitration: bool = True) -> World:
    """Reservation 1 is due to the millisecond."""
    world = opened(arbitration=arbitration) if world is None else world
    return ok(world, reserve(), AdvanceClock(TTL))


def swept(world: World, *during: Disturbance) -> World:
    return ok(world, call("snapshot", during=during))


def test_a_row_is_due_at_the_very_millisecond_of_its_ttl() -> None:
    assert row(swept(ok(due(), AdvanceClock(-1)))).state == "reserved"
    assert row(swept(due())).state == "expired"


def test_an_admitted_run_is_committed_when_its_ttl_has_passed() -> None:
    """The host died after the project had admitted: time never frees the slot."""
    world = ok(opened(), reserve(), admit(), AdvanceClock(TTL))
    after = swept(ok(world, AdvanceClock(5)))
    assert row(after) == evolve(
        row(world),
        state="committed",
        project_admit_commit_seq=1,
        admit_run_version=1,
        reserved_expires_at=None,
        updated_at=CLOCK + TTL + 5,
    )


def test_the_sweep_commits_with_the_sequence_and_version_that_were_proven() -> None:
    proof: JSON = {**subject(), "projectAdmitCommitSeq": 6, "runVersion": 9}
    found = row(swept(due(), *says("read_admission", proof)))
    assert (found.state, found.project_admit_commit_seq, found.admit_run_version) == ("committed", 6, 9)


def test_an_abandoned_row_expires_and_keeps_its_epoch() -> None:
    world = ok(due(), lease(epoch=2), Open("h2", "alpha", 2, 2, arbitration=False), ABANDONED)
    assert row(world).coordinator_epoch == 1
    after = ok(world, call("snapshot", host="h2"))
    assert row(after) == evolve(row(world), state="expired", reserved_expires_at=None, updated_at=CLOCK + TTL)


def test_a_row_that_the_sweep_commits_gets_the_epoch_of_the_host() -> None:
    world = ok(opened(), reserve(), admit(), AdvanceClock(TTL), lease(epoch=2), Open("h2", "alpha", 2, 2))
    assert row(world).coordinator_epoch == 2
    assert the_store(world).audit[-1].action == "initialize"


def test_arbitration_records_an_abandonment_in_the_project() -> None:
    after = swept(due())
    fact = fact_of(after, rid(1))
    assert fact is not None
    assert (fact.kind, fact.commit_seq) == ("abandoned", 1)
    assert after.project_seq == 1


def test_what_a_project_recorded_stays_though_the_operation_is_refused() -> None:
    world = due()
    after = refused(world, reserve(2, who="eve"), "AUTHORITY_REVOKED")
    assert after.facts == ()
    after = refused(world, call("renew", id=rid(2)), "ADMISSION_BINDING_CONFLICT")
    assert [fact.kind for fact in after.facts] == ["abandoned"]
    assert row(after).state == "reserved"


def test_a_row_that_was_not_admitted_is_not_free_for_that() -> None:
    """Without arbitration, an observation proves nothing: the run could be admitted a moment later."""
    assert row(swept(due(arbitration=False))).state == "reserved"
    observed: JSON = {**subject(), "status": "not-admitted", "runVersion": 0}
    assert row(swept(due(arbitration=False), *says("read_admission", observed))).state == "reserved"


def test_without_arbitration_a_durable_abandonment_is_still_believed() -> None:
    assert row(swept(ok(due(arbitration=False), ABANDONED))).state == "expired"


def test_arbitration_is_asked_wherever_no_admission_is_shown() -> None:
    answer: JSON = {**subject(), "status": "lost"}
    for first in (None, "x", answer, {**subject(), "projectAdmitCommitSeq": 0, "runVersion": 1}):
        assert row(swept(due(), *says("read_admission", first))).state == "expired"


def test_arbitration_is_not_asked_about_an_answer_that_has_the_form_of_an_admission() -> None:
    """It names another reservation, so it proves nothing; but it is not for arbitration either."""
    wrong: JSON = {**subject(2), "projectAdmitCommitSeq": 1, "runVersion": 0}
    after = swept(due(), *says("read_admission", wrong))
    assert row(after).state == "reserved"
    assert after.facts == ()


PROOFS: list[dict[str, JSON]] = [
    {"projectAdmitCommitSeq": 1, "runVersion": 0},
    {"status": "abandoned", "abandonmentCommitSeq": 1, "runVersion": 0},
]


@pytest.mark.parametrize("proof", PROOFS, ids=["admitted", "abandoned"])
@pytest.mark.parametrize("name", list(subject()))
def test_an_answer_about_another_reservation_or_binding_leaves_the_slot_taken(
    name: str, proof: dict[str, JSON]
) -> None:
    wrong: JSON = {**subject(), **proof, name: rid(7)}
    assert row(swept(due(arbitration=False), *says("read_admission", wrong))).state == "reserved"
    assert row(swept(due(), *says("abandon_admission_if_absent", wrong))).state == "reserved"


@pytest.mark.parametrize("effect", [Raises(), Raises("AUTHORITY_REVOKED"), Reenters()], ids=repr)
@pytest.mark.parametrize("moment", ["read_admission", "abandon_admission_if_absent"])
def test_a_call_that_fails_skips_the_row_and_nothing_else(moment: Moment, effect: Raises | Reenters) -> None:
    world = ok(opened(), reserve(1), reserve(2), AdvanceClock(TTL))
    after = swept(world, *at(moment, effect))
    assert (row(after, 1).state, row(after, 2).state) == ("reserved", "expired")


def test_a_fence_that_fails_before_arbitration_skips_the_row() -> None:
    """The second lease read of the transaction is the one between the two questions."""
    for during in (says("read_lease", None, 2), at("read_lease", Raises(), 2)):
        after = swept(due(), *during)
        assert row(after).state == "reserved"
        assert after.facts == ()


def test_a_fence_that_fails_after_a_rows_calls_aborts() -> None:
    refused(due(), call("snapshot", during=says("read_lease", None, 3)), "AUTHORITY_REVOKED")
    refused(due(), call("snapshot", during=at("read_lease", Raises("POLICY_DENIED"), 3)), "POLICY_DENIED")


def test_a_clock_that_goes_back_aborts_even_where_a_failure_would_skip() -> None:
    moments: list[tuple[Moment, int]] = [
        ("read_admission", 1),
        ("read_lease", 2),
        ("abandon_admission_if_absent", 1),
        ("read_lease", 3),
    ]
    for moment, nth in moments:
        during = passes(-1, moment, nth)
        refused(due(), call("snapshot", during=during), "AUTHORITY_REVOKED")
    back_and_raise = (*passes(-1, "read_admission"), *at("read_admission", Raises()))
    refused(due(), call("snapshot", during=back_and_raise), "AUTHORITY_REVOKED")


def test_no_fence_follows_a_row_that_was_skipped() -> None:
    world = due()
    during = (
        *at("read_admission", Happens(SetLease(None))),
        *at("read_admission", Raises()),
        *at("authorize", Happens(lease()), 2),
    )
    assert row(swept(world, *during)).state == "reserved"


def test_the_time_of_a_swept_row_is_the_look_after_its_calls() -> None:
    during = (
        *passes(3, "read_admission"),
        *passes(4, "abandon_admission_if_absent"),
        *passes(5, "read_lease", 3),
    )
    after = swept(due(), *during)
    assert row(after).updated_at == CLOCK + TTL + 7
    assert the_store(after).last_wall_time == CLOCK + TTL + 12


def test_what_falls_due_during_the_sweep_is_left_for_the_next() -> None:
    world = ok(opened(), reserve(1, ttl=10), reserve(2, ttl=20), AdvanceClock(10))
    after = swept(world, *passes(10, "read_admission"))
    assert (row(after, 1).state, row(after, 2).state) == ("expired", "reserved")
    assert row(swept(after), 2).state == "expired"


def test_rows_are_swept_in_their_order_and_a_binding_is_committed_once() -> None:
    """C8: the second row of a binding stays as it is, and the call goes through."""
    world = ok(opened(), reserve(1), admit(1), reserve(2, run=1), admit(2, run=1), AdvanceClock(TTL))
    after = swept(world)
    assert (row(after, 1).state, row(after, 2).state) == ("committed", "reserved")
    assert row(after, 2) == row(world, 2)
    assert swept(after).store is after.store


def test_a_due_row_whose_run_holds_a_slot_already_never_gets_in_the_way() -> None:
    """C8: in the seed every later call failed."""
    world = ok(committed(), reserve(2, run=1), admit(2, run=1), AdvanceClock(TTL))
    assert row(swept(world), 2).state == "reserved"
    assert row(ok(world, call("markOrphanSuspect", id=rid(1))), 2).state == "reserved"
    world = ok(world, Finish(rid(1), "failed"))
    freed = ok(world, call("forceRelease", "root", id=rid(1), commandId=rid(9),
                           riskAcknowledgement=True, reason="gone"))  # fmt: skip
    assert row(swept(freed), 2).state == "committed"


def test_a_refused_operation_takes_its_sweep_with_it() -> None:
    world = due()
    after = refused(world, reserve(1), "ADMISSION_BINDING_CONFLICT")
    assert row(after).state == "reserved"


def test_a_sweep_makes_room_in_the_same_transaction() -> None:
    world = due(opened(maximum=1))
    after = ok(world, reserve(2))
    assert [each.state for each in the_store(after).rows] == ["expired", "reserved"]
    assert the_store(after).commit_seq == 3


def test_opening_sweeps_too() -> None:
    world = ok(due(), Open("h2", "alpha", 1, 2))
    assert row(world).state == "expired"
    assert (the_store(world).audit[-1].action, the_store(world).audit[-1].principal) == (
        "initialize", "coordinator-bootstrap",
    )  # fmt: skip


def test_the_owner_of_a_swept_row_can_commit_it_still() -> None:
    """C10: an owner who comes late with the right sequence gets the row."""
    world = ok(opened(), reserve(), admit(), AdvanceClock(TTL))
    assert row(ok(world, commit())).state == "committed"
    assert row(ok(world, commit(attempt=rid(5)))).attempt_id == rid(5)
    refused(world, commit(seq=2), "ADMISSION_BINDING_CONFLICT")


def test_committed_and_suspect_rows_are_never_freed_by_time() -> None:
    for world in (committed(), ok(committed(), call("markOrphanSuspect", id=rid(1)))):
        assert swept(ok(world, AdvanceClock(10**9))).store is world.store


def test_a_store_closed_in_a_sweep_is_noticed_before_publication() -> None:
    during = at("abandon_admission_if_absent", Happens(Close("h")))
    world, outcome = step(due(), call("snapshot", during=during))
    assert outcome == Refused("DURABILITY_FAILED")
    host = host_named(world, "h")
    assert host is not None
    assert not host.is_open
