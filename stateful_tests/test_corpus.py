"""Every pinned trace holds today, says why it is kept, and together they cover what they are there for."""

from pathlib import Path

import pytest

from model.outcomes import CODES
from stateful_tests import floors, pinned, replay
from stateful_tests.coverage import Coverage
from stateful_tests.lockstep import Lockstep
from stateful_tests.replay import workspace
from stateful_tests.results import below_floor
from stateful_tests.stories.__main__ import STORIES, main
from stateful_tests.system import COORDINATOR, system_named
from stateful_tests.target import StoreTarget

IN_ONE_PROCESS = (
    "c1",
    "c2",
    "c3",
    "c4",
    "c5",
    "c6",
    "c8",
    "c9",
    "c10",
    "c11",
    "c12",
    "c14",
    "c15",
    "c16",
    "c17",
)
"""The fixes that a single process, driven by actions, can show."""


@pytest.mark.parametrize("name", pinned.names())
def test_a_pinned_trace_holds(name: str) -> None:
    trace = pinned.pinned(name)
    assert (trace.system == "ledger") == name.startswith(pinned.LEDGERS)
    result = replay.replay(trace, judge=system_named(trace.system).judge)
    assert (result.status, result.sentence) == ("fixed", "model and store agree at every step")


def test_every_story_is_pinned_and_says_why() -> None:
    assert {story.name for story in STORIES} <= set(pinned.names())
    for name in pinned.names():
        trace = pinned.pinned(name)
        assert trace.name == name
        assert len(trace.why) > 20
        assert trace.divergence is None


def test_writing_the_stories_anew_changes_nothing_and_loses_no_trace_pinned_by_hand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "by-hand.json").write_text("{}")
    assert main(tmp_path) == 0
    assert "by-hand.json: no story tells it" in capsys.readouterr().out
    assert (tmp_path / "by-hand.json").read_text() == "{}"
    for story in STORIES:
        name = f"{story.name}.json"
        assert (tmp_path / name).read_bytes() == (pinned.DIRECTORY / name).read_bytes(), name


@pytest.mark.parametrize("fix", IN_ONE_PROCESS)
def test_each_fix_that_one_process_can_show_has_a_trace(fix: str) -> None:
    assert any(name.startswith(f"{fix}-") for name in pinned.names())


def test_the_corpus_alone_reaches_every_operation_with_every_outcome_every_moment_and_damage() -> None:
    coverage = Coverage()
    with workspace() as root:
        for name in pinned.names(COORDINATOR):
            trace = pinned.pinned(name)
            with StoreTarget(root / name) as target:
                pair = Lockstep(target, trace.world())
                for action in trace.actions:
                    before = pair.world
                    coverage.see(before, pair.step(action), pair.world)
    codes = {key.rpartition("/")[2] for key in coverage.counts if key.startswith("rule/")}
    assert codes == {*CODES, "accepted"}
    assert below_floor(coverage.counts, floors.conformance(1)) == ()
