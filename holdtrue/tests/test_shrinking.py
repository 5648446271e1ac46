"""`replay --shrink`: from a trace's file to a shorter one that fails in the same way, the same each time."""

import json
from pathlib import Path
from typing import Any

import pytest

from holdtrue.tests.planted import SOUND, run, save, trace_of

FAULT = "capacity-off-by-one"


def padded(trace: dict[str, Any]) -> dict[str, Any]:
    """The trace of a walk with harmless steps between the others."""
    idle = {"action": {"do": "readEpoch"}, "expected": None, "observed": None}
    steps = [one for step in trace["steps"][:-1] for one in (step, idle, idle)]
    made = [*steps, trace["steps"][-1]]
    divergence = {**trace["divergence"], "index": len(made) - 1}
    return {**trace, "steps": made, "divergence": divergence}


def test_a_long_walk_becomes_as_short_as_it_was(tmp_path: Path) -> None:
    short = trace_of(FAULT, "walk")
    save(padded(short), tmp_path / "long.json")
    ended = run(FAULT, "replay", "--shrink", "long.json", cwd=tmp_path)
    assert ended.returncode == 1, ended.stderr
    lines = ended.stdout.splitlines()
    assert any(line.startswith("from 10 steps to 4, in ") for line in lines), lines
    assert "written: long-shrunk.json" in lines
    assert lines[-1].startswith("STILL FAILING  ")
    made = json.loads((tmp_path / "long-shrunk.json").read_text("utf-8"))
    assert [step["action"]["do"] for step in made["steps"]] == ["setLease", "open", "call", "call"]
    assert (made["seed"], made["why"]) == (short["seed"], short["why"])
    assert run(FAULT, "replay", "long-shrunk.json", cwd=tmp_path).returncode == 1
    assert run(SOUND, "replay", "long-shrunk.json", cwd=tmp_path).returncode == 0


def test_a_pinned_walk_that_fails_now_becomes_shorter_too(tmp_path: Path) -> None:
    held = {**padded(trace_of(FAULT, "walk")), "divergence": None, "clause": None}
    save(held, tmp_path / "pinned.json")
    ended = run(FAULT, "replay", "--shrink", "pinned.json", cwd=tmp_path)
    assert ended.returncode == 1, ended.stderr
    assert "from 10 steps to 4, in " in ended.stdout
    assert ended.stdout.splitlines()[-1].startswith("STILL FAILING  "), "what was written records its failure"


def test_the_same_trace_shrinks_to_the_same_bytes(tmp_path: Path) -> None:
    save(padded(trace_of(FAULT, "walk")), tmp_path / "long.json")
    for name in ("one", "two"):
        assert run(FAULT, "replay", "--shrink", "-o", name, "long.json", cwd=tmp_path).returncode == 1
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_tries_that_were_used_up_are_said(tmp_path: Path) -> None:
    save(padded(trace_of(FAULT, "walk")), tmp_path / "long.json")
    ended = run(FAULT, "replay", "--shrink", "--tries", "3", "long.json", cwd=tmp_path)
    told = " ".join(ended.stdout.split())
    assert "nothing shorter was found in 3 tries; the tries were used up: --tries N allows more" in told


def test_a_kill_loses_the_history_that_it_does_not_take(tmp_path: Path) -> None:
    trace = trace_of("in-place-write", "kill")
    lease = trace["history"][0]
    idle = {"do": "advanceClock", "ms": 5}
    save({**trace, "history": [lease, idle, lease, idle, *trace["history"]]}, tmp_path / "kill.json")
    ended = run("in-place-write", "replay", "--shrink", "-o", "short.json", "kill.json", cwd=tmp_path)
    assert ended.returncode == 1, ended.stderr
    assert "from 6 steps to 2, in " in ended.stdout
    made = json.loads((tmp_path / "short.json").read_text("utf-8"))
    assert made["history"] == trace["history"]
    assert made["kills"][0]["left"]["files"]
    assert run("in-place-write", "replay", "short.json", cwd=tmp_path).returncode == 1


@pytest.mark.parametrize("kill", [False, True])
def test_what_does_not_fail_is_left_alone(kill: bool, tmp_path: Path) -> None:
    trace = trace_of("in-place-write", "kill") if kill else trace_of(FAULT, "walk")
    save(trace, tmp_path / "t.json")
    ended = run(SOUND, "replay", "--shrink", "t.json", cwd=tmp_path)
    assert ended.returncode == 0
    assert "nothing to shrink: the trace does not fail today" in ended.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["t.json"]


def test_no_file_is_overwritten_unasked_and_a_bad_target_is_a_usage_error(tmp_path: Path) -> None:
    save(trace_of(FAULT, "walk"), tmp_path / "t.json")
    (tmp_path / "t-shrunk.json").write_text("precious", encoding="utf-8")
    ended = run(FAULT, "replay", "--shrink", "t.json", cwd=tmp_path)
    assert (ended.returncode, (tmp_path / "t-shrunk.json").read_text("utf-8")) == (2, "precious")
    for bad in (".", "no/such/folder/x", ""):
        ended = run(FAULT, "replay", "--shrink", "-o", bad, "t.json", cwd=tmp_path)
        assert (ended.returncode, "-o" in ended.stderr) == (2, True), ended.stderr
