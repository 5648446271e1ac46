"""Files behind the store's back: older states put back, leftovers, damage; the epoch read from outside."""

import pytest

from model import initial_world, step
from model.actions import (
    DAMAGES,
    Action,
    Close,
    Damage,
    Happens,
    LeaveTemp,
    Mend,
    Open,
    PutBack,
    ReadEpoch,
)
from model.outcomes import Declined
from model.surroundings import host_named
from model.tests.worlds import at, call, lease, maximum, ok, opened, refused, reserve, the_store, value
from model.values import World

SNAPSHOT = call("snapshot")


def declined(world: World, action: Action) -> None:
    after, outcome = step(world, action)
    assert isinstance(outcome, Declined), outcome
    assert after is world


@pytest.mark.parametrize(
    "kind", ["state-symlink", "identity-symlink", "lock-symlink", "directory-removed", "directory-replaced"]
)
def test_files_are_looked_at_again_before_publication(kind: str) -> None:
    world = refused(opened(), reserve(during=at("authorize", Happens(Damage(kind)))), "DURABILITY_FAILED")
    assert world.damage == {kind}
    assert ok(world, Mend(kind), reserve())


def test_an_older_state_put_back_is_refused_by_who_has_seen_a_newer_one() -> None:
    """C4, first: older."""
    world = ok(opened(), reserve(), PutBack(0))
    refused(world, reserve(2), "DURABILITY_FAILED")
    refused(world, SNAPSHOT, "DURABILITY_FAILED")
    assert ok(world, PutBack(1), reserve(2))


def forked() -> tuple[World, World]:
    """Host `h` has seen commit 2; an older state was put back, and host `h2`, new, has written another 2."""
    seen = ok(opened(), reserve(1))
    fork = ok(seen, PutBack(0), Open("h2", "alpha", 1, 2), reserve(2, host="h2"))
    return seen, fork


def test_another_state_of_the_same_commit_number_is_refused() -> None:
    """C4, second: equal `commitSeq`, another hash."""
    _, fork = forked()
    assert the_store(fork).commit_seq == 2
    refused(fork, SNAPSHOT, "DURABILITY_FAILED")


def test_a_later_state_of_another_history_is_refused() -> None:
    """C4, third: later, but its audit does not hold what had been seen."""
    _, fork = forked()
    longer = ok(fork, reserve(3, host="h2"))
    assert the_store(longer).commit_seq == 3
    refused(longer, SNAPSHOT, "DURABILITY_FAILED")


def test_a_later_state_of_the_same_history_is_believed() -> None:
    world = ok(opened(), Open("h2", "alpha", 1, 2), reserve(1), reserve(2, host="h2"), SNAPSHOT)
    host = host_named(world, "h")
    assert host is not None
    assert host.seen is world.store


def test_a_state_is_seen_even_by_an_operation_that_was_refused() -> None:
    world = ok(opened(), Open("h2", "alpha", 1, 2), reserve(1))
    world = refused(world, call("snapshot", "eve", host="h2"), "AUTHORITY_REVOKED")
    refused(ok(world, PutBack(0)), call("snapshot", host="h2"), "DURABILITY_FAILED")


def test_the_next_transaction_removes_leftover_temporary_files() -> None:
    world = ok(opened(), LeaveTemp(), LeaveTemp())
    assert world.temps == 2
    assert ok(world, SNAPSHOT).temps == 0
    assert refused(world, maximum(1, who="eve"), "AUTHORITY_REVOKED").temps == 0


def test_what_is_refused_before_its_transaction_removes_nothing() -> None:
    world = ok(opened(), LeaveTemp())
    assert refused(world, call("readCommand", id="x"), "COMMAND_FAILED").temps == 1
    assert refused(ok(world, Close("h")), SNAPSHOT, "DURABILITY_FAILED").temps == 1
    assert refused(ok(world, Damage("state-symlink")), SNAPSHOT, "DURABILITY_FAILED").temps == 1


