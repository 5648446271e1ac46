"""Opening a store: what is refused, genesis, newer and older hosts."""

import pytest
from attrs import evolve

from model import initial_world, step
from model.actions import AdvanceClock, Close, Happens, Open, Raises, ReadEpoch, Reenters
from model.outcomes import Declined
from model.surroundings import host_named
from model.tests.worlds import (
    CLOCK,
    at,
    call,
    committed,
    lease,
    ok,
    opened,
    passes,
    refused,
    reserve,
    rid,
    row,
    the_store,
    value,
)
from model.values import JSON, AuditEntry, Business, Store, World

NONE_POSITIVE: list[JSON] = [None, True, 0, -1, 1.0, "1", 2**53, []]


def test_genesis_is_one_commit_of_the_bootstrap() -> None:
    world = opened(maximum=3, epoch=2)
    business = Business(2, 3, (), ())
    entry = AuditEntry(1, 2, CLOCK, "initialize", "coordinator-bootstrap", business)
    assert world.store == Store(2, 1, CLOCK, 3, (), (), (entry,))
    assert world.identity_file
    assert world.earlier == (world.store,)


@pytest.mark.parametrize("bad", NONE_POSITIVE, ids=repr)
def test_an_initial_maximum_that_is_no_positive_integer_is_refused_first(bad: JSON) -> None:
    world = ok(initial_world(), lease())
    refused(world, Open("h", "alpha", 1, bad), "COMMAND_FAILED")
    refused(world, Open("h", " ", 0, bad), "COMMAND_FAILED")


@pytest.mark.parametrize("bad", NONE_POSITIVE, ids=repr)
def test_an_epoch_that_is_no_positive_integer_is_refused(bad: JSON) -> None:
    refused(ok(initial_world(), lease()), Open("h", "alpha", bad, 1), "AUTHORITY_REVOKED")


@pytest.mark.parametrize("bad", [None, 1, True, "", " \n", []], ids=repr)
def test_a_blank_holder_is_refused(bad: JSON) -> None:
    refused(ok(initial_world(), lease()), Open("h", bad, 1, 1), "AUTHORITY_REVOKED")


def test_a_refused_genesis_writes_neither_file() -> None:
    """C1: the directory can be opened later."""
    for world, action in (
        (initial_world(), Open("h", "alpha", 1, 2)),
        (ok(initial_world(), lease("beta")), Open("h", "alpha", 1, 2)),
        (ok(initial_world(), lease(expires_at=CLOCK)), Open("h", "alpha", 1, 2)),
        (ok(initial_world(), lease()), Open("h", "alpha", 1, 2, disturbances=passes(10**13, "rename"))),
        (ok(initial_world(), lease()), Open("h", "alpha", 1, 2, disturbances=passes(-1, "read_lease", 2))),
    ):
        after = refused(world, action, "AUTHORITY_REVOKED")
        assert (after.store, after.identity_file, after.hosts) == (None, False, ())
        assert value(after, ReadEpoch()) == 0


def interrupted(world: World) -> World:
    """A writer was killed between the first state and the identity file."""
    return evolve(world, identity_file=False, hosts=(), earlier=(world.store,) if world.store else ())


def test_an_interrupted_genesis_is_completed_by_opening_alone() -> None:
    world = interrupted(opened())
    refused(world, ReadEpoch(), "DURABILITY_FAILED")
    after = ok(world, Open("h", "alpha", 1, 9))
    assert after.identity_file
    assert after.store == world.store
    newer = ok(world, lease(epoch=2), Open("h", "alpha", 2, 9))
    assert newer.identity_file
    assert the_store(newer).commit_seq == 2
    assert the_store(newer).max_active_runs == 2


def test_an_interrupted_genesis_that_is_refused_again_stays_as_it_is() -> None:
    world = interrupted(opened(epoch=2))
    refused(ok(world, lease(epoch=1)), Open("h", "alpha", 1, 2), "AUTHORITY_REVOKED")
    refused(
        ok(world, lease(epoch=3)),
        Open("h", "alpha", 3, 2, disturbances=passes(10**13, "rename")),
        "AUTHORITY_REVOKED",
    )


def test_no_other_operation_completes_a_genesis() -> None:
    world = opened()
    refused(evolve(world, identity_file=False), call("snapshot"), "DURABILITY_FAILED")


def test_a_state_without_identity_is_refused_once_anything_was_committed() -> None:
    world = interrupted(ok(opened(), reserve()))
    refused(world, Open("h", "alpha", 1, 2), "DURABILITY_FAILED")


