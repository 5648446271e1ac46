"""`replay`: FIXED, STILL FAILING or DRIFTED, from a file alone; what is no trace is a usage error."""

import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdtrue.exits import Exit, UsageError
from holdtrue.out import Printer
from holdtrue.replay import LARGEST, replay_file

CORPUS = sorted((Path(__file__).resolve().parents[2] / "stateful_tests" / "corpus").glob("*.json"))


def replayed(path: Path) -> tuple[int, list[str]]:
    stream = io.StringIO()
    code = replay_file(path, Printer(stream))
    return code, stream.getvalue().splitlines()


def doctored(directory: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """A corpus trace that accepts something, with `change` made to it, as a file in `directory`."""
    for path in CORPUS:
        trace = json.loads(path.read_text("utf-8"))
        if any("accepted" in step["expected"] for step in trace["steps"]):
            change(trace)
            made = directory / "doctored.json"
            made.write_text(json.dumps(trace), encoding="utf-8")
            return made
    raise AssertionError("the corpus has no trace that accepts anything")


def claim_another_outcome(trace: dict[str, Any]) -> None:
    step = next(step for step in trace["steps"] if "accepted" in step["expected"])
    step["expected"] = {"refused": "POLICY_DENIED", "sideEffects": "none"}


def claim_a_divergence(trace: dict[str, Any]) -> None:
    trace["divergence"] = {"index": 0, "kind": "code", "clause": "x", "name": "open", "differences": []}
    trace["clause"] = "x"


def another_version(trace: dict[str, Any]) -> None:
    trace["schema_version"] = 99


def unknown_action(trace: dict[str, Any]) -> None:
    trace["steps"][0]["action"] = {"do": "levitate"}


@pytest.mark.parametrize("path", CORPUS[:: max(1, len(CORPUS) // 5)], ids=lambda path: path.stem)
def test_a_pinned_trace_is_fixed(path: Path) -> None:
    code, lines = replayed(path)
    assert code == Exit.PASSED
    assert lines[-1].startswith(f"FIXED  {path.stem}: model and store agree")
    assert max(map(len, lines[:-1])) <= 80


def test_a_failure_that_is_gone_is_fixed(tmp_path: Path) -> None:
    code, lines = replayed(doctored(tmp_path, claim_a_divergence))
    assert (code, lines[-1].split()[0]) == (Exit.PASSED, "FIXED")


def test_a_trace_that_expects_something_else_has_drifted_and_says_where(tmp_path: Path) -> None:
    code, lines = replayed(doctored(tmp_path, claim_another_outcome))
    assert code == Exit.INCONCLUSIVE
    assert lines[-1].startswith("DRIFTED  ")
    assert ": step " in lines[-1]


def test_a_store_that_is_broken_still_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from stateful_tests.target import Refusal, StoreTarget

    path = doctored(tmp_path, claim_a_divergence)
    trace = json.loads(path.read_text("utf-8"))
    trace["steps"] = [{"action": {"do": "readEpoch"}, "expected": {"accepted": 0}, "observed": None}]
    trace["divergence"] |= {"kind": "outcome", "name": "readEpoch"}
    path.write_text(json.dumps(trace), encoding="utf-8")
    monkeypatch.setattr(StoreTarget, "apply", lambda _self, _action: Refusal("DURABILITY_FAILED"))
    code, lines = replayed(path)
    assert code == Exit.VIOLATED
    assert lines[-1].startswith(f"STILL FAILING  {trace['name']}: step 1: ")
    assert any(line.startswith("1 >   read_durable_epoch") for line in lines)


def no_steps(trace: dict[str, Any]) -> None:
    trace["steps"] = []


def cut_before_what_differed(trace: dict[str, Any]) -> None:
    claim_a_divergence(trace)
    trace["divergence"]["index"] = len(trace["steps"])


@pytest.mark.parametrize("change", [another_version, unknown_action, no_steps, cut_before_what_differed])
def test_a_trace_of_another_schema_is_a_usage_error(
    tmp_path: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    with pytest.raises(UsageError, match=r"doctored\.json"):
        replayed(doctored(tmp_path, change))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is no JSON: line 1"),
        (b'{"steps": [], "seed": 1, "seed": 2}', "is broken: the key 'seed' stands twice in one object"),
        (b'{"schema_version": 1', "is no JSON: line 1"),
        (b"\xff\xfe{}", "is no UTF-8"),
        (b"[" * 200_000, "nested too deeply"),
        (b"1" * 5000, "beyond all bounds"),
        (b"[]", "a JSON object is expected"),
        (b"null", "a JSON object is expected"),
        (b"{}", "schema_version"),
        (b'{"kind": "kill"}', "schema_version: missing"),
        (b'{"verdict": {}, "phases": []}', "the summary of a run"),
    ],
)
def test_what_is_no_trace_is_a_usage_error(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=told):
        replayed(path)


def test_what_is_no_regular_file_is_told_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path, told in (
        (tmp_path / "fifo", "is a FIFO"),
        (tmp_path, "is a directory"),
        (Path("/dev/zero"), "is a device"),
        (tmp_path / "missing", "can't be opened: No such file"),
        (tmp_path / "\0", "can't be opened"),
    ):
        with pytest.raises(UsageError, match=told):
            replayed(path)


def test_a_file_far_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(LARGEST + 1)
    with pytest.raises(UsageError, match="no trace is as large"):
        replayed(path)


def test_replaying_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    replayed(CORPUS[0])
    assert list(tmp_path.iterdir()) == []
