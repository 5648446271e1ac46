"""What every operation has in common: the order of steps, the clock, the fence, the second authorization."""

import pytest

from model import step
from model.actions import (
    AdvanceClock,
    Close,
    Damage,
    Disturbance,
    Effect,
    Happens,
    Moment,
    Open,
    Raises,
    Reenters,
    SetIdentity,
    SetLease,
)
from model.outcomes import CODES, Declined, Refused
from model.surroundings import host_named
from model.tests.worlds import (
    CLOCK,
    TTL,
    at,
    call,
    commit,
    committed,
    lease,
    ok,
    opened,
    over,
    passes,
    refused,
    release,
    reserve,
    rid,
    row,
    says,
    the_store,
)
from model.values import JSON, World

SNAPSHOT = call("snapshot")


def high_water(world: World) -> int:
    host = host_named(world, "h")
    assert host is not None
    return host.high_water


def test_a_publication_is_one_more_commit_with_its_audit_entry() -> None:
    world = ok(opened(), AdvanceClock(5), reserve())
    store = the_store(world)
    last = store.audit[-1]
    assert (store.commit_seq, store.last_wall_time, len(store.audit)) == (2, CLOCK + 5, 2)
    assert (last.commit_seq, last.epoch, last.recorded_at) == (2, 1, CLOCK + 5)
    assert (last.action, last.principal) == ("reserve", "p-alice")
    assert last.digest == store.business
    assert world.earlier[-1] is store


def test_a_closed_store_answers_nothing() -> None:
    world = ok(opened(), Close("h"))
    refused(world, SNAPSHOT, "DURABILITY_FAILED")
    assert ok(world, Close("h")) == world


def test_a_clock_below_the_last_commit_is_refused() -> None:
    world = ok(opened(), AdvanceClock(10), reserve(), AdvanceClock(-1))
    refused(world, SNAPSHOT, "AUTHORITY_REVOKED")
    assert ok(world, AdvanceClock(1), SNAPSHOT)


def test_a_clock_below_what_this_open_store_has_seen_is_refused() -> None:
    world = ok(opened(), AdvanceClock(10), SNAPSHOT, AdvanceClock(-1))
    assert the_store(world).last_wall_time == CLOCK
    refused(world, SNAPSHOT, "AUTHORITY_REVOKED")


def test_another_open_store_has_not_seen_that_time() -> None:
    world = ok(opened(), Open("h2", "alpha", 1, 2), AdvanceClock(10), SNAPSHOT, AdvanceClock(-10))
    assert ok(world, call("snapshot", host="h2"))


def test_a_refused_operation_has_seen_the_time_all_the_same() -> None:
    world = refused(ok(opened(), AdvanceClock(10)), reserve(who="eve"), "AUTHORITY_REVOKED")
    assert high_water(world) == CLOCK + 10
    refused(ok(world, AdvanceClock(-10)), SNAPSHOT, "AUTHORITY_REVOKED")


MOMENTS: list[tuple[Moment, int]] = [
    ("read_lease", 1),
    ("authorize", 1),
    ("authorize", 2),
    ("read_lease", 2),
    ("rename", 1),
]


@pytest.mark.parametrize(("moment", "nth"), MOMENTS)
def test_a_clock_set_back_while_something_is_awaited_is_refused(moment: Moment, nth: int) -> None:
    world = ok(opened(), AdvanceClock(10))
    refused(world, reserve(during=passes(-1, moment, nth)), "AUTHORITY_REVOKED")
    assert ok(world, reserve(during=passes(1, moment, nth)))


@pytest.mark.parametrize(("moment", "nth"), MOMENTS)
def test_a_lease_that_runs_out_while_something_is_awaited_is_refused(moment: Moment, nth: int) -> None:
    world = ok(opened(), lease(expires_at=CLOCK + 10))
    refused(world, reserve(during=passes(10, moment, nth)), "AUTHORITY_REVOKED")
    assert ok(world, reserve(during=passes(9, moment, nth)))


