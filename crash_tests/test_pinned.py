"""Every pinned kill, fault and tampering holds today and says why it is kept; a check performs them all."""

import json
from pathlib import Path

import pytest

from crash_tests import pinned, replays
from crash_tests.jobs import plan_kills, run_pinned
from crash_tests.oracle import Violation
from crash_tests.reading import StoryError
from crash_tests.replays import MENDED, Replay, judged, replay_trace


@pytest.mark.parametrize("name", pinned.names())
def test_a_pinned_trace_holds_and_says_why(name: str) -> None:
    assert len(pinned.load(name)["why"]) > 20
    assert pinned.checked(name) is None


def test_both_systems_are_there() -> None:
    systems = {pinned.load(name).get("system", "coordinator") for name in pinned.names()}
    assert systems == {"coordinator", "ledger"}


def test_a_check_performs_each_of_them() -> None:
    plan = plan_kills("quick", 0)
    (job,) = [job for job in plan.jobs if job.runner.endswith(":run_pinned")]
    assert job.params["names"] == list(pinned.names())
    assert all(plan.floors[f"pinned/{name}"] == 1 for name in pinned.names())


def test_one_that_fails_again_is_a_failure_with_its_story(monkeypatch: pytest.MonkeyPatch) -> None:
    name = pinned.names()[0]
    found = Violation("C6", "two temporary files stand there")
    monkeypatch.setattr(pinned, "replay_trace", lambda _: Replay("failing", found.title, violation=found))
    seen = run_pinned({"names": [name]})
    (failure,) = seen.failures
    assert seen.counts == {f"pinned/{name}": 1}
    assert failure.clause == "C6"
    assert failure.title == f"pinned trace {name} failing: two temporary files stand there"
    told = json.loads(json.dumps(failure.trace))
    assert told["violation"]["title"] == found.title
    assert MENDED not in told, "what is found by a check still fails when it is replayed"


@pytest.mark.parametrize("name", pinned.names())
def test_whatever_rule_is_broken_one_that_was_mended_fails_now(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = pinned.load(name)
    assert trace[MENDED] is True
    for clause in (trace["clause"], "another rule"):
        found = judged(trace["clause"], Violation(clause, "it went wrong"))
        monkeypatch.setattr(replays, "_performed", lambda *_, found=found: found)
        now = replay_trace(trace)
        assert (now.status, now.sentence) == ("now failing", "it went wrong; it held when it was pinned")
        assert replay_trace({**trace, MENDED: False}).status == found.status
    with pytest.raises(StoryError, match="mended: true or false is needed"):
        replay_trace({**trace, MENDED: "yes"})


def test_a_file_that_says_something_twice_is_no_trace(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"name": "a", "name": "b"}', encoding="ascii")
    with pytest.raises(StoryError, match=r"a\.json: a key stands twice"):
        pinned.load("a", tmp_path)
