"""The lockstep sees each kind of difference, and stays silent where there is none."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from model.actions import (
    Action,
    AdvanceClock,
    Call,
    Damage,
    Disturbance,
    Happens,
    LeaveTemp,
    PutBack,
    SetLease,
)
from model.outcomes import Declined
from stateful_tests.lockstep import DivergedError, Lockstep, StepRecord
from stateful_tests.observe import Observation
from stateful_tests.stories import Step, at, committed, ended, on, opened, reserve, snapshot
from stateful_tests.target import Answered, Crashed, Refusal, Result, StoreTarget

Lie = Callable[[Result], Result]
Blind = Callable[[Observation], Observation]


class Liar(StoreTarget):
    """A store whose results and looks are falsified from a given action on."""

    lie: Lie | None = None
    blind: Blind | None = None

    def apply(self, action: Action) -> Result:
        result = super().apply(action)
        return result if self.lie is None else self.lie(result)

    def observe(self) -> Observation:
        seen = super().observe()
        return seen if self.blind is None else self.blind(seen)


@pytest.fixture
def pair(tmp_path: Path) -> Lockstep:
    return Lockstep(Liar(tmp_path / "store"))


def _liar(pair: Lockstep) -> Liar:
    assert isinstance(pair.target, Liar)
    return pair.target


def walk(pair: Lockstep, *steps: Step | list[Step]) -> StepRecord:
    """Takes `steps`, which must all agree; gives the last record."""
    record = None
    for step in steps:
        for one in step if isinstance(step, list) else [step]:
            record = pair.check(one[1] if isinstance(one, tuple) else one)
    assert record is not None
    return record


def _raise_seq(value: Any) -> Any:
    return {**value, "commitSeq": value["commitSeq"] + 1}


LIES: dict[str, tuple[Lie, str]] = {
    "refuses": (lambda _: Refusal("CAPACITY_EXCEEDED"), "outcome"),
    "answers something else": (lambda _: Answered({"commitSeq": 1}), "answer"),
    "answers nothing": (lambda _: Answered(None), "answer"),
    "crashes": (lambda _: Crashed("KeyError"), "crashed"),
}


@pytest.mark.parametrize("what", LIES)
def test_a_false_result_is_a_difference(pair: Lockstep, what: str) -> None:
    lie, kind = LIES[what]
    walk(pair, opened())
    _liar(pair).lie = lie
    record = pair.step(snapshot())
    assert record.divergence is not None
    assert record.divergence.kind == kind
    assert record.divergence.name == "snapshot"


@pytest.mark.parametrize(
    ("lie", "kind"),
    [
        (lambda _: Answered(None), "outcome"),
        (lambda _: Refusal("CAPACITY_EXCEEDED"), "code"),
        (lambda _: Refusal("ADMISSION_BINDING_CONFLICT", "unknown"), "side-effects"),
    ],
)
def test_a_false_refusal_is_a_difference(pair: Lockstep, lie: Lie, kind: str) -> None:
    walk(pair, opened())
    _liar(pair).lie = lie
    record = pair.step(on("renew", 1, ttlMs=5))
    assert record.divergence is not None
    assert record.divergence.kind == kind


LOOKS: dict[str, Blind] = {
    "store": lambda seen: evolve(seen, store=_raise_seq(seen.store)),
    "problem": lambda seen: evolve(seen, problems=("S2",)),
    "identity": lambda seen: evolve(seen, identity=False),
    "temps": lambda seen: evolve(seen, temps=1),
    "ledgers": lambda seen: evolve(seen, facts={"a": {}}),
    "launches": lambda seen: evolve(seen, launched=("a",)),
    "bytes": lambda seen: evolve(seen, fingerprint=(b"", b"")),
}


@pytest.mark.parametrize("kind", LOOKS)
def test_a_false_look_is_a_difference(pair: Lockstep, kind: str) -> None:
    walk(pair, opened(), committed(), snapshot())
    _liar(pair).blind = LOOKS[kind]
    record = pair.step(snapshot())
    assert record.divergence is not None
    assert record.divergence.kind == kind


def test_a_store_that_is_gone_is_a_difference(pair: Lockstep) -> None:
    walk(pair, opened())
    _liar(pair).blind = lambda seen: evolve(seen, store=None)
    record = pair.step(snapshot())
    assert record.divergence is not None
    assert record.divergence.kind == "store"


def test_a_refused_operation_that_writes_is_seen_by_its_bytes(pair: Lockstep) -> None:
    walk(pair, opened(), reserve(1))
    state = _liar(pair).files.directory / "coordinator.json"
    backwards = dict(reversed(json.loads(state.read_bytes()).items()))

    def rewrites(result: Result) -> Result:
        # The same state in another order of its keys: no difference but the bytes.
        state.write_text(json.dumps(backwards, separators=(",", ":")) + "\n")
        return result

    _liar(pair).lie = rewrites
    record = pair.step(on("renew", 9, ttlMs=5))
    assert record.divergence is not None
    assert record.divergence.kind == "bytes"


def test_a_declined_action_is_not_sent(pair: Lockstep) -> None:
    walk(pair, opened())
    _liar(pair).lie = lambda _: Crashed("it was sent")
    record = pair.step(PutBack(7))
    assert isinstance(record.expected, Declined)
    assert record.observed is None
    assert record.divergence is None


def test_a_violated_invariant_is_a_difference(tmp_path: Path) -> None:
    pair = Lockstep(StoreTarget(tmp_path / "store"), judge=lambda *_: ("S8",))
    record = pair.step(SetLease(None))
    assert record.divergence is not None
    assert record.divergence.signature == ("invariant", "S8", "setLease")


def test_check_raises_with_the_record(pair: Lockstep) -> None:
    walk(pair, opened())
    _liar(pair).lie = lambda _: Crashed("it broke")
    with pytest.raises(DivergedError) as caught:
        pair.check(snapshot())
    assert caught.value.record.divergence is not None
    assert "it broke" in str(caught.value)


def test_what_happens_meanwhile_happens_on_both_sides(pair: Lockstep) -> None:
    record = walk(
        pair,
        opened(),
        committed(),
        snapshot(at("authorize", AdvanceClock(5)), at("read_lease", LeaveTemp())),
        snapshot(at("authorize", PutBack(1), 2)),
        Call("h1", "alice", "snapshot"),
    )
    assert record.divergence is None
    assert pair.world.clock == _liar(pair).around.clock


def test_what_struck_is_told_and_what_did_not_is_not(pair: Lockstep) -> None:
    walk(pair, opened())
    missed = Disturbance("read_lease", 9, Happens(AdvanceClock(1)))
    record = walk(pair, snapshot(at("authorize", AdvanceClock(5)), missed))
    assert record.struck == ("moment/authorize/happens", "meanwhile/advanceClock")


def test_while_damaged_nothing_else_changes(pair: Lockstep) -> None:
    walk(pair, opened(), committed(), ended(), Damage("state-bitflip"))
    damaged = _liar(pair).files.directory / "coordinator.json"

    def mends_it(result: Result) -> Result:
        damaged.write_bytes(b"{}\n")
        return result

    _liar(pair).lie = mends_it
    record = pair.step(snapshot())
    assert record.divergence is not None
    assert record.divergence.kind == "bytes"
