"""Recovery, sentence by sentence: what opening finds, cuts, replays, rebuilds, and what it will not touch."""

import pytest
from attrs import evolve

from model.gated import initial_world, step
from model.gated.actions import CloseLedger, OpenLedger, Tamper
from model.gated.outcomes import Refused
from model.gated.tests.worlds import (
    closed,
    counted,
    died,
    fails,
    keys,
    ledger,
    lines,
    moments,
    ok,
    opened,
    put,
    refused,
    state,
    torn,
    value,
)
from model.gated.values import Foul, LedgerFile, World

REOPEN = OpenLedger("ann")


def at_rest(many: int = 3) -> World:
    return closed(counted(many))


def report(
    cut: int = 0, replayed: int = 0, became: str = "intact", *, aside: bool = False
) -> dict[str, object]:
    return {"cutBytes": cut, "replayedEvents": replayed, "mirror": became, "setAside": aside}


def unbelievable(world: World, *, opening: bool = True) -> None:
    """It is refused for integrity, and nothing is changed."""
    after, outcome = step(world, REOPEN if opening else put("next"))
    assert outcome == Refused("LEDGER_INTEGRITY_FAILED", "operator")
    assert (after.ledger, after.mirror) == (world.ledger, world.mirror)


def with_foul_last_line(world: World) -> World:
    """Its last line has its newline and is not valid, as a power cut may leave it."""
    file = ledger(world)
    last = file.entries[-1]
    foul = Foul(b"\0" * (len(last.text) - 1) + b"\n")
    return evolve(world, ledger=LedgerFile((*file.entries[:-1], foul), file.tail, file.size))


def test_the_first_opening_makes_both_files() -> None:
    assert value(initial_world(), REOPEN) == report(became="rebuilt")
    world = opened()
    assert ledger(world) == LedgerFile()
    assert state(world) == {}
    assert moments(initial_world(), REOPEN) == [
        "open", "ledger-created", "build", "catch-up", "built", "renamed", "reply",
    ]  # fmt: skip


def test_an_intact_store_is_opened_as_it_is() -> None:
    assert value(at_rest(), REOPEN) == report()
    assert ok(at_rest(), REOPEN) == counted(3)
    assert moments(at_rest(), REOPEN) == ["open", "reply"]


def test_a_torn_last_line_that_the_mirror_has_not_seen_is_cut_and_that_is_said() -> None:
    world = died(counted(2), put("k3"), "append-torn")
    size = len(ledger(world).tail)
    assert value(world, REOPEN) == report(cut=size)
    assert ledger(ok(world, REOPEN)) == ledger(counted(2))
    assert moments(world, REOPEN) == ["open", "cut", "cut-done", "cut-fsync", "cut-synced", "reply"]


def test_a_record_appended_after_a_torn_line_is_not_swallowed_by_it() -> None:
    world = ok(torn(at_rest()), REOPEN, put("k4"), CloseLedger("ann"), REOPEN)
    assert keys(world) == ["k1", "k2", "k3", "k4"]
    assert state(world) == {"count": 4}


def test_a_tail_cut_inside_a_character_is_torn_too() -> None:
    world = closed(ok(opened(), put("k1", {"set": {"a": "€" * 40}})))
    text = lines(world)[0].text
    inside = text.index("€".encode()) + 1
    world = ok(world, Tamper("tail-torn", n=inside))
    with pytest.raises(UnicodeDecodeError):
        ledger(world).tail.decode()
    assert value(world, REOPEN) == report(cut=inside)


def test_a_whole_record_without_its_newline_was_never_acknowledged() -> None:
    world = died(counted(1), put("k2"), "append-written")
    world = ok(world, Tamper("tail-cut", n=1))
    assert value(world, REOPEN) == report(cut=len(ledger(world).tail))
    assert keys(ok(world, REOPEN)) == ["k1"]


@pytest.mark.parametrize("kind", ["mirror-deleted", "mirror-corrupt", "mirror-emptied", "mirror-schema"])
def test_a_torn_last_line_is_cut_although_there_is_no_mirror(kind: str) -> None:
    world = ok(torn(at_rest(), 9), Tamper(kind))
    assert value(world, REOPEN) == report(9, 3, "rebuilt", aside=kind != "mirror-deleted")


def test_a_torn_last_line_is_cut_before_a_mirror_behind_is_caught_up() -> None:
    world = ok(torn(at_rest(), 9), Tamper("mirror-behind", n=1))
    assert value(world, REOPEN) == report(9, 2, "caught-up")


def test_a_last_line_that_the_mirror_has_seen_is_never_cut() -> None:
    unbelievable(ok(at_rest(), Tamper("tail-cut", n=1)))
    unbelievable(ok(at_rest(), Tamper("tail-cut", n=50)))
    unbelievable(with_foul_last_line(at_rest()))


def test_an_invalid_last_line_is_cut_only_if_an_intact_mirror_ends_exactly_one_before_it() -> None:
    foul = with_foul_last_line(at_rest())
    size = len(ledger(foul).entries[-1].text)
    one_before = ok(at_rest(), Tamper("mirror-behind", n=2))
    world = evolve(foul, mirror=one_before.mirror)
    assert value(world, REOPEN) == report(cut=size)
    assert keys(ok(world, REOPEN)) == ["k1", "k2"]
    for n in (0, 1):
        unbelievable(evolve(foul, mirror=ok(at_rest(), Tamper("mirror-behind", n=n)).mirror))
    for kind in ("mirror-deleted", "mirror-corrupt", "mirror-emptied", "mirror-schema"):
        unbelievable(ok(foul, Tamper(kind)))
    unbelievable(ok(world, Tamper("mirror-edited")))


