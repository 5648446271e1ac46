"""The guards of reserve, commit, renew and markOrphanSuspect, from top to bottom."""

from attrs import evolve

from model import step
from model.actions import Abandon, AdvanceClock, Call, SetIdentity
from model.outcomes import Accepted
from model.tests.worlds import (
    ATTEMPT,
    CLOCK,
    DOMAIN,
    PROJECT,
    TTL,
    admit,
    call,
    commit,
    committed,
    force,
    ok,
    opened,
    over,
    passes,
    refused,
    release,
    reserve,
    rid,
    row,
    run_id,
    says,
    subject,
    the_store,
    value,
)
from model.values import Row, World

ANOTHER_OWNER = SetIdentity("eve", {"principal": "p-alice", "ownerId": "o-eve", "operator": False})
ANOTHER_PRINCIPAL = SetIdentity("eve", {"principal": "p-eve", "ownerId": "o-alice", "operator": False})
CONFLICT = "ADMISSION_BINDING_CONFLICT"


def everybody_else_is_refused(world: World, action: Call) -> None:
    """Other owner: another owner id, or another principal; an operator is no exception."""
    for change in (ANOTHER_OWNER, ANOTHER_PRINCIPAL):
        refused(ok(world, change), evolve(action, context="eve"), "AUTHORITY_REVOKED")
    refused(world, evolve(action, context="root"), "AUTHORITY_REVOKED")


def test_reserve_makes_a_row_with_a_ttl() -> None:
    world = ok(opened(), reserve())
    assert row(world) == Row(
        rid(1), "reserved", PROJECT, DOMAIN, run_id(1), 1, "o-alice", "p-alice", CLOCK,
        reserved_expires_at=CLOCK + TTL,
    )  # fmt: skip


def test_reserving_again_gives_the_row_unchanged_its_ttl_too() -> None:
    world = ok(opened(), reserve(), AdvanceClock(5))
    after = ok(world, reserve(ttl=9999))
    assert after.store is world.store
    assert value(world, reserve(ttl=9999)) == row(world)


def test_reserve_of_somebody_elses_id_is_refused_before_its_binding_is_looked_at() -> None:
    world = ok(opened(), reserve())
    everybody_else_is_refused(world, reserve())
    refused(world, reserve(run=9, who="bob"), "AUTHORITY_REVOKED")


def test_reserve_with_another_binding_is_a_conflict() -> None:
    world = ok(opened(), reserve())
    refused(world, reserve(run=2), CONFLICT)
    other = dict(reserve().arguments)
    refused(world, Call("h", "alice", "reserve", {**other, "projectId": DOMAIN}), CONFLICT)
    refused(world, Call("h", "alice", "reserve", {**other, "projectControlDomainId": PROJECT}), CONFLICT)


def test_an_id_is_never_used_again() -> None:
    for world in (
        committed(),
        ok(committed(), call("markOrphanSuspect", id=rid(1))),
        ok(committed(), *over(), release()),
        ok(opened(), reserve(), force()),
        ok(opened(), reserve(), AdvanceClock(TTL), call("snapshot")),
    ):
        assert row(world).state != "reserved"
        refused(world, reserve(), CONFLICT)


def test_reserve_is_refused_for_capacity_only_once_it_is_new() -> None:
    world = ok(opened(maximum=1), reserve())
    refused(world, reserve(2), "CAPACITY_EXCEEDED")
    refused(world, reserve(run=2), CONFLICT)
    assert value(world, reserve()) == row(world)


def test_every_holding_state_counts_and_no_other() -> None:
    world = ok(committed(), reserve(2))
    refused(world, reserve(3), "CAPACITY_EXCEEDED")
    world = ok(world, call("markOrphanSuspect", id=rid(1)))
    refused(world, reserve(3), "CAPACITY_EXCEEDED")
    world = ok(world, force(2))
    assert the_store(ok(world, reserve(3))).held == 2


def test_two_reservations_may_have_one_binding_while_neither_is_admitted() -> None:
    world = ok(opened(), reserve(1), reserve(2, run=1))
    assert the_store(world).held == 2


