"""The ledger's lockstep: sound stores agree with the model, and stores that are broken on purpose do not."""

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from impl import disk, disklog
from impl.gated import compensation, gate, store
from impl.gated.mirror import Mirror
from model.gated import initial_world, invariants
from stateful_tests import failures, replay
from stateful_tests.gated import clauses
from stateful_tests.gated.lockstep import LedgerLockstep
from stateful_tests.gated.results import Answered, Crashed, Refusal
from stateful_tests.gated.stories import (
    apply,
    closed,
    compensate,
    counted,
    dies,
    fails,
    once,
    opened,
    put,
    read,
    tamper,
    undo,
)
from stateful_tests.gated.target import LedgerTarget, UnknownClientError
from stateful_tests.gated.tours import TOURS, touring
from stateful_tests.pair import Divergence
from stateful_tests.system import system_named
from stateful_tests.trace import from_json, record
from stateful_tests.walks import walk

SYSTEM = system_named("ledger")


def found(actions: list[Any]) -> Divergence | None:
    """The first difference on the way of `actions`."""
    records = replay.run(actions, system=SYSTEM)
    return records[-1].divergence


def test_model_and_store_agree_on_walks_with_tours(tmp_path: Path) -> None:
    coverage = SYSTEM.coverage()
    for number in range(3):
        draw = SYSTEM.on_tour(number, 60)
        one = walk(draw, f"test/{number}", 60, tmp_path / str(number), coverage=coverage, system=SYSTEM)
        assert not one.failed, one.records[-1].divergence
    assert coverage.counts["ledger/rule/transact/accepted"] > 10


def test_every_tour_can_be_gone_on(tmp_path: Path) -> None:
    del tmp_path
    world = initial_world()
    rng = random.Random("tours")
    draw = touring(SYSTEM.draw, 0, 0)
    declined = 0
    for _ in range(12 * len(TOURS)):
        world, outcome = SYSTEM.step(world, draw(rng, world))
        declined += SYSTEM.declined(outcome)
    assert declined < 12


def test_a_client_that_was_never_opened_makes_no_sense(tmp_path: Path) -> None:
    with LedgerTarget(tmp_path / "store") as target, pytest.raises(UnknownClientError):
        target.apply(put())


def test_effects_are_counted_by_the_harness(tmp_path: Path) -> None:
    with LedgerTarget(tmp_path / "store") as target:
        pair = LedgerLockstep(target)
        for action in (opened(), apply(once("s1", raises="before"))):
            pair.check(action)
        assert target.effects.happened == []
        pair.check(apply(once("s2")))
        assert target.effects.happened == [
            {"runId": "run", "key": "r-s2", "kind": "step", "idempotent": False}
        ]


def test_a_client_that_dies_takes_no_further_step(tmp_path: Path) -> None:
    with LedgerTarget(tmp_path / "store") as target:
        target.apply(opened())
        assert target.apply(dies(counted(), "append-torn")) == Answered(None)
        assert target.watch.dead
        assert target.watch.steps[-1] == "ledger-append-torn"
        seen = target.observe()
        assert seen.reading.tail > 0
        assert "a" not in target.clients


def test_a_death_that_never_comes_is_told(tmp_path: Path) -> None:
    with LedgerTarget(tmp_path / "store") as target:
        target.apply(opened())
        result = target.apply(dies(counted(), "cut"))
        assert isinstance(result, Crashed)
        assert "never comes to cut" in result.text


def test_an_error_that_does_not_say_where_it_struck_has_crashed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("impl.gated.errors.LedgerError.at", lambda self, _: self)
    with LedgerTarget(tmp_path / "store") as target:
        target.apply(opened())
        result = target.apply(put("k1", fails("append")))
        assert isinstance(result, Crashed)
        assert "run_id is None" in result.text


