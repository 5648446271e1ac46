"""Counterexamples come with evidence: the store as it stood, what an audit says of it, the disk steps."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from crash_tests.oracle import Violation
from crash_tests.scenarios import SCENARIOS
from crash_tests.stories import Killed, Story
from holdtrue import evidence, keeping
from holdtrue.exits import Exit
from holdtrue.keeping import keep_evidence
from holdtrue.phases import Phase
from holdtrue.tests.fakes import HERE, job, phase
from holdtrue.tests.runs import check_run
from model.values import JSON
from reports.manifest import NAME, parse
from stateful_tests.results import Failure, Job, JobResult, Plan

CORPUS = Path(__file__).resolve().parents[2] / "stateful_tests" / "corpus"


def pinned(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CORPUS / f"{name}.json").read_text("utf-8"))
    return found


def killed() -> dict[str, Any]:
    """A kill half-way through publishing a reservation; what it is said to have broken is made up."""
    scenario = SCENARIOS["reserve"]
    kills = (Killed(scenario.flight, "state-write-torn", 1),)
    return Story(scenario, kills, (), Violation("C6", "made up", (), 0)).to_json()


def kept(trace: JSON, into: Path) -> list[dict[str, Any]]:
    """The moments that are kept of a trace."""
    result = keep_evidence({"trace": trace, "into": str(into)})
    told = json.loads((into / "about.json").read_text("ascii"))
    assert result.counts == {"moments": len(told["moments"])}
    moments: list[dict[str, Any]] = told["moments"]
    return moments


def test_the_files_are_kept_as_they_stood_after_the_last_step(tmp_path: Path) -> None:
    trace = pinned("a-newer-epoch-fences-the-older-host")
    (moment,) = kept(trace, tmp_path)
    folder = tmp_path / f"step-{len(trace['steps'])}"
    assert {file["name"] for file in moment["files"]} >= {"coordinator.json", "coordinator.identity.json"}
    for file in moment["files"]:
        content = (folder / "files" / file["name"]).read_bytes()
        assert (file["mode"], file["bytes"]) == ("-rw-------", len(content))
        assert file["sha256"] == hashlib.sha256(content).hexdigest()
    state = json.loads((folder / "files" / "coordinator.json").read_text("utf-8"))
    assert f"commits     {state['commitSeq']}, " in (folder / "audit.txt").read_text("utf-8")
    steps = (folder / "disk-steps.txt").read_text("ascii").splitlines()
    assert steps.index("state-rename-before") < steps.index("state-rename-after")
    assert steps[-1] == f"-- step {len(trace['steps'])} has ended"


def test_a_ledgers_files_are_kept_too(tmp_path: Path) -> None:
    (moment,) = kept(pinned("ledger-a-compensator-that-raises"), tmp_path)
    assert {"ledger.jsonl", "mirror.sqlite"} <= {file["name"] for file in moment["files"]}
    (audit,) = tmp_path.glob("step-*/audit.txt")
    assert "MIRROR  ok " in audit.read_text("utf-8")


def test_what_a_kill_left_is_kept_and_the_points_that_it_would_have_passed(tmp_path: Path) -> None:
    moments = kept(killed(), tmp_path)
    assert [moment["moment"] for moment in moments] == ["kill-1", "end"]
    left = [file["name"] for file in moments[0]["files"]]
    assert sum(name.endswith(".tmp") for name in left) == 1
    steps = (tmp_path / "kill-1" / "disk-steps.txt").read_text("ascii").splitlines()
    assert steps.index("state-write-torn#1") < steps.index("state-rename-after#1")


def test_what_is_no_regular_file_is_told_and_not_copied(tmp_path: Path) -> None:
    trace = pinned("c12-state-fifo")
    mended = next(at for at, step in enumerate(trace["steps"]) if step["action"]["do"] == "mend")
    (moment,) = kept({**trace, "steps": trace["steps"][:mended]}, tmp_path)
    fifos = [file for file in moment["files"] if file["mode"].startswith("p")]
    assert [(file["name"], file["kept"]) for file in fifos] == [("coordinator.json", False)]
    assert not list(tmp_path.glob("step-*/files/coordinator.json"))


def test_evidence_is_bounded_and_says_what_it_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = pinned("a-newer-epoch-fences-the-older-host")
    for bound, value in (("MOST_FILES", 1), ("MOST_BYTES", 10)):
        with monkeypatch.context() as patch:
            patch.setattr(keeping, bound, value)
            (moment,) = kept(trace, tmp_path / bound)
        copied = [path for path in (tmp_path / bound).glob("step-*/files/*") if path.stat().st_size]
        assert len(copied) == (bound == "MOST_FILES")
        assert sum(not file["kept"] for file in moment["files"]) >= 2


def finds_real(params: dict[str, Any]) -> JobResult:
    """A runner whose failures have the traces that are given, with clauses of their own."""
    found = tuple(Failure(trace, "title", f"clause {at}", "") for at, trace in enumerate(params["traces"]))
    return JobResult(Job("", ""), {}, found)


def finding(*traces: JSON) -> Phase:
    runner = f"{HERE.rpartition('.')[0]}.test_evidence:finds_real"
    return Phase("conformance", "about", lambda _p, _s: Plan((Job("x", runner, {"traces": list(traces)}),)))


def test_a_run_keeps_evidence_and_lists_it(tmp_path: Path) -> None:
    race: JSON = {"kind": "kill", "trial": "race", "name": "no such race", "clause": "S10"}
    traces: tuple[JSON, ...] = (pinned("a-newer-epoch-fences-the-older-host"), killed(), race, {"steps": []})
    code, folder, _ = check_run(tmp_path, finding(*traces))
    assert code == Exit.VIOLATED
    failures = json.loads((folder / "results.json").read_text("utf-8"))["failures"]
    told = {failure["clause"]: failure["evidence"] for failure in failures}
    assert told["clause 0"] == "evidence/conformance-001-1-clause-0"
    assert told["clause 1"] == "evidence/conformance-001-2-clause-1"
    assert (told["clause 2"], told["clause 3"]) == (None, None)
    assert {path.name for path in (folder / "evidence").iterdir()} == {
        "conformance-001-1-clause-0",
        "conformance-001-2-clause-1",
    }
    listed = parse((folder / NAME).read_text("utf-8"))
    assert "evidence/conformance-001-1-clause-0/about.json" in listed


def test_only_the_first_of_each_kind_is_replayed_and_no_more_than_a_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evidence, "MOST_TRACES", 2)
    trace = pinned("a-newer-epoch-fences-the-older-host")
    _, folder, _ = check_run(tmp_path, finding(trace, trace, trace, trace), finding(trace))
    assert len(list((folder / "evidence").iterdir())) == 2


def test_a_replay_that_hangs_or_dies_costs_its_evidence_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for runner in ("hangs", "dies"):
        monkeypatch.setattr(evidence, "RUNNER", f"{HERE}:{runner}")
        monkeypatch.setattr(evidence, "REPLAY_S", 1.0)
        code, folder, lines = check_run(tmp_path / runner, phase("corpus", job("finds")))
        assert code == Exit.VIOLATED
        assert lines[-1].startswith("VIOLATED")
        (failure,) = json.loads((folder / "results.json").read_text("utf-8"))["failures"]
        assert failure["evidence"] is None
        assert not list(folder.glob("evidence/*"))
