"""One step at a time, and what is on disk in words: bounded to 80 columns, harmless, whatever the shape."""

from typing import Any

import pytest

from reports.disk_words import disk_told, disk_words
from reports.kill_story import kill_rows
from reports.plain import COLUMNS
from reports.steps import render_row, render_step
from reports.tests.golden import same_as_golden
from reports.tests.samples import HOSTILE, KILLED, OVERBOOKED, START
from reports.words import Names

WORDS = {
    "nothing": ({"temps": 0, "identity": False, "files": []}, "nothing", "nothing"),
    "genesis": (
        {"temps": 1, "identity": False, "commitSeq": 1, "rows": 0, "files": ["coordinator.json"]},
        "commit 1, no identity, 1 temp",
        "commit 1, no identity, 1 temp (coordinator.json)",
    ),
    "rows": (
        {"temps": 2, "identity": True, "commitSeq": 7, "rows": 3, "files": ["a", "b"]},
        "commit 7, 2 temps",
        "commit 7, 2 temps, 3 rows (a, b)",
    ),
    "broken": (
        {"temps": 0, "identity": True, "problems": ["S2: no"], "files": []},
        "faulty",
        "faulty; S2: no",
    ),
    "ledger": ({"events": 2, "mirror": 2, "effects": 0}, "2 events", "2 events"),
    "behind": ({"events": 1, "mirror": 0, "tail": 9}, "1 event, 9 bytes torn, mirror 0", None),
    "no mirror": ({"events": 0, "mirror": "missing"}, "no event, no mirror", None),
    "unknown": ([], "", ""),
}


@pytest.mark.parametrize("name", WORDS)
def test_what_is_on_disk_in_words(name: str) -> None:
    disk, words, told = WORDS[name]
    assert disk_words(disk) == words
    if told is not None:
        assert disk_told(disk) == told


def test_a_step_is_told_with_what_was_recorded_and_where_it_differs() -> None:
    names = Names(START)
    first, *_, last = OVERBOOKED["steps"]
    disk = {"temps": 0, "identity": True, "commitSeq": 2, "rows": 1, "files": ["coordinator.json"]}
    lines = render_step({**first, "disk": disk}, names, at=0, total=5, recorded={"refused": "POLICY_DENIED"})
    lines += render_step({**last, "divergence": OVERBOOKED["divergence"]}, names, at=4, total=5)
    rows = kill_rows(KILLED, names)
    for at, row in enumerate(rows):
        lines += render_row(row, at=at, total=len(rows))
    same_as_golden("steps", lines)
    assert max(map(len, lines)) <= COLUMNS


@pytest.mark.parametrize("evil", [HOSTILE, {HOSTILE: HOSTILE}, [HOSTILE], None, 7, {"events": HOSTILE}])
def test_whatever_stands_in_a_step_is_shown_harmlessly(evil: Any) -> None:
    names = Names(START)
    step = {"action": evil, "expected": evil, "observed": evil, "disk": evil, "divergence": evil}
    lines = render_step(step, names, at=0, total=1, recorded=evil)
    lines += render_step({**step, "disk": {"problems": evil, "files": evil}}, names, at=0, total=1)
    lines += render_row((HOSTILE, disk_told(evil), disk_words(evil), ""), at=0, total=1)[:0]
    assert all(line.isprintable() for line in lines)
    assert all(text.isprintable() for text in (disk_words(evil), disk_told(evil)))
