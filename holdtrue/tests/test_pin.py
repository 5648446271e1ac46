"""`pin`: a trace and a reason, and every check replays it; what is no use in the corpus is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from holdtrue.replay import check_trace
from holdtrue.tests.planted import SOUND, run, save, trace_of

REASON = "the last slot was given twice when two owners reserved at once"
WALK, KILL = "capacity-off-by-one", "in-place-write"


def pin(fault: str, folder: Path, *more: str, reason: str = REASON) -> tuple[int, str]:
    """Pins `trace.json` of `folder` in its folder `corpus`; the exit code, and all that was said."""
    (folder / "corpus").mkdir(exist_ok=True)
    ended = run(fault, "pin", "trace.json", "--reason", reason, "--corpus", "corpus", *more, cwd=folder)
    return ended.returncode, ended.stdout + ended.stderr


def in_corpus(folder: Path) -> dict[str, Any]:
    return {path.stem: json.loads(path.read_text("utf-8")) for path in (folder / "corpus").iterdir()}


def test_a_mended_walk_is_pinned_with_what_holds_today(tmp_path: Path) -> None:
    trace = trace_of(WALK, "walk")
    save(trace, tmp_path / "trace.json")
    code, told = pin(SOUND, tmp_path)
    assert code == 0, told
    assert told.splitlines()[-1] == "PINNED  reserve-outcome"
    (kept,) = in_corpus(tmp_path).values()
    assert kept["why"] == f"{REASON}. Once it showed a violation of: {trace['clause']}"
    assert (kept["divergence"], kept["clause"], kept["name"]) == (None, None, "reserve-outcome")
    assert [step["action"] for step in kept["steps"]] == [step["action"] for step in trace["steps"]]
    assert kept["steps"][-1]["expected"]["refused"] == "CAPACITY_EXCEEDED"
    check_trace(kept)


def test_a_mended_kill_is_pinned_too(tmp_path: Path) -> None:
    save(trace_of(KILL, "kill"), tmp_path / "trace.json")
    code, told = pin(SOUND, tmp_path)
    assert code == 0, told
    ((name, kept),) = in_corpus(tmp_path).items()
    assert name == "genesis-state-create-after"
    assert kept["why"].startswith(REASON)
    check_trace(kept)


@pytest.mark.parametrize(("fault", "way"), [(WALK, "walk"), (KILL, "kill")])
def test_what_still_fails_is_pinned_only_if_asked_for(fault: str, way: str, tmp_path: Path) -> None:
    save(trace_of(fault, way), tmp_path / "trace.json")
    code, told = pin(fault, tmp_path)
    assert (code, in_corpus(tmp_path)) == (1, {})
    assert "mend the store first, or pin it with --failing" in " ".join(told.split())
    assert told.splitlines()[-1] == "NOT PINNED  trace.json"
    code, told = pin(fault, tmp_path, "--failing")
    assert code == 0, told
    assert "it still fails" in told
    (kept,) = in_corpus(tmp_path).values()
    check_trace(kept)  # the store of this process has no fault
    save(kept, tmp_path / "kept.json")
    ended = run(fault, "replay", "kept.json", cwd=tmp_path)
    assert (ended.returncode, ended.stdout.splitlines()[-1][:15]) == (1, "STILL FAILING  "), ended.stderr


def test_what_is_there_already_is_refused_under_any_name(tmp_path: Path) -> None:
    for fault, way in ((WALK, "walk"), (KILL, "kill")):
        save(trace_of(fault, way), tmp_path / "trace.json")
        assert pin(SOUND, tmp_path)[0] == 0
        before = in_corpus(tmp_path)
        code, told = pin(SOUND, tmp_path, "--name", "another-name")
        assert (code, in_corpus(tmp_path)) == (2, before)
        assert "pinned already" in told


@pytest.mark.parametrize(
    ("more", "reason", "told"),
    [
        ((), "bug", "too short"),
        ((), " \n ", "too short"),
        (("--name", "../evil"), REASON, "no name for a pinned trace"),
        (("--name", "ledger-x"), REASON, "those of the ledger's traces"),
        (("--name", ""), REASON, "no name for a pinned trace"),
    ],
)
def test_a_reason_and_a_name_are_needed(
    more: tuple[str, ...], reason: str, told: str, tmp_path: Path
) -> None:
    save(trace_of(WALK, "walk"), tmp_path / "trace.json")
    code, said = pin(SOUND, tmp_path, *more, reason=reason)
    assert (code, in_corpus(tmp_path)) == (2, {})
    assert told in said
    assert run(SOUND, "pin", "trace.json", cwd=tmp_path).returncode == 2


def test_what_no_longer_fits_is_refused(tmp_path: Path) -> None:
    trace = json.loads(json.dumps(trace_of(WALK, "walk")))
    trace["steps"][0]["expected"] = {"refused": "POLICY_DENIED", "sideEffects": "none"}
    save({**trace, "divergence": None, "clause": None}, tmp_path / "trace.json")
    code, told = pin(SOUND, tmp_path)
    assert (code, in_corpus(tmp_path)) == (3, {})
    assert "it no longer fits at step 1" in " ".join(told.split())


def test_what_is_no_trace_and_what_is_a_race_are_usage_errors(tmp_path: Path) -> None:
    race = {"kind": "kill", "trial": "race", "name": "slots", "clause": "S10", "schema_version": 1}
    others: tuple[Any, ...] = (race, {}, [], {"kind": "kill"})
    for other in others:
        save(other, tmp_path / "trace.json")
        code, _ = pin(SOUND, tmp_path)
        assert (code, in_corpus(tmp_path)) == (2, {})
    ended = run(SOUND, "pin", "trace.json", "--reason", REASON, "--corpus", "nowhere", cwd=tmp_path)
    assert (ended.returncode, "--corpus" in ended.stderr) == (2, True)