def test_commit_of_nothing_or_of_somebody_elses_is_refused() -> None:
    refused(opened(), commit(), CONFLICT)
    everybody_else_is_refused(ok(opened(), reserve(), admit()), commit())


def test_commit_binds_its_three_values_and_the_proven_version() -> None:
    world = ok(opened(), reserve(), admit(), AdvanceClock(7))
    after = ok(world, commit(attempt=ATTEMPT, job="job"))
    assert row(after) == evolve(
        row(world),
        state="committed",
        project_admit_commit_seq=1,
        attempt_id=ATTEMPT,
        provider_job_handle="job",
        admit_run_version=1,
        reserved_expires_at=None,
        updated_at=CLOCK + 7,
    )


def test_committing_again_with_the_same_three_values_changes_nothing() -> None:
    world = ok(opened(), reserve(), admit(), commit(attempt=ATTEMPT, job="job"), AdvanceClock(7))
    after = ok(world, commit(attempt=ATTEMPT, job="job"))
    assert after.store is world.store


def test_a_value_that_a_committed_row_lacks_is_bound_once() -> None:
    """C10: the sweep commits a row without them."""
    world = ok(opened(), reserve(), admit(), AdvanceClock(TTL), call("snapshot"), AdvanceClock(7))
    after = ok(world, commit(attempt=ATTEMPT))
    assert row(after) == evolve(row(world), attempt_id=ATTEMPT, updated_at=CLOCK + TTL + 7)
    after = ok(after, commit(attempt=ATTEMPT, job="job"))
    assert row(after).provider_job_handle == "job"


def test_binding_what_is_lacking_asks_nobody() -> None:
    world = ok(committed(), AdvanceClock(1))
    asked = says("read_admission", None)
    assert row(ok(world, commit(attempt=ATTEMPT, during=asked))).attempt_id == ATTEMPT


def test_a_committed_value_is_never_changed_nor_left_out() -> None:
    world = ok(opened(), reserve(), admit(), commit(attempt=ATTEMPT))
    refused(world, commit(seq=2, attempt=ATTEMPT), CONFLICT)
    refused(world, commit(attempt=rid(9)), CONFLICT)
    refused(world, commit(), CONFLICT)
    refused(world, commit(job="job"), CONFLICT)


def test_nothing_but_a_reserved_row_can_commit() -> None:
    refused(ok(committed(), call("markOrphanSuspect", id=rid(1))), commit(), CONFLICT)
    refused(ok(opened(), reserve(), force()), commit(), CONFLICT)


def test_a_binding_is_admitted_once_at_a_time() -> None:
    world = ok(committed(), reserve(2, run=1), admit(2, run=1))
    asked = says("read_admission", None)
    refused(world, commit(2, 2), CONFLICT)
    refused(world, commit(2, 2, during=asked), CONFLICT)
    refused(ok(world, call("markOrphanSuspect", id=rid(1))), commit(2, 2), CONFLICT)
    assert row(ok(world, *over(), release(), commit(2, 2)), 2).state == "committed"


def test_a_proof_that_crosses_the_ttl_does_not_commit() -> None:
    world = ok(opened(), reserve(), admit())
    refused(world, commit(during=passes(TTL, "read_admission")), CONFLICT)
    assert row(ok(world, commit(during=passes(TTL - 1, "read_admission")))).state == "committed"


def test_the_clock_is_looked_at_after_the_proof_was_given() -> None:
    world = ok(opened(), reserve(), admit())
    refused(world, commit(during=passes(-1, "read_admission")), "AUTHORITY_REVOKED")


