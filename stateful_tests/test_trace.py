"""Traces survive a file, replay, and say clearly what is wrong with one that can't be read."""

import json
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from model.actions import Action, AdvanceClock, Call, PutBack
from stateful_tests import clauses, replay
from stateful_tests.lockstep import StepRecord
from stateful_tests.stories import Step, at, committed, opened, proof, reserve, says, snapshot
from stateful_tests.target import Answered, Result, StoreTarget
from stateful_tests.trace import Trace, TraceError, TraceStep, from_json, load, record, save


class Forgetful(StoreTarget):
    """A store that answers snapshots with nothing: something to find."""

    def apply(self, action: Action) -> Result:
        result = super().apply(action)
        return Answered(None) if isinstance(action, Call) and action.operation == "snapshot" else result


def _actions(*steps: Step | list[Step]) -> list[Action]:
    flat = [one for step in steps for one in (step if isinstance(step, list) else [step])]
    return [one[1] if isinstance(one, tuple) else one for one in flat]


def _records(*, factory: replay.Factory = StoreTarget) -> tuple[StepRecord, ...]:
    odd = reserve(2, at("authorize", says(proof(1, 1, proofId="\ud800"))), ttl=2**60)
    return replay.run(_actions(opened(), committed(), odd, PutBack(9), snapshot()), factory=factory)


@pytest.fixture
def trace() -> Trace:
    return record("a-story", "to be read again", _records(), seed=7, profile="quick")


def test_a_trace_survives_a_file(trace: Trace, tmp_path: Path) -> None:
    path = tmp_path / "new" / "t.json"
    save(trace, path)
    assert load(path) == trace
    assert [one.name for one in path.parent.iterdir()] == ["t.json"]


def test_saving_replaces_what_was_there_or_leaves_it(trace: Trace, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    save(trace, path)
    before = path.read_bytes()
    broken = evolve(trace, steps=(TraceStep(AdvanceClock(1), expected={1, 2}),))  # type: ignore[arg-type]  # no JSON
    with pytest.raises(TypeError):
        save(broken, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_trace_without_a_divergence_replays_as_fixed(trace: Trace) -> None:
    result = replay.replay(trace)
    assert (result.status, result.index) == ("fixed", None)
    assert len(result.records) == len(trace.steps)


def test_a_divergence_is_recorded_and_replays_as_failing() -> None:
    trace = record("x", "y", _records(factory=Forgetful))
    assert trace.clause == clauses.ANSWER
    assert isinstance(trace.divergence, dict)
    assert trace.divergence["name"] == "snapshot"
    result = replay.replay(trace, factory=Forgetful)
    assert (result.status, result.index) == ("failing", len(trace.steps) - 1)
    assert replay.replay(trace).status == "fixed"


def test_a_violated_invariant_is_looked_for_again() -> None:
    records = replay.run(_actions(opened()), judge=lambda *_: ("S8",))
    trace = record("x", "y", records)
    assert (trace.clause, len(trace.steps)) == ("S8", 1)
    assert replay.replay(trace, judge=lambda *_: ("S8",)).status == "failing"
    assert replay.replay(trace).status == "fixed", "the model's own invariants were judged, and hold"


def test_another_expectation_is_drift(trace: Trace) -> None:
    steps = list(trace.steps)
    steps[1] = evolve(steps[1], expected={"refused": "AUTHORITY_REVOKED", "sideEffects": "none"})
    result = replay.replay(evolve(trace, steps=tuple(steps)))
    assert (result.status, result.index) == ("drifted", 1)
    assert result.sentence.startswith("the model now expects ")
    assert "was recorded (outcome" in result.sentence


def test_a_difference_elsewhere_is_drift(trace: Trace) -> None:
    recorded: dict[str, Any] = {"index": 0, "kind": "outcome", "name": "reserve"}
    result = replay.replay(evolve(trace, divergence=recorded), factory=Forgetful)
    assert (result.status, result.index) == ("drifted", len(trace.steps) - 1)


def test_a_trace_that_recorded_no_failure_fails_now_where_the_store_differs(trace: Trace) -> None:
    """As a pinned one does: it has drifted only if the model has."""
    result = replay.replay(trace, factory=Forgetful)
    assert (result.status, result.index) == ("now failing", len(trace.steps) - 1)
    assert result.divergence is not None
    assert result.sentence == f"{result.divergence.title}; it held when it was recorded"
    *steps, last = trace.steps
    other = evolve(trace, steps=(*steps, evolve(last, expected={"refused": "POLICY_DENIED"})))
    assert replay.replay(other, factory=Forgetful).status == "drifted"
    bare = evolve(trace, steps=tuple(evolve(step, expected=None) for step in trace.steps))
    assert replay.replay(bare, factory=Forgetful).status == "now failing"


def test_a_trace_starts_where_it_says(trace: Trace) -> None:
    initial: dict[str, Any] = {"clock": 5, "dropped": ["parked-stays"]}
    world = evolve(trace, initial=initial).world()
    assert world.clock == 5
    assert world.dropped == frozenset({"parked-stays"})


BAD_FILES: dict[str, tuple[bytes, str]] = {
    "no JSON": (b'{"schema_version": 1,', "no JSON"),
    "no UTF-8": (b'"\xff"', "byte 1 is no UTF-8"),
    "a list": (b"[]", "a JSON object is expected"),
    "too deep": (b"[" * 200_000, "nested too deeply"),
    "two of a key": (b'{"name": "a", "name": "b"}', "a key stands twice in one object"),
    "empty": (b"", ":1:1: no JSON"),
}


@pytest.mark.parametrize("what", BAD_FILES)
def test_a_file_that_is_no_trace_is_named_with_its_fault(tmp_path: Path, what: str) -> None:
    path = tmp_path / "t.json"
    content, said = BAD_FILES[what]
    path.write_bytes(content)
    with pytest.raises(TraceError) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert said in str(caught.value)


@pytest.mark.parametrize("path", ["missing.json", "."])
def test_a_path_that_can_not_be_opened_is_named(tmp_path: Path, path: str) -> None:
    with pytest.raises(TraceError, match="can't be opened"):
        load(tmp_path / path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema_version": 2}, "trace.schema_version: 2"),
        ({"schema_version": True}, "trace.schema_version"),
        ({"name": None}, "trace.name"),
        ({"steps": {}}, "trace.steps"),
        ({"seed": "7"}, "trace.seed"),
        ({"more": 1}, "unknown field 'more'"),
        ({"steps": [1]}, "trace.steps[0]"),
        ({"steps": [{"expected": 1}]}, "trace.steps[0]"),
        ({"steps": [{"action": {"do": "fly"}}]}, "trace.steps[0].action"),
        ({"steps": [{"action": {"do": "advanceClock", "ms": "1"}}]}, "trace.steps[0].action.ms"),
        ({"initial": {"clock": 1.5}}, "trace.initial.clock"),
        ({"initial": {"dropped": "all"}}, "trace.initial.dropped"),
        ({"initial": {"lease": 1}}, "unknown field 'lease'"),
    ],
)
def test_a_fault_in_a_trace_is_named_with_its_place(trace: Trace, change: dict[str, Any], said: str) -> None:
    data = json.loads(json.dumps(trace.to_json())) | change
    with pytest.raises(TraceError) as caught:
        from_json(data)
    assert said in str(caught.value)


def test_a_missing_field_is_named(trace: Trace) -> None:
    data = trace.to_json()
    del data["steps"]
    with pytest.raises(TraceError, match=r"trace\.steps: missing"):
        from_json(data)