def test_a_refusal_is_told_with_its_recoverability(tmp_path: Path) -> None:
    with LedgerTarget(tmp_path / "store") as target:
        target.apply(opened())
        assert target.apply(put("k1", fails("begin"))) == Refusal("SQLITE_MIRROR_FAILED", "retry")
        both = put("k1", fails("append"), fails("rollback"))
        assert target.apply(both) == Refusal("LEDGER_APPEND_REQUIRED_FAILED", "rollback", True)


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Replaces parts of the store."""

    def replace(where: Any, name: str, new: Any) -> None:
        monkeypatch.setattr(where, name, new)

    return replace


def _forgetful_fsync(real: Callable[..., Any]) -> Callable[..., Any]:
    def fsync(*arguments: Any, **rest: Any) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "fsync", lambda _: None)
            return real(*arguments, **rest)

    return fsync


def test_an_append_without_fsync_is_seen_by_its_steps(broken: Callable[..., None]) -> None:
    broken(disklog, "sync_append", _forgetful_fsync(disklog.sync_append))
    divergence = found([opened(), put()])
    assert divergence is not None
    assert (divergence.kind, divergence.clause) == ("order", clauses.ORDER)
    assert "not synced" in str(divergence.differences[0])


def test_mirroring_before_appending_is_seen_by_its_steps(broken: Callable[..., None]) -> None:
    def commit(handle: gate.Handle, _where: object, draft: Any) -> None:
        handle.mirror(draft)
        handle.append(draft)
        handle.commit()

    broken(gate, "_commit", commit)
    divergence = found([opened(), put()])
    assert divergence is not None
    assert divergence.kind in ("order", "crashed", "code", "outcome")


def test_a_mirror_in_rollback_mode_is_a_problem_of_its_files(broken: Callable[..., None]) -> None:
    real = Mirror.connect

    def connect(self: Mirror, *arguments: Any, **rest: Any) -> None:
        real(self, *arguments, **rest)
        assert self.connection is not None
        self.connection.execute("PRAGMA journal_mode=DELETE")

    broken(Mirror, "connect", connect)
    divergence = found([opened(), put()])
    assert divergence is not None
    assert (divergence.kind, divergence.clause) == ("problem", clauses.FILES)


def test_compensators_in_forward_order_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compensation, "sorted", lambda steps, **_: list(steps), raising=False)
    divergence = found([opened(), compensate(undo("s1", 1), undo("s2", 2))])
    assert divergence is not None
    assert divergence.kind in ("answer", "ledger", "effects")


def test_a_known_key_that_is_not_looked_up_is_seen(broken: Callable[..., None]) -> None:
    broken(Mirror, "find", lambda *_: None)
    divergence = found([opened(), counted(), counted()])
    assert divergence is not None


def test_a_rollback_error_that_is_not_attached_is_seen(broken: Callable[..., None]) -> None:
    broken(gate, "attach_rollback", lambda *_: None)
    divergence = found([opened(), put("k1", fails("append"), fails("rollback"))])
    assert divergence is not None
    assert (divergence.kind, divergence.clause) == ("rollback", clauses.ROLLBACK)


def test_a_catch_up_left_out_is_seen(broken: Callable[..., None]) -> None:
    broken(store, "catch_up", lambda files, *_, **__: files.mirror.head())
    divergence = found([opened(), counted("k1", fails("mirror")), counted("k2")])
    assert divergence is not None


def test_what_is_found_becomes_the_shortest_story(broken: Callable[..., None]) -> None:
    broken(gate, "attach_rollback", lambda *_: None)
    noise = [opened("b"), put("x"), read("b"), closed("b"), apply(once("s"))]
    actions = [opened(), *noise, counted("k1", fails("append"), fails("rollback")), read()]
    records = replay.run(actions, system=SYSTEM)
    told = failures.failure(records, seed=1, profile="test", system=SYSTEM)
    trace = from_json(told.trace)
    assert trace.system == "ledger"
    assert [type(action).__name__ for action in trace.actions] == ["OpenLedger", "Transact"]
    assert replay.replay(trace).status == "failing"


def test_a_trace_of_the_ledger_names_its_system_and_is_replayed_by_it() -> None:
    records = replay.run([opened(), put()], system=SYSTEM)
    form = record("x", "y", records, system=SYSTEM).to_json()
    assert form["system"] == "ledger"
    again = from_json(form)
    assert replay.replay(again).status == "fixed"
    with pytest.raises(ValueError, match=r"trace\.system"):
        from_json(form | {"system": "clock"})
    with pytest.raises(ValueError, match=r"trace\.initial"):
        from_json(form | {"initial": {"clock": 1}})


def test_tampering_is_what_the_model_says_it_is(tmp_path: Path) -> None:
    with LedgerTarget(tmp_path / "store") as target:
        pair = LedgerLockstep(target, judge=invariants.check)
        for action in (opened(), counted("k1"), counted("k2"), closed()):
            pair.check(action)
        for kind in ("mirror-schema", "mirror-edited", "mirror-corrupt", "mirror-emptied"):
            pair.check(tamper("mirror-behind", n=1))
            pair.check(tamper(kind))
        pair.check(tamper("mirror-foreign", n=2))
        pair.check(tamper("mirror-behind", n=2))
        pair.check(opened())


def test_a_store_that_hangs_on_to_a_failed_fsync_is_seen(broken: Callable[..., None]) -> None:
    """An fsync that fails and is tried again, and believed."""
    real = disklog.sync_append

    def sync(*arguments: Any, **rest: Any) -> Any:
        try:
            return real(*arguments, **rest)
        except OSError:
            return real(*arguments, **rest)

    broken(disklog, "sync_append", sync)
    divergence = found([opened(), put("k1", fails("append-fsync"))])
    assert divergence is not None
    assert divergence.kind == "outcome"


def test_shrinking_comes_to_an_end_for_every_action() -> None:
    start = evolve(counted("k1", fails("mirror", 2)), attempt_id="t", intent={"a": [1]})
    left: list[Any] = [dies(start, "mirror:2"), compensate(undo("s1", raises="after"))]
    left.append(tamper("line-edited", line=3, n=9))
    seen: set[str] = set()
    while left:
        for simpler in SYSTEM.simpler(left.pop()):
            form = SYSTEM.action_to_json(simpler)
            assert SYSTEM.action_from_json(form, "action") == simpler
            if str(form) not in seen:
                seen.add(str(form))
                left.append(simpler)
    assert len(seen) < 1_000


def test_nothing_is_left_watching_afterwards(tmp_path: Path) -> None:
    real = os.fsync
    with LedgerTarget(tmp_path / "store") as target:
        target.apply(opened())
        target.apply(put("k1", fails("append")))
    assert os.fsync is real
    assert disk.install(None) is None
