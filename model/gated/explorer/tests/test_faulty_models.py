"""A model that is wrong is found out by the explorer alone, by a shortest story."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from attrs import evolve

from model.explorer.budget import Budget
from model.explorer.findings import Exploration
from model.explorer.reference import explore
from model.gated import opening, receipts, recovery, transacting
from model.gated.explorer import damage, effects, transactions
from model.gated.explorer.properties import SETTLED, properties
from model.gated.explorer.schemes import Scheme
from model.gated.explorer.space import LedgerSpace
from model.gated.running import Refusal, Running
from model.gated.values import LedgerFile, Line, Mirror

Patch = pytest.MonkeyPatch


def explored(scheme: Callable[[], Scheme], *, deep: int | None = 4) -> Exploration[Any, Any]:
    """Some of these models have no end of worlds, since a ledger grows on and on: `deep` is an end."""
    space = LedgerSpace(scheme(), most=60)
    return explore(space, properties(space, ()), reduce=True, budget=Budget(depth=deep))


def story(found: Exploration[Any, Any], name: str) -> list[str]:
    """The labels of the shortest trace that breaks the property."""
    verdict = found.verdict(name)
    assert verdict.verdict == "violated", [each.id for each in found.violated]
    assert verdict.trace is not None
    return [move.label.rule for move in verdict.trace.moves]


def test_a_commit_before_its_append_is_found(monkeypatch: Patch) -> None:
    append, commit = Running._append, Running._commit
    monkeypatch.setattr(Running, "_append", commit)
    monkeypatch.setattr(Running, "_commit", append)
    found = explored(transactions.transact)
    assert story(found, "event-before-commit")[0] == "open"
    assert len(story(found, "event-before-commit")) == 2


def test_a_commit_that_is_told_though_its_append_failed_is_found(monkeypatch: Patch) -> None:
    append = Running._append

    def swallowed(self: Running, line: Line) -> None:
        try:
            append(self, line)
        except Refusal:
            return

    monkeypatch.setattr(Running, "_append", swallowed)
    found = explored(transactions.transact)
    assert story(found, "event-before-commit") == ["open", "k1 | append fails"]
    assert story(found, "acknowledged-stays") == ["open", "k1 | append fails"]


def test_a_retry_that_is_appended_twice_is_found(monkeypatch: Patch) -> None:
    monkeypatch.setattr(Running, "find", lambda _self, _name: None)
    assert story(explored(transactions.transact, deep=3), "key-has-one-effect") == ["open", "k1", "k1"]
    found = explored(effects.orders, deep=3)
    assert story(found, "receipt-stands-for-the-effect") == ["open", "steps", "steps"]


def test_a_transaction_that_does_not_catch_up_first_is_found(monkeypatch: Patch) -> None:
    monkeypatch.setattr(Running, "sync", Running.usable)
    found = explored(transactions.transact)
    told = story(found, "chain-is-whole")
    assert told in (["open", "k1 | commit fails", "k1"], ["open", "k1 | mirror fails", "k1"])


def test_a_started_step_that_runs_again_is_found(monkeypatch: Patch) -> None:
    look = receipts._look
    monkeypatch.setattr(
        receipts, "_look", lambda running, entry: None if entry.phase == "start" else look(running, entry)
    )
    found = explored(effects.receipts)
    told = story(found, "effect-at-most-once")
    assert len(told) == 3
    assert told[::2] == ["open", "steps"]
    assert "doubt-is-said" in {each.id for each in found.violated}


def test_a_torn_tail_that_is_kept_is_found(monkeypatch: Patch) -> None:
    monkeypatch.setattr(Running, "cut", lambda _self, _many: None)
    assert story(explored(transactions.transact), "recovery-converges") == [
        "open",
        "k1 † append-torn",
        "open",
    ]


def test_compensators_in_forward_order_are_found(monkeypatch: Patch) -> None:
    def forward(steps: Iterable[Any], key: object) -> list[Any]:
        del key
        return sorted(steps, key=lambda step: step.sequence)

    monkeypatch.setattr(receipts, "sorted", forward, raising=False)
    assert story(explored(effects.compensation), "steps-run-in-order") == ["open", "undo"]


def test_a_receipt_without_its_effect_is_found(monkeypatch: Patch) -> None:
    monkeypatch.setattr(Running, "run", lambda _self, _effect, _raises: None)
    assert story(explored(effects.receipts), "receipts-follow-effects") == ["open", "steps"]


def test_a_step_without_its_start_is_found(monkeypatch: Patch) -> None:
    required = receipts._required

    def lax(running: Running, entry: Any) -> Any:
        return None if entry.phase == "start" else required(running, entry)

    monkeypatch.setattr(receipts, "_required", lax)
    assert len(story(explored(effects.receipts), "started-before-effect")) == 2


def test_a_verifier_that_is_not_asked_is_found(monkeypatch: Patch) -> None:
    staged = transacting._staged

    def unasked(running: Running, action: Any, requested: str) -> Line:
        return staged(running, evolve(action, verifier=True), requested)

    monkeypatch.setattr(transacting, "_staged", unasked)
    found = explored(transactions.verify)
    assert story(found, "verifier-keeps-the-gate") == ["open", "v1, said no"]


def test_a_conflict_that_is_answered_is_found(monkeypatch: Patch) -> None:
    gated = Running.gated

    def agreeable(running: Running, name: Any, judge: Any, build: Any) -> Any:
        del judge
        return gated(running, name, lambda _known: None, build)

    monkeypatch.setattr(Running, "gated", agreeable)
    told = story(explored(transactions.gate), "other-request-conflicts")
    assert told[0] == "open"
    assert set(told[1:]) == {"k1", "k1, other intent"}


def test_a_mirror_ahead_that_is_rebuilt_is_found(monkeypatch: Patch) -> None:
    whole = recovery.whole

    def lenient(ledger: LedgerFile, mirror: Any) -> Any:
        ahead = isinstance(mirror, Mirror) and mirror.sequence > len(ledger.lines)
        return whole(ledger, "missing" if ahead else mirror)

    monkeypatch.setattr(recovery, "whole", lenient)
    told = story(explored(damage.tampering_once), "nothing-lost-in-silence")
    assert [told[0], told[1], told[-1]] == ["open", "k1", "open"]
    assert len(told) == 4


def test_a_refusal_that_cuts_first_is_found(monkeypatch: Patch) -> None:
    step = opening.open_ledger

    def broken(running: Running, action: Any) -> Any:
        try:
            return step(running, action)
        except Refusal as refusal:
            if refusal.code == "LEDGER_INTEGRITY_FAILED":
                running.mirror = "missing"
            raise

    monkeypatch.setattr("model.gated.stepping.open_ledger", broken)
    told = story(explored(damage.tampering_once), "damage-is-left-alone")
    assert told[-1] == "open"


def test_a_store_that_nobody_can_open_again_is_found(monkeypatch: Patch) -> None:
    replay = Running.replay

    def failing(self: Running, mirror: Mirror, missing: tuple[Line, ...]) -> Mirror:
        if missing:
            raise Refusal("SQLITE_MIRROR_FAILED", "in_doubt")
        return replay(self, mirror, missing)

    monkeypatch.setattr(Running, "replay", failing)
    found = explored(transactions.transact, deep=None)
    told = story(found, SETTLED)
    assert told[0] == "open"
    assert len(told) == 2
    assert "nothing-gets-stuck" in {each.id for each in found.violated}


def test_each_story_is_the_shortest_though_others_are_broken_as_well(monkeypatch: Patch) -> None:
    monkeypatch.setattr(Running, "find", lambda _self, _name: None)
    monkeypatch.setattr(Running, "cut", lambda _self, _many: None)
    found = explored(transactions.transact)
    assert len(story(found, "key-has-one-effect")) == 3
    assert len(story(found, "recovery-converges")) == 3
