"""Files changed behind the store's back: what a call notices that begins, and what cannot be done to them."""

import pytest

from model.gated import initial_world, step
from model.gated.actions import Action, OpenLedger, Tamper
from model.gated.outcomes import Declined
from model.gated.tests.test_recovery import REOPEN, at_rest, unbelievable, with_foul_last_line
from model.gated.tests.worlds import (
    a_step,
    apply,
    closed,
    counted,
    died,
    keys,
    ledger,
    lines,
    mirror,
    ok,
    opened,
    put,
    state,
    torn,
    value,
)


@pytest.mark.parametrize(
    "tampering",
    [
        Tamper("tail-cut", n=1),
        Tamper("tail-cut", n=400),
        Tamper("line-removed", 1),
        Tamper("line-swapped", 2),
        Tamper("line-repeated", 1),
        Tamper("line-edited", 3, 5),
        Tamper("line-appended", 3),
        Tamper("ledger-deleted"),
    ],
)
def test_a_call_that_begins_notices_what_is_wrong_from_the_mirrors_last_line_on(tampering: Tamper) -> None:
    unbelievable(ok(counted(3), tampering), opening=False)


def test_a_call_that_begins_looks_at_no_earlier_line_which_opening_does() -> None:
    for tampering in (Tamper("line-edited", 1, 5), Tamper("line-swapped", 1)):
        world = ok(counted(3), tampering, put("k4"))
        assert state(world) == {"count": 4}
        assert value(world, put("k1"))["status"] == "noop"
        unbelievable(world)


def test_a_call_cuts_an_invalid_line_that_comes_right_after_the_mirrors_last() -> None:
    world = died(ok(counted(1), OpenLedger("ben")), put("k2", client="ben"), "append-written")
    world = with_foul_last_line(world)
    assert keys(ok(world, put("k3"))) == ["k1", "k3"]
    world = died(ok(counted(1), OpenLedger("ben")), put("k2", client="ben"), "append-written")
    unbelievable(torn(with_foul_last_line(world)), opening=False)


def test_a_ledger_that_is_gone_is_noticed_even_if_it_was_empty() -> None:
    unbelievable(ok(opened(), Tamper("ledger-deleted")), opening=False)


@pytest.mark.parametrize(
    "action",
    [
        Tamper("tail-torn", n=1000),
        Tamper("tail-torn", n=0),
        Tamper("tail-cut", n=10000),
        Tamper("line-removed", 0),
        Tamper("line-removed", 4),
        Tamper("line-swapped", 3),
        Tamper("line-edited", 1, 10000),
        Tamper("mirror-behind", n=4),
        Tamper("mirror-foreign", n=0),
    ],
)
def test_what_cannot_be_done_to_the_files_is_declined(action: Action) -> None:
    world = at_rest()
    after, outcome = step(world, action)
    assert isinstance(outcome, Declined)
    assert after == world


def test_the_mirror_is_tampered_with_only_while_nobody_has_it_open() -> None:
    assert isinstance(step(counted(1), Tamper("mirror-deleted"))[1], Declined)
    missing = ok(at_rest(), Tamper("mirror-deleted"))
    for kind in ("mirror-corrupt", "mirror-edited", "mirror-schema", "mirror-emptied", "mirror-deleted"):
        assert isinstance(step(missing, Tamper(kind))[1], Declined)
    edited = ok(at_rest(), Tamper("mirror-edited"))
    assert isinstance(step(edited, Tamper("mirror-edited"))[1], Declined)
    assert isinstance(step(initial_world(), Tamper("tail-cut", n=1))[1], Declined)


def test_what_was_undone_is_whole_again() -> None:
    world = at_rest()
    for tampering in (Tamper("line-swapped", 1), Tamper("line-edited", 2, 9)):
        again = ok(world, tampering, tampering)
        assert again.ledger == world.ledger
    newline = len(lines(world)[0].text) - 1
    joined = ok(world, Tamper("line-edited", 1, newline))
    assert len(ledger(joined).entries) == 2
    assert ok(joined, Tamper("line-edited", 1, newline)).ledger == world.ledger


def test_with_both_files_gone_a_step_can_run_twice_and_that_is_not_held_against_the_store() -> None:
    never_again = apply(a_step(1, idempotent=False))
    world = closed(ok(opened(), never_again))
    world = ok(world, Tamper("ledger-deleted"), Tamper("mirror-deleted"), REOPEN, never_again)
    assert len(world.effects) == 2
    assert world.pardoned == 1


def test_replay_of_receipts_and_changes_alike() -> None:
    world = ok(counted(1), apply(a_step(1)), put("k2", {"set": {"a": {"b": [1]}}, "remove": ["count"]}))
    again = ok(closed(world), Tamper("mirror-deleted"), REOPEN)
    assert again.mirror == world.mirror
    assert mirror(again).sequence == 3
