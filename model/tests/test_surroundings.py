"""Events: what they do to the surroundings, and what the surroundings would not let happen."""

import pytest

from model import initial_world, step
from model.actions import (
    Abandon,
    Action,
    AdvanceClock,
    Close,
    Finish,
    Forget,
    LeaveTemp,
    Park,
    PutBack,
    Quiesce,
    Resume,
    SetIdentity,
    SetLease,
)
from model.invariants import check_world
from model.outcomes import Declined
from model.surroundings import LATEST_CLOCK, fact_of
from model.tests.worlds import (
    DOMAIN,
    PROJECT,
    TTL,
    admit,
    call,
    committed,
    force,
    lease,
    ok,
    opened,
    over,
    refused,
    release,
    reserve,
    rid,
    row,
    run_id,
)
from model.values import Fact, Identity, Lease, Raw, World

BINDING = (PROJECT, DOMAIN, run_id(1))


def declined(world: World, action: Action) -> str:
    after, outcome = step(world, action)
    assert isinstance(outcome, Declined), outcome
    assert after is world
    return outcome.reason


def the_fact(world: World, number: int = 1) -> Fact:
    fact = fact_of(world, rid(number))
    assert fact is not None
    return fact


def test_the_clock_moves_both_ways_and_keeps_to_its_range() -> None:
    world = initial_world(clock=10)
    assert ok(world, AdvanceClock(-10)).clock == 0
    declined(world, AdvanceClock(-11))
    declined(world, AdvanceClock(LATEST_CLOCK))


def test_a_lease_is_kept_as_it_was_said() -> None:
    world = ok(initial_world(), lease(expires_at=5))
    assert world.lease == Lease("alpha", 1, "unix:x", 5)
    assert ok(world, SetLease({"holderId": "x"})).lease == Raw('{"holderId": "x"}')
    assert ok(world, SetLease(None)).lease is None


def test_an_identity_is_kept_as_it_was_said() -> None:
    known = SetIdentity("eve", {"principal": "p", "ownerId": "o", "operator": True, "email": "e"})
    world = ok(initial_world(), known)
    assert dict(world.people)["eve"] == Identity("p", "o", True)
    assert dict(ok(world, SetIdentity("eve", [1])).people)["eve"] == Raw("[1]")
    assert "eve" not in dict(ok(world, SetIdentity("eve", None)).people)


def test_a_run_is_admitted_once_under_a_granted_reservation() -> None:
    declined(opened(), admit())
    world = ok(opened(), reserve())
    declined(world, admit(run=2))
    world = ok(world, admit())
    assert the_fact(world) == Fact(rid(1), BINDING, "admitted", 1, 1)
    assert world.project_seq == 1
    declined(world, admit())


def test_a_late_admission_is_possible_until_it_was_abandoned() -> None:
    world = ok(opened(arbitration=False), reserve(), AdvanceClock(TTL), call("snapshot"))
    assert ok(world, admit())
    abandoned = ok(world, Abandon(rid(1), *BINDING))
    declined(abandoned, admit())
    declined(abandoned, Abandon(rid(1), *BINDING))


def test_a_grant_that_was_rolled_back_was_a_grant() -> None:
    world = ok(opened(), reserve(), call("snapshot"))
    assert ok(world, PutBack(0), admit())


def test_of_admitting_and_abandoning_whichever_comes_first_counts() -> None:
    world = ok(opened(), reserve(), admit(), AdvanceClock(TTL))
    declined(world, Abandon(rid(1), *BINDING))
    assert row(ok(world, call("snapshot"))).state == "committed"
    world = ok(opened(), reserve(), Abandon(rid(1), *BINDING), AdvanceClock(TTL), call("snapshot"))
    assert row(world).state == "expired"
    declined(world, admit())
    refused(world, reserve(), "ADMISSION_BINDING_CONFLICT")


def test_a_run_ends_is_parked_and_falls_silent() -> None:
    world = committed()
    finished = the_fact(ok(world, Finish(rid(1), "blocked")))
    assert finished == Fact(rid(1), BINDING, "admitted", 1, 2, "blocked", "terminal")
    parked = the_fact(ok(world, Park(rid(1)), Quiesce(rid(1))))
    assert parked == Fact(rid(1), BINDING, "admitted", 1, 2, "paused", "parked", True, True)


@pytest.mark.parametrize("action", [Finish(rid(1), "failed"), Park(rid(1)), Quiesce(rid(1))], ids=repr)
def test_only_what_was_admitted_and_still_goes_on_can_end(action: Action) -> None:
    declined(opened(), action)
    declined(ok(opened(), Abandon(rid(1), *BINDING)), action)
    declined(ok(committed(), *over()), action)


def test_a_running_run_is_not_silent() -> None:
    declined(committed(), Quiesce(rid(1)))


def test_what_a_dropped_assumption_lets_happen_is_declined_otherwise() -> None:
    world = ok(committed(), *over())
    declined(world, Resume(rid(1)))
    declined(world, Forget(rid(1)))


def test_with_the_assumption_dropped_it_happens_to_what_is_there() -> None:
    world = initial_world(dropped=frozenset({"parked-stays", "facts-survive"}))
    world = ok(committed(1, opened(world=world)), Park(rid(1)), Quiesce(rid(1)))
    running = the_fact(ok(world, Resume(rid(1))))
    assert running == Fact(rid(1), BINDING, "admitted", 1, 3)
    declined(ok(world, Resume(rid(1))), Resume(rid(1)))
    declined(world, Forget(rid(2)))
    forgotten = ok(world, Forget(rid(1)))
    assert fact_of(forgotten, rid(1)) is None
    assert len(forgotten.forgotten) == 1
    abandoned = ok(world, Abandon(rid(3), *BINDING), Forget(rid(3)))
    assert abandoned.forgotten == ()


def test_facts_keep_their_places() -> None:
    world = ok(committed(), reserve(2), admit(2), Finish(rid(1), "failed"))
    assert [fact.reservation_id for fact in world.facts] == [rid(1), rid(2)]


def test_a_parked_run_is_admitted_anew_under_a_new_reservation() -> None:
    world = ok(committed(), Park(rid(1)), Quiesce(rid(1)), release())
    world = ok(world, reserve(2, run=1), admit(2, run=1))
    after = ok(world, call("commit", id=rid(2), projectAdmitCommitSeq=2))
    assert row(after, 2).state == "committed"
    assert row(after, 1).state == "released"


def test_closing_is_for_those_who_opened() -> None:
    declined(opened(), Close("h2"))
    world = ok(opened(), Close("h"))
    assert ok(world, Close("h")) is world


def test_leftovers_are_counted() -> None:
    assert ok(opened(), LeaveTemp(), LeaveTemp()).temps == 2


def test_an_operators_risk_covers_a_run_that_is_admitted_only_later() -> None:
    world = ok(opened(), reserve(), force(), admit())
    assert check_world(world) == ()
