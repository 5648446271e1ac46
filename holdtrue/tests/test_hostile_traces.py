"""A trace full of hostile strings is replayed, stepped through, told by its test and pinned, harmlessly."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from holdtrue.exits import UsageError
from holdtrue.out import Printer
from holdtrue.pin import pin_file
from holdtrue.replay import check_trace, replay_file
from holdtrue.stepping import step_file
from holdtrue.tests.planted import save
from reports.plain import COLUMNS
from reports.repro import render

CORPUS = Path(__file__).resolve().parents[2] / "stateful_tests" / "corpus"
EVIL = (
    "<script>alert(1)</script>",
    "\x1b[2J\x1b]0;title\x07\r\n\t\x00\x7f\x9b31m",
    "x" * 4096,
    "\u202eevil\u2066\u200b\ufeff",
    "\ud800 alone \udfff",
    "::error::mine ##[error]mine",
)


def poisoned(evil: str) -> dict[str, Any]:
    """A pinned walk whose every free text is `evil`; it can still be walked."""
    trace: dict[str, Any] = json.loads((CORPUS / "reserve-the-same-again.json").read_text("utf-8"))
    actions = [step["action"] for step in trace["steps"]]
    for action in actions:
        for name in ("host", "context", "holderId"):
            if name in action:
                action[name] = f"{evil}{action[name]}"
        if isinstance(action.get("lease"), dict):
            action["lease"] |= {"holderId": f"{evil}{action['lease']['holderId']}", "endpoint": evil}
    steps: list[dict[str, Any]] = [{"action": action, "expected": None} for action in actions]
    return {**trace, "name": evil, "why": evil, "profile": evil, "versions": {evil: evil}, "steps": steps}


@pytest.fixture(params=EVIL, ids=range(len(EVIL)))
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return save(poisoned(request.param), tmp_path / "evil.json")


def harmless(text: str) -> list[str]:
    lines = text.split("\n")
    assert all(line.isprintable() for line in lines)
    paths = ("written: ", "the store stands in ")
    assert max(len(line) for line in lines[:-2] if not line.startswith(paths)) <= COLUMNS
    return lines


def test_a_replay_and_a_walk_through_it_show_it_harmlessly(path: Path) -> None:
    replayed, stepped = io.StringIO(), io.StringIO()
    assert replay_file(path, Printer(replayed)) in (0, 3)
    assert step_file(path, Printer(stepped), commands=io.StringIO("")) in (0, 3)
    for stream in (replayed, stepped):
        assert len(harmless(stream.getvalue())) < 400


def test_its_own_test_says_what_it_says_harmlessly(path: Path) -> None:
    trace = json.loads(path.read_text("utf-8"))
    steps = [{**step, "expected": {"refused": "POLICY_DENIED"}} for step in trace["steps"]]
    with pytest.raises(AssertionError) as caught:
        check_trace({**trace, "steps": steps})
    assert all(line.isprintable() for line in str(caught.value).split("\n"))
    assert compile(render(trace, {"profile": trace["why"], "seed": 0}), "test", "exec")


def test_a_pin_makes_no_name_of_it_and_keeps_what_it_is(path: Path, tmp_path: Path) -> None:
    corpus, stream = tmp_path / "corpus", io.StringIO()
    corpus.mkdir()

    def pin(name: str) -> int:
        reason = "hostile \x1b[2J strings are shown harmlessly"
        return pin_file(path, Printer(stream), reason=reason, name=name, failing=True, corpus=corpus)

    code = pin("evil")
    harmless(stream.getvalue())
    assert [found.name for found in corpus.iterdir()] == (["evil.json"] if code == 0 else [])
    with pytest.raises(UsageError, match="no name for a pinned trace"):
        pin(json.loads(path.read_text("utf-8"))["name"])
