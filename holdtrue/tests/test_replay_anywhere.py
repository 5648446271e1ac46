"""A copied trace file replays anywhere: with its fault, mended, and where it fits no more."""

import json
from pathlib import Path
from typing import Any

import pytest

from holdtrue.tests.planted import SOUND, run, save, trace_of

KILL = ("in-place-write", "kill", False)
FAULT = ("in-place-write", "disk fault", False)
WALK = ("capacity-off-by-one", "walk", False)
LEDGER_KILL = ("half-built-mirrors-stay", "kill", True)
LEDGER_WALK = ("commit-before-append", "corpus", True)
EVERY = (KILL, FAULT, WALK, LEDGER_KILL, LEDGER_WALK)
Case = tuple[str, str, bool]


def copied(case: Case, folder: Path, **changes: Any) -> str:
    """The trace of `case`, alone in `folder`; its file's name."""
    fault, way, ledger = case
    return save({**trace_of(fault, way, ledger=ledger), **changes}, folder / "copied.json").name


@pytest.mark.parametrize("case", EVERY, ids=lambda case: f"{case[0]}-{case[1]}")
def test_a_copied_trace_still_fails_with_its_fault_and_is_fixed_without(case: Case, tmp_path: Path) -> None:
    name = copied(case, tmp_path)
    failing = run(case[0], "replay", name, cwd=tmp_path, ledger=case[2])
    assert failing.returncode == 1, failing.stderr
    assert failing.stdout.splitlines()[-1].startswith("STILL FAILING  ")
    fixed = run(SOUND, "replay", name, cwd=tmp_path)
    assert fixed.returncode == 0, fixed.stderr
    assert fixed.stdout.splitlines()[-1].startswith("FIXED  ")
    assert not any(">" in line[:6] for line in fixed.stdout.splitlines()), "nothing is marked as wrong"
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("case", [KILL, LEDGER_KILL], ids=["coordinator", "ledger"])
def test_a_kill_at_a_point_that_is_gone_has_drifted(case: Case, tmp_path: Path) -> None:
    kills = trace_of(case[0], case[1], ledger=case[2])["kills"]
    broken = {"kills": [{**kills[0], "n": 999}, *kills[1:]]}
    if not kills:
        pytest.fail("the trace has no kill")
    ended = run(SOUND, "replay", copied(case, tmp_path, **broken), cwd=tmp_path)
    assert ended.returncode == 3, ended.stderr
    last = ended.stdout.splitlines()[-1]
    assert last.startswith("DRIFTED  ")
    assert f"no longer comes to {kills[0]['point']} (999)" in last


@pytest.mark.parametrize("case", EVERY, ids=lambda case: f"{case[0]}-{case[1]}")
def test_a_pinned_trace_of_a_store_that_is_broken_again_fails_now_and_shows_how(
    case: Case, tmp_path: Path
) -> None:
    (tmp_path / "corpus").mkdir()
    reason = "what was once found and mended must not come back"
    name = copied(case, tmp_path)
    pinned = run(SOUND, "pin", name, "--reason", reason, "--corpus", "corpus", cwd=tmp_path)
    assert pinned.returncode == 0, pinned.stdout + pinned.stderr
    (kept,) = (tmp_path / "corpus").iterdir()
    ended = run(case[0], "replay", str(kept), cwd=tmp_path, ledger=case[2])
    *lines, last = ended.stdout.splitlines()
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert last.startswith("NOW FAILING  ")
    assert "; it held when it was " in last
    assert any("clause: " in line for line in lines), "the failure is shown"
    assert run(SOUND, "replay", str(kept), cwd=tmp_path).returncode == 0


def test_a_fault_at_a_step_that_is_gone_has_drifted(tmp_path: Path) -> None:
    fault = {**trace_of(*FAULT[:2])["fault"], "n": 999}
    ended = run(SOUND, "replay", copied(FAULT, tmp_path, fault=fault), cwd=tmp_path)
    assert (ended.returncode, ended.stdout.splitlines()[-1].split()[0]) == (3, "DRIFTED"), ended.stderr


def test_what_the_model_declines_by_now_has_drifted(tmp_path: Path) -> None:
    trace = trace_of(*KILL[:2])
    stranger = {"do": "call", "host": "nobody", "context": "c", "operation": "snapshot", "arguments": {}}
    history = [*trace["history"], {**stranger, "disturbances": []}]
    ended = run(SOUND, "replay", copied(KILL, tmp_path, history=history), cwd=tmp_path)
    assert (ended.returncode, ended.stdout.splitlines()[-1].split()[0]) == (3, "DRIFTED"), ended.stderr


def test_a_walk_that_drifted_names_and_marks_its_step(tmp_path: Path) -> None:
    trace = trace_of(*WALK[:2])
    steps = json.loads(json.dumps(trace["steps"]))
    steps[1]["expected"] = {"refused": "POLICY_DENIED", "sideEffects": "none"}
    ended = run(SOUND, "replay", copied(WALK, tmp_path, steps=steps), cwd=tmp_path)
    assert ended.returncode == 3, ended.stderr
    lines = ended.stdout.splitlines()
    assert ": step 2: the model now expects" in lines[-1]
    assert any(line.startswith("2 > ") for line in lines)


def test_a_step_that_names_what_is_not_there_has_drifted_at_that_step(tmp_path: Path) -> None:
    trace = trace_of(*WALK[:2])
    steps = [*trace["steps"][:3], {"action": {"do": "putBack", "index": 77}, "expected": {"accepted": None}}]
    ended = run(SOUND, "replay", copied(WALK, tmp_path, steps=steps), cwd=tmp_path)
    assert ended.returncode == 3, ended.stderr
    assert ": step 4: " in ended.stdout.splitlines()[-1]


@pytest.mark.parametrize("case", [KILL, FAULT, WALK], ids=["kill", "fault", "walk"])
def test_a_replay_says_what_was_on_disk_and_fits_80_columns(case: Case, tmp_path: Path) -> None:
    ended = run(case[0], "replay", copied(case, tmp_path), cwd=tmp_path)
    *lines, _ = ended.stdout.splitlines()
    assert any(line.endswith("on disk") for line in lines)
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in ended.stdout