@pytest.mark.parametrize(
    "other",
    [
        SetLease(None), SetLease("x"), SetLease({}), lease(epoch=2), lease("beta"), lease(expires_at=CLOCK),
        SetLease({"holderId": "alpha", "fencingEpoch": True, "endpoint": "e", "expiresAt": CLOCK + 9}),
        SetLease({"holderId": "alpha", "fencingEpoch": 1, "endpoint": "", "expiresAt": CLOCK + 9}),
    ],
    ids=repr,
)  # fmt: skip
def test_the_lease_must_be_mine_live_and_whole_at_every_look(other: SetLease) -> None:
    world = opened()
    refused(ok(world, other), SNAPSHOT, "AUTHORITY_REVOKED")
    refused(world, reserve(during=at("authorize", Happens(other), 1)), "AUTHORITY_REVOKED")
    refused(world, reserve(during=says("read_lease", other.lease, 2)), "AUTHORITY_REVOKED")


def test_the_lease_read_last_is_the_one_that_must_outlive_the_rename() -> None:
    world = ok(opened(), lease(expires_at=CLOCK + 10))
    longer: JSON = {"holderId": "alpha", "fencingEpoch": 1, "endpoint": "e", "expiresAt": CLOCK + 20}
    during = (*says("read_lease", longer, 2), *passes(15, "rename"))
    assert ok(world, reserve(during=during))
    shorter: JSON = {"holderId": "alpha", "fencingEpoch": 1, "endpoint": "e", "expiresAt": CLOCK + 5}
    refused(
        world, reserve(during=(*says("read_lease", shorter, 2), *passes(5, "rename"))), "AUTHORITY_REVOKED"
    )


@pytest.mark.parametrize(
    "who",
    [
        None, "x", {"principal": " ", "ownerId": "o", "operator": False},
        {"principal": "p", "ownerId": "", "operator": False},
        {"principal": "p", "ownerId": "o", "operator": 1},
        {"principal": "p", "ownerId": "o"}, {"principal": "\ud800", "ownerId": "o", "operator": False},
        {"principal": "p" * 4097, "ownerId": "o", "operator": False},
    ],
    ids=lambda who: repr(who)[:40],
)  # fmt: skip
def test_whoever_is_not_verified_is_refused_before_anything_is_read(who: JSON) -> None:
    world = opened()
    refused(ok(world, SetIdentity("alice", who)), SNAPSHOT, "AUTHORITY_REVOKED")
    refused(world, call("snapshot", during=says("authorize", who)), "AUTHORITY_REVOKED")


@pytest.mark.parametrize(
    "change", [{"principal": "p-bob"}, {"ownerId": "o-bob"}, {"operator": True}, {"operator": None}], ids=repr
)
def test_an_authority_that_changes_meanwhile_is_refused(change: dict[str, JSON]) -> None:
    who: dict[str, JSON] = {"principal": "p-alice", "ownerId": "o-alice", "operator": False}
    now = SetIdentity("alice", {**who, **change})
    world = opened()
    refused(world, reserve(during=at("authorize", Happens(now), 2)), "AUTHORITY_REVOKED")
    refused(world, call("snapshot", during=says("authorize", {**who, **change}, 2)), "AUTHORITY_REVOKED")
    assert ok(world, call("snapshot", during=says("authorize", {**who, "more": 1}, 2)))


def test_a_store_closed_meanwhile_publishes_nothing() -> None:
    for moment, nth in MOMENTS:
        world = refused(opened(), reserve(during=at(moment, Happens(Close("h")), nth)), "DURABILITY_FAILED")
        host = host_named(world, "h")
        assert host is not None
        assert not host.is_open


def test_a_store_closed_after_the_last_check_still_answers_what_needs_no_publication() -> None:
    world = ok(opened(), call("snapshot", during=at("read_lease", Happens(Close("h")), 2)))
    assert the_store(world).commit_seq == 1
    refused(world, SNAPSHOT, "DURABILITY_FAILED")