@pytest.mark.parametrize("kind", DAMAGES)
def test_while_a_file_is_damaged_every_operation_is_refused(kind: str) -> None:
    world = ok(opened(), reserve(), Damage(kind))
    refused(world, SNAPSHOT, "DURABILITY_FAILED")
    refused(world, reserve(2), "DURABILITY_FAILED")
    refused(world, call("snapshot", "eve"), "DURABILITY_FAILED")
    assert ok(world, Mend(kind), reserve(2))


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_store_is_not_opened(kind: str) -> None:
    world = ok(opened(), reserve(), Damage(kind))
    if kind.startswith("directory-"):
        declined(world, Open("h2", "alpha", 1, 2))
    else:
        after = refused(world, Open("h2", "alpha", 1, 2), "DURABILITY_FAILED")
        assert host_named(after, "h2") is None


@pytest.mark.parametrize("kind", DAMAGES)
def test_the_epoch_is_read_without_a_lock_and_without_a_host(kind: str) -> None:
    world = ok(opened(epoch=4), Close("h"), Damage(kind))
    if kind.startswith("lock-"):
        assert value(world, ReadEpoch()) == 4
    elif kind.startswith("directory-"):
        assert value(world, ReadEpoch()) == 0
    else:
        refused(world, ReadEpoch(), "DURABILITY_FAILED")


def test_a_first_state_whose_identity_was_taken_away_looks_like_an_interrupted_genesis() -> None:
    world = ok(opened(), Damage("identity-missing"))
    refused(world, SNAPSHOT, "DURABILITY_FAILED")
    declined(world, Open("h2", "alpha", 1, 2))


def test_the_epoch_of_nothing_is_nought() -> None:
    assert value(initial_world(), ReadEpoch()) == 0


def test_damage_is_done_once_to_what_is_there() -> None:
    declined(initial_world(), Damage("state-mode"))
    world = opened()
    declined(world, Damage("state-eaten"))
    declined(world, Mend("state-mode"))
    declined(ok(world, Damage("state-mode")), Damage("state-fifo"))
    declined(ok(world, Damage("state-mode")), Damage("directory-removed"))
    declined(ok(world, Damage("directory-removed")), Damage("state-mode"))
    declined(ok(world, Damage("state-missing")), Damage("identity-missing"))
    declined(ok(world, Damage("directory-removed")), LeaveTemp())
    declined(initial_world(), LeaveTemp())


def test_nobody_puts_a_state_back_that_never_was() -> None:
    world = ok(opened(), reserve())
    declined(world, PutBack(2))
    declined(world, PutBack(-1))
    declined(ok(world, Damage("state-fifo")), PutBack(0))
    declined(ok(world, Close("h")), PutBack(0))


def test_a_directory_that_goes_meanwhile_is_noticed_unless_something_else_refuses_first() -> None:
    during = at("authorize", Happens(Damage("directory-removed")))
    refused(opened(), call("snapshot", during=during), "DURABILITY_FAILED")
    declined(opened(), maximum(1, who="alice", during=during))


def test_damage_of_two_files_is_mended_one_by_one() -> None:
    world = ok(opened(), Damage("state-mode"), Damage("lock-fifo"), Mend("state-mode"))
    refused(world, SNAPSHOT, "DURABILITY_FAILED")
    assert ok(world, Mend("lock-fifo"), SNAPSHOT)


def test_a_state_put_back_in_the_middle_of_a_transaction_is_written_over() -> None:
    world = ok(opened(), reserve())
    after = ok(world, reserve(2, during=at("authorize", Happens(PutBack(0)))))
    assert the_store(after).commit_seq == 3
    after = ok(world, call("snapshot", during=at("authorize", Happens(PutBack(0)))))
    assert the_store(after).commit_seq == 1
    refused(after, SNAPSHOT, "DURABILITY_FAILED")


def test_an_older_state_read_by_a_newcomer_is_remembered_against_the_surroundings() -> None:
    world = ok(opened(), reserve(), PutBack(0))
    assert world.broken == frozenset()
    assert ok(world, Open("h2", "alpha", 1, 2)).broken == {"files-stay"}
    assert ok(world, PutBack(1), Open("h2", "alpha", 1, 2)).broken == frozenset()


def test_a_rolled_back_epoch_lets_an_older_host_in_again() -> None:
    """Why nobody may roll the files back: `ReadEpoch` sees the old epoch, and so would a newcomer."""
    world = ok(opened(), lease(epoch=2), Open("h2", "alpha", 2, 2))
    assert value(world, ReadEpoch()) == 2
    assert value(ok(world, PutBack(0)), ReadEpoch()) == 1