def test_an_invalid_line_that_something_follows_is_not_the_last() -> None:
    one_before = ok(at_rest(), Tamper("mirror-behind", n=2)).mirror
    world = evolve(with_foul_last_line(at_rest()), mirror=one_before)
    file = ledger(world)
    unbelievable(evolve(world, ledger=LedgerFile(file.entries, b"x", file.size + 1)))
    unbelievable(evolve(world, ledger=LedgerFile((*file.entries, Foul(b"x\n")), b"", file.size + 2)))


@pytest.mark.parametrize("mirror_too", [None, "mirror-deleted", "mirror-corrupt"])
@pytest.mark.parametrize(
    "tampering",
    [
        Tamper("line-removed", 1),
        Tamper("line-removed", 2),
        Tamper("line-swapped", 1),
        Tamper("line-swapped", 2),
        Tamper("line-repeated", 1),
        Tamper("line-repeated", 3),
        Tamper("line-edited", 1, 0),
        Tamper("line-edited", 2, 40),
        Tamper("line-appended", 1),
        Tamper("line-appended", 3),
    ],
)
def test_anything_else_wrong_in_the_ledger_is_left_alone(tampering: Tamper, mirror_too: str | None) -> None:
    world = ok(at_rest(), tampering)
    unbelievable(world if mirror_too is None else ok(world, Tamper(mirror_too)))


def test_every_byte_flipped_is_noticed() -> None:
    world = at_rest(2)
    for number, line in enumerate(lines(world), 1):
        for n in range(len(line.text)):
            unbelievable(ok(world, Tamper("line-edited", number, n)))


def test_a_tail_cut_anywhere_is_noticed_as_long_as_the_mirror_has_seen_it() -> None:
    world = at_rest(2)
    for n in range(1, ledger(world).size + 1):
        unbelievable(ok(world, Tamper("tail-cut", n=n)))


def test_whole_records_cut_off_the_end_cannot_be_noticed_without_the_mirror() -> None:
    """And then nobody pretends that they must still be there."""
    last = len(lines(at_rest())[-1].text)
    world = ok(at_rest(), Tamper("tail-cut", n=last), Tamper("mirror-deleted"), REOPEN)
    assert keys(world) == ["k1", "k2"]
    assert world.acknowledged == {line.hash for line in lines(world)}
    assert (world.wounds, world.pardoned) == (frozenset(), 0)


def test_a_mirror_ahead_of_the_ledger_or_on_another_chain_is_not_believed() -> None:
    unbelievable(ok(at_rest(), Tamper("line-removed", 3)))
    for n in (1, 3, 9):
        unbelievable(ok(at_rest(), Tamper("mirror-foreign", n=n)))
    unbelievable(ok(at_rest(), Tamper("ledger-deleted")))
    unbelievable(ok(at_rest(), Tamper("mirror-edited"), Tamper("line-removed", 3)))


def test_a_mirror_behind_is_caught_up() -> None:
    for n in range(4):
        world = ok(at_rest(), Tamper("mirror-behind", n=n))
        assert value(world, REOPEN) == report(0, 3 - n, "caught-up" if n < 3 else "intact")
        assert ok(world, REOPEN).mirror == counted(3).mirror


@pytest.mark.parametrize(
    "kind", ["mirror-deleted", "mirror-emptied", "mirror-corrupt", "mirror-schema", "mirror-edited"]
)
def test_a_mirror_that_is_none_is_set_aside_and_built_anew(kind: str) -> None:
    world = ok(at_rest(), Tamper(kind))
    assert value(world, REOPEN) == report(0, 3, "rebuilt", aside=kind != "mirror-deleted")
    assert ok(world, REOPEN).mirror == counted(3).mirror
    names = moments(world, REOPEN)
    assert names[-5:] == ["build", "catch-up", "built", "renamed", "reply"]
    assert ("set-aside" in names) == (kind != "mirror-deleted")


def test_after_a_catch_up_that_failed_the_next_opening_does_it() -> None:
    for kind in ("mirror-behind", "mirror-corrupt", "mirror-deleted"):
        world = ok(at_rest(), Tamper(kind))
        action = OpenLedger("ann", fails("catch-up", "full"))
        after = refused(world, action, "SQLITE_MIRROR_FAILED", "in_doubt")
        assert after.clients == ()
        assert after.mirror == ("missing" if kind != "mirror-behind" else world.mirror)
        assert state(ok(after, REOPEN)) == {"count": 3}


@pytest.mark.parametrize("moment", ["cut", "cut-fsync"])
def test_a_cut_that_fails_refuses_the_opening(moment: str) -> None:
    action = OpenLedger("ann", fails(moment))
    after = refused(torn(at_rest()), action, "LEDGER_APPEND_REQUIRED_FAILED", "in_doubt")
    assert after.clients == ()
    assert bool(ledger(after).tail) == (moment == "cut")
    assert state(ok(after, REOPEN)) == {"count": 3}


def test_an_opening_closes_what_the_client_had_open() -> None:
    world = ok(counted(1), OpenLedger("ann"))
    assert [each.name for each in world.clients] == ["ann"]
    world = ok(counted(2), Tamper("line-swapped", 1))
    after, _ = step(world, REOPEN)
    assert after.clients == ()


def test_a_ledger_without_lines_and_without_its_file_is_a_new_one() -> None:
    world = ok(closed(opened()), Tamper("ledger-deleted"))
    assert value(world, REOPEN) == report()
    assert value(ok(world, Tamper("mirror-corrupt")), REOPEN) == report(became="rebuilt", aside=True)