def test_a_dispatch_looks_once_more_before_it_launches() -> None:
    world = ok(committed(), reserve(2), AdvanceClock(TTL))
    for effect, code in (
        (Happens(Close("h")), "DURABILITY_FAILED"),
        (Happens(AdvanceClock(10**12)), "AUTHORITY_REVOKED"),
        (Happens(AdvanceClock(-1)), "AUTHORITY_REVOKED"),
    ):
        after, outcome = step(world, call("dispatch", during=at("rename", effect), id=rid(1)))
        assert outcome == Refused(code)
        assert after.launched == ()
    refused(
        committed(),
        call("dispatch", during=at("prepare", Happens(Close("h"))), id=rid(1)),
        "DURABILITY_FAILED",
    )


@pytest.mark.parametrize("code", sorted(CODES))
@pytest.mark.parametrize(("moment", "nth"), MOMENTS[:4])
def test_a_coordinator_error_passes_through_a_callback(moment: Moment, nth: int, code: str) -> None:
    refused(opened(), reserve(during=at(moment, Raises(code), nth)), code)


@pytest.mark.parametrize(("moment", "nth"), MOMENTS[:4])
def test_any_other_exception_of_a_callback_leaves_unknown_side_effects(moment: Moment, nth: int) -> None:
    refused(opened(), reserve(during=at(moment, Raises(), nth)), "DURABILITY_FAILED", "unknown")


def test_errors_pass_through_the_operations_own_callbacks_too() -> None:
    world = ok(opened(), reserve())
    during = at("read_admission", Raises("CAPACITY_EXCEEDED"))
    refused(world, commit(during=during), "CAPACITY_EXCEEDED")
    refused(world, commit(during=at("read_admission", Raises())), "DURABILITY_FAILED", "unknown")
    world = ok(committed(), *over())
    refused(world, release(during=at("read_release", Raises("POLICY_DENIED"))), "POLICY_DENIED")


@pytest.mark.parametrize(("moment", "nth"), MOMENTS[:4])
def test_calling_the_store_from_its_own_callback_fails_at_once(moment: Moment, nth: int) -> None:
    refused(opened(), reserve(during=at(moment, Reenters(), nth)), "DURABILITY_FAILED")


def test_the_first_decisive_effect_wins_after_all_that_happens() -> None:
    during = (
        Disturbance("authorize", 1, Raises("POLICY_DENIED")),
        Disturbance("authorize", 1, Happens(AdvanceClock(7))),
        Disturbance("authorize", 1, Raises("COMMAND_FAILED")),
    )
    world = refused(opened(), reserve(during=during), "POLICY_DENIED")
    assert world.clock == CLOCK + 7


def test_arrivals_are_counted_from_one_within_one_transaction() -> None:
    during = at("authorize", Raises("POLICY_DENIED"), 3)
    world = ok(opened(), reserve(during=during), reserve(2, during=during))
    assert the_store(world).held == 2


def test_what_happened_meanwhile_stays_though_the_operation_was_refused() -> None:
    during = (*at("authorize", Happens(AdvanceClock(7))), *at("authorize", Raises("COMMAND_FAILED"), 2))
    assert refused(opened(), reserve(during=during), "COMMAND_FAILED").clock == CLOCK + 7


@pytest.mark.parametrize(
    ("moment", "effect"),
    [
        ("authorize", Happens(Close("nobody"))),
        ("authorize", Happens(Damage("state-mode"))),
        ("rename", Happens(Damage("lock-symlink"))),
        ("rename", Raises("COMMAND_FAILED")),
    ],
)
def test_an_action_disturbed_by_the_impossible_is_declined_whole(moment: Moment, effect: Effect) -> None:
    world = opened()
    during = (*passes(5, "read_lease"), *at(moment, effect))
    after, outcome = step(world, reserve(during=during))
    assert isinstance(outcome, Declined)
    assert after is world


def test_the_epoch_of_a_row_is_that_of_whoever_changed_it_last() -> None:
    world = ok(committed(), lease(epoch=3), Open("h3", "alpha", 3, 2))
    assert row(world).coordinator_epoch == 1
    world = ok(world, call("renew", host="h3", id=rid(1)))
    assert row(world).coordinator_epoch == 3