def test_an_identity_without_a_state_is_refused_always() -> None:
    """A new state would forget admitted runs."""
    world = evolve(opened(), store=None)
    refused(world, Open("h2", "alpha", 1, 2), "DURABILITY_FAILED")
    refused(world, call("snapshot"), "DURABILITY_FAILED")
    refused(world, ReadEpoch(), "DURABILITY_FAILED")


def test_opening_again_changes_nothing_and_keeps_the_maximum() -> None:
    world = ok(opened(maximum=2), AdvanceClock(5))
    after = ok(world, Open("h2", "alpha", 1, 9))
    assert after.store is world.store


def test_opening_replaces_the_host_of_that_name() -> None:
    world = ok(opened(), AdvanceClock(5), call("snapshot"), AdvanceClock(-5))
    refused(world, call("snapshot"), "AUTHORITY_REVOKED")
    assert ok(world, Open("h", "alpha", 1, 2), call("snapshot"))


def test_a_refused_opening_closes_the_former_host_of_that_name() -> None:
    world = refused(opened(), Open("h", "alpha", 1, 0), "COMMAND_FAILED")
    host = host_named(world, "h")
    assert host is not None
    assert not host.is_open
    refused(world, call("snapshot"), "DURABILITY_FAILED")


def test_a_newer_epoch_is_stored_and_fences_the_older_host_that_still_lives() -> None:
    world = ok(committed(), lease(epoch=2), Open("h2", "alpha", 2, 2))
    assert the_store(world).fencing_epoch == 2
    assert the_store(world).audit[-1].epoch == 2
    refused(world, reserve(2), "AUTHORITY_REVOKED")
    refused(ok(world, lease(epoch=1)), reserve(2), "AUTHORITY_REVOKED")
    refused(ok(world, lease(epoch=1)), call("snapshot"), "AUTHORITY_REVOKED")
    refused(ok(world, lease(epoch=1)), Open("h3", "alpha", 1, 2), "AUTHORITY_REVOKED")


def test_a_read_by_a_newer_host_stores_its_epoch() -> None:
    """After a crash, say, of the newer host's own opening: its epoch is not stored yet."""
    newer = ok(opened(), lease(epoch=2), Open("h2", "alpha", 2, 2))
    newcomer = host_named(newer, "h2")
    assert newcomer is not None
    older = opened()
    world = evolve(older, hosts=(evolve(newcomer, seen=older.store),))
    after = the_store(ok(world, lease(epoch=2), call("snapshot", host="h2")))
    assert (after.fencing_epoch, after.commit_seq, after.audit[-1].action) == (2, 2, "snapshot")


def test_two_hosts_of_one_epoch_work_on_one_directory() -> None:
    world = ok(opened(), Open("h2", "alpha", 1, 2), reserve(1), reserve(2, host="h2"))
    refused(world, reserve(3), "CAPACITY_EXCEEDED")
    refused(world, reserve(3, host="h2"), "CAPACITY_EXCEEDED")


def test_hosts_are_told_apart_by_holder_as_well_as_by_epoch() -> None:
    world = ok(opened(), lease("beta"), Open("h2", "beta", 1, 2))
    refused(world, call("snapshot"), "AUTHORITY_REVOKED")
    assert ok(world, call("snapshot", host="h2"))


def test_a_wall_clock_that_went_backwards_is_refused_on_opening() -> None:
    world = ok(opened(), AdvanceClock(10), reserve(), Close("h"), AdvanceClock(-1))
    refused(world, Open("h", "alpha", 1, 2), "AUTHORITY_REVOKED")
    assert ok(world, AdvanceClock(1), Open("h", "alpha", 1, 2))


def test_a_callback_that_fails_while_a_store_is_opened_passes_through() -> None:
    world = ok(initial_world(), lease())
    refused(world, Open("h", "alpha", 1, 2, True, at("read_lease", Raises("POLICY_DENIED"))), "POLICY_DENIED")
    refused(
        world, Open("h", "alpha", 1, 2, True, at("read_lease", Raises(), 2)), "DURABILITY_FAILED", "unknown"
    )


def test_a_store_that_is_being_opened_is_in_nobodys_hands_yet() -> None:
    world = ok(initial_world(), lease())
    for effect in (Reenters(), Happens(Close("h"))):
        _, outcome = step(world, Open("h", "alpha", 1, 2, True, at("read_lease", effect)))
        assert isinstance(outcome, Declined)


def test_everything_survives_closing_and_opening() -> None:
    world = ok(committed(), Close("h"), Open("h", "alpha", 1, 2))
    assert row(world).state == "committed"
    assert value(world, call("readReservation", id=rid(1))) == row(world)