def test_an_admission_must_be_proven_exactly() -> None:
    world = ok(opened(), reserve())
    refused(world, commit(), CONFLICT)
    proof = {**subject(), "projectAdmitCommitSeq": 1, "runVersion": 4}
    assert row(ok(world, commit(during=says("read_admission", proof)))).admit_run_version == 4
    refused(ok(world, admit()), commit(seq=2), CONFLICT)
    for wrong in (
        subject(2),
        {"projectId": DOMAIN},
        {"projectControlDomainId": PROJECT},
        {"runId": run_id(2)},
        {"projectAdmitCommitSeq": 2},
        {"runVersion": True},
        {"status": "admitted"},
    ):
        refused(world, commit(during=says("read_admission", {**proof, **wrong})), CONFLICT)
    refused(ok(world, Abandon(rid(1), PROJECT, DOMAIN, run_id(1))), commit(), CONFLICT)


def test_renew_of_nothing_or_of_somebody_elses_is_refused() -> None:
    refused(opened(), call("renew", id=rid(1), ttlMs=1), CONFLICT)
    everybody_else_is_refused(ok(opened(), reserve()), call("renew", id=rid(1), ttlMs=1))


def test_a_terminal_row_cannot_be_renewed() -> None:
    for world in (ok(opened(), reserve(), force()), ok(committed(), *over(), release())):
        refused(world, call("renew", id=rid(1), ttlMs=1), CONFLICT)
        refused(world, call("renew", id=rid(1)), CONFLICT)


def test_a_reserved_row_gets_a_new_ttl_from_now() -> None:
    world = ok(opened(), reserve(), AdvanceClock(TTL - 1))
    refused(world, call("renew", id=rid(1)), "COMMAND_FAILED")
    now = CLOCK + TTL - 1
    after = ok(world, call("renew", id=rid(1), ttlMs=5))
    expected = evolve(row(world), reserved_expires_at=now + 5, renewed_at=now, updated_at=now)
    assert row(after) == expected


def test_a_reserved_row_whose_ttl_has_passed_is_not_renewed() -> None:
    """C16: nothing was proven, so the sweep has left it; it may have been abandoned all the same."""
    world = ok(opened(arbitration=False), reserve(), AdvanceClock(TTL))
    refused(world, call("renew", id=rid(1), ttlMs=5), CONFLICT)
    refused(world, call("renew", id=rid(1)), "COMMAND_FAILED")


def test_renew_looks_at_the_clock_itself() -> None:
    world = ok(opened(), reserve())
    late = passes(TTL, "authorize")
    refused(world, Call("h", "alice", "renew", {"id": rid(1), "ttlMs": 5}, late), CONFLICT)


def test_an_admitted_row_is_renewed_without_a_ttl() -> None:
    for world in (committed(), ok(committed(), call("markOrphanSuspect", id=rid(1)))):
        refused(world, call("renew", id=rid(1), ttlMs=1), CONFLICT)
        after = ok(world, AdvanceClock(3), call("renew", id=rid(1)))
        assert row(after) == evolve(row(world), renewed_at=CLOCK + 3, updated_at=CLOCK + 3)


def test_renewing_twice_in_one_millisecond_is_no_change() -> None:
    world = ok(committed(), call("renew", id=rid(1)))
    assert ok(world, call("renew", id=rid(1))).store is world.store


def test_orphan_suspect_is_for_committed_rows() -> None:
    refused(opened(), call("markOrphanSuspect", id=rid(1)), CONFLICT)
    refused(ok(opened(), reserve()), call("markOrphanSuspect", id=rid(1)), CONFLICT)
    refused(ok(opened(), reserve(), force()), call("markOrphanSuspect", id=rid(1)), CONFLICT)
    everybody_else_is_refused(committed(), call("markOrphanSuspect", id=rid(1)))
    world = ok(committed(), AdvanceClock(3), call("markOrphanSuspect", id=rid(1)))
    assert (row(world).state, row(world).updated_at) == ("orphan-suspect", CLOCK + 3)
    again = ok(world, AdvanceClock(3), call("markOrphanSuspect", id=rid(1)))
    assert again.store is world.store


def test_an_orphan_suspect_still_holds_its_slot() -> None:
    world = ok(committed(), call("markOrphanSuspect", id=rid(1)))
    assert the_store(world).held == 1
    _, outcome = step(world, reserve(2))
    assert isinstance(outcome, Accepted)
