"""Going back in a ledger's store: the same files, the same clients, and what comes then is as it was."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from model.gated import initial_world
from model.gated.actions import Action, CloseLedger, Crash, Fault, OpenLedger, Tamper, Transact
from stateful_tests.gated.lockstep import LedgerLockstep
from stateful_tests.gated.rewind import FARTHEST, LedgerRewinder
from stateful_tests.gated.target import LedgerTarget

HOST = "a"


def counting(key: str, *faults: Fault, client: str = HOST) -> Transact:
    return Transact(
        client, "op", "run", "node", "event", "apply", key, {"increment": "n"}, intent=key, faults=faults
    )


@pytest.fixture
def target(tmp_path: Path) -> Iterator[LedgerTarget]:
    with LedgerTarget(tmp_path / "store") as made:
        yield made


class Walk:
    """A store and its model, with somebody who notes the way."""

    def __init__(self, target: LedgerTarget) -> None:
        self.target = target
        self.pair = LedgerLockstep(target, initial_world())
        self.rewinder = LedgerRewinder(target)

    def does(self, *actions: Action) -> None:
        for action in actions:
            record = self.pair.check(action)
            assert not record.declined
            self.rewinder.note(self.pair, record)
            self.rewinder.keep(self.pair)  # as a tour does on its way

    def back(self, kept: Any) -> None:
        world = self.rewinder.bring(self.pair, kept)
        assert world is not None
        self.pair = LedgerLockstep(self.target, world)

    @property
    def shown(self) -> object:
        seen = self.target.observe()
        return seen.raw, seen.store, seen.effects, sorted(self.target.clients)


BEGINNINGS: dict[str, tuple[Action, ...]] = {
    "open": (OpenLedger(HOST), counting("k1")),
    "closed": (OpenLedger(HOST), counting("k1"), CloseLedger(HOST)),
    "behind": (OpenLedger(HOST), counting("k1"), counting("k2", Fault("mirror", 1, "fails"))),
    "torn": (OpenLedger(HOST), counting("k1"), Crash(HOST, "append-torn", counting("k2"))),
    "poisoned": (
        OpenLedger(HOST),
        counting("k1", Fault("append-fsync", 1, "fails"), Fault("cut", 1, "fails")),
    ),
    "two": (OpenLedger(HOST), OpenLedger("b"), counting("k1"), counting("k2", client="b")),
    "wounded": (OpenLedger(HOST), counting("k1"), CloseLedger(HOST), Tamper("mirror-corrupt")),
}
LATER: tuple[Action, ...] = (OpenLedger(HOST), counting("k3"), counting("k1"), CloseLedger(HOST))


@pytest.mark.parametrize("name", BEGINNINGS)
def test_one_comes_back_to_the_same_store_and_goes_on_as_before(target: LedgerTarget, name: str) -> None:
    walk = Walk(target)
    walk.does(*BEGINNINGS[name])
    kept, shown = walk.rewinder.keep(walk.pair), walk.shown
    assert kept is not None
    for _ in range(2):
        walk.does(*LATER)
        walk.back(kept)
        assert walk.shown == shown
    walk.does(*LATER)


def test_before_anybody_has_opened_the_store_there_is_nothing_to_come_back_to(target: LedgerTarget) -> None:
    walk = Walk(target)
    assert walk.rewinder.keep(walk.pair) is None


def test_a_way_that_is_too_long_is_walked_again(target: LedgerTarget) -> None:
    walk = Walk(target)
    walk.does(OpenLedger(HOST), counting("k1", Fault("mirror", 1, "fails")))
    assert walk.rewinder.keep(walk.pair) is not None
    late = Fault("catch-up", 1, "fails")
    walk.does(*(counting("k2", late) for _ in range(FARTHEST)))
    assert walk.rewinder.keep(walk.pair) is None


def test_files_that_came_later_are_gone_again(target: LedgerTarget) -> None:
    walk = Walk(target)
    walk.does(OpenLedger(HOST), CloseLedger(HOST))
    kept = walk.rewinder.keep(walk.pair)
    walk.does(Tamper("mirror-corrupt"), OpenLedger(HOST))
    assert target.observe().aside
    walk.back(kept)
    assert not target.observe().aside


def test_a_store_that_is_heavier_says_so(target: LedgerTarget) -> None:
    walk = Walk(target)
    assert walk.rewinder.weight(walk.pair) == 0
    walk.does(OpenLedger(HOST), counting("k1"), counting("k2"))
    assert walk.rewinder.weight(walk.pair) == 2
