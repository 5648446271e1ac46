"""What stood on disk, as the audit page shows it: from whatever the evidence says, or nothing."""

from typing import Any

import pytest

from reports.html import render
from reports.html.evidence import LINES, MOMENTS, evidence
from reports.tests.examples import EXAMPLES
from reports.tests.html_reader import HARMFUL, faults, read, said
from reports.tests.samples import HOSTILE, KILLED

FILE = {"name": "coordinator.json", "kept": True, "mode": "-rw-------", "bytes": 1234, "sha256": "ab" * 32}
ABOUT: dict[str, Any] = {
    "status": "failing",
    "sentence": "what the kill left is not whole",
    "moments": [
        {
            "moment": "kill-1",
            "there": True,
            "files": [FILE],
            "steps": ["state-create-before#1", "state-create-after#1"],
            "audit": ["S1  FAULT  the closed shape", "FAULTY"],
        },
        {"moment": "end", "there": False, "files": []},
    ],
}


def shown(about: Any) -> str:
    found = evidence(about, KILLED)
    return "" if found is None else said(found)


def test_files_disk_steps_and_the_audit_are_shown_for_each_moment() -> None:
    told = shown(ABOUT)
    assert "Files after kill 1" in told
    assert f"coordinator.json -rw------- 1,234 {'ab' * 8}" in told
    assert "state-create-before#1 → state-create-after#1" in told
    assert "S1 FAULT the closed shape FAULTY" in told
    assert "At the end: there was no store." in told


def test_among_the_steps_of_a_killed_action_the_place_is_marked() -> None:
    steps = [f"s{number}#1" for number in range(100)]
    steps[70] = "state-rename-before#1"
    told = shown({"moments": [{"moment": "kill-1", "files": [FILE], "steps": steps}]})
    assert "if nobody dies: 100" in told
    assert "s69#1 → state-rename-before#1 → ✗ killed here → s71#1" in told
    assert "(40 earlier)... s40#1" in told
    assert told.endswith("s99#1")
    alive = shown({"moments": [{"moment": "step-4", "files": [FILE], "steps": steps}]})
    assert "Disk steps up to then: 100" in alive
    assert "killed here" not in alive


def test_the_page_shows_it_in_the_story_that_it_belongs_to() -> None:
    example = EXAMPLES["violated"]
    page = render(example.results, {**example.traces, "evidence/kills-002-1-C6/about.json": ABOUT})
    assert faults(page) == []
    _, _, first = page.partition('id="counterexample-1"')
    assert "Files after kill 1" in first.partition('id="counterexample-2"')[0]
    assert page.count("Files after kill 1") == 2, "as a caption and as the label of what scrolls"


def test_much_is_cut_and_counted() -> None:
    moment = {"moment": "kill-1", "files": [FILE] * 50, "steps": ["s"] * 500, "audit": ["line"] * 500}
    told = shown({"moments": [moment] * (MOMENTS + 3)})
    assert "and 3 more moments" in told
    assert "and 20 more files" in told
    assert f"({500 - LINES} earlier)" in told
    assert "and 440 more lines" in told
    assert len(told) < 60_000


@pytest.mark.parametrize(
    "about",
    [
        *(None, 3, "x", [], {}, {"moments": 3}, {"moments": [1, None, []]}, {"moments": [{}]}),
        {"moments": [{"moment": None, "files": [1, {}], "steps": [None, {}], "audit": [3, []]}]},
        {"moments": [{"moment": HOSTILE, "files": [{"name": HOSTILE, "bytes": HOSTILE, "sha256": HOSTILE}]}]},
        {"moments": [{"moment": "end", "steps": [HOSTILE], "audit": [HOSTILE]}]},
    ],
)
@pytest.mark.parametrize("trace", [None, 3, {"kills": 3}, {"kills": [3]}, {"kills": [{"point": HOSTILE}]}])
def test_evidence_of_an_unknown_or_hostile_shape_is_shown_harmlessly(about: Any, trace: Any) -> None:
    found = evidence(about, trace)
    if found is not None:
        assert not HARMFUL.search(found.markup)
        assert not read(found.markup).named("script")
