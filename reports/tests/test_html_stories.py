"""Stories and the crash matrix of the audit page: timelines, what is cut, where a kill struck, what it
left."""

from typing import Any

import pytest

from reports.html.crash_chart import crash_chart, shape
from reports.html.crash_data import Cell, crash_matrix, wrong_kills
from reports.html.disksteps import in_order
from reports.html.story import FIRST_SHOWN, LAST_SHOWN, shown_of, story
from reports.html.strip import strip
from reports.tests.html_reader import HARMFUL, read, said
from reports.tests.samples import HOSTILE, KILLED, LEASE, OVERBOOKED, step


def test_where_both_sides_agree_it_is_said_once_and_where_they_differ_side_by_side() -> None:
    shown = said(story(OVERBOOKED, "x"))
    assert "3 alice via h1: reserve r1, for p1/d1/run-1, ttl 60000 = both: ok: reserved r1" in shown
    assert "model CAPACITY_EXCEEDED store ok: reserved r2 ✖ First difference" not in shown
    assert "model CAPACITY_EXCEEDED store ok: reserved r2 First difference: outcome" in shown
    assert "at model store outcome CAPACITY_EXCEEDED accepted" in shown


def test_what_was_on_disk_is_told_when_it_changes() -> None:
    disk = {"commitSeq": 1, "identity": True, "temps": 0, "rows": 1, "files": ["coordinator.json"]}
    steps = [{**step(LEASE), "disk": disk}, {**step(LEASE), "disk": disk}]
    shown = said(story({"steps": [*steps, {**step(LEASE), "disk": {**disk, "commitSeq": 2}}]}, "x"))
    assert shown.count("coordinator.json") == 2
    assert "on disk: unchanged" in shown


def test_a_kill_tells_who_died_where_and_who_came_after() -> None:
    shown = said(story(KILLED, "x"))
    assert "KILLED at state-rename-before, arrival 1" in shown
    assert "by a fresh process Here it goes wrong" in shown
    assert "What was wrong after the kill the store works on differently" in shown
    assert "state-fsync was done, state-rename was not (5 of 8 steps of a publication)." in shown


def test_a_race_is_told_in_its_own_words() -> None:
    shown = said(story({"kind": "kill", "steps": ["open a", "open b"], "wrong": ["33 rows"]}, "x"))
    assert "1 open a 2 open b What was wrong 33 rows" in shown


def test_of_a_long_story_the_ends_are_shown_and_the_step_that_is_marked() -> None:
    assert shown_of(33) == list(range(33))
    shown = shown_of(5000, 100)
    assert shown == [*range(FIRST_SHOWN), 100, *range(5000 - LAST_SHOWN, 5000)]
    trace = {"steps": [step(LEASE)] * 5000, "divergence": {"index": 100, "kind": "code"}}
    told = said(story(trace, "x"))
    assert "92 steps left out here" in told
    assert "4,875 steps left out here" in told
    assert "First difference: code" in told


@pytest.mark.parametrize(
    ("point", "words"),
    [
        ("lock-acquire-before", "nothing was done yet, lock-acquire was not (0 of 8"),
        ("state-write-torn", "half-way through state-write, which is step 4 of 8"),
        ("lock-release-after", "lock-release was done, nothing was left to do (8 of 8"),
        ("identity-rename-after", "identity-rename was done, identity-dirsync was not (4 of 5"),
    ],
)
def test_the_strip_says_in_words_where_the_kill_struck(point: str, words: str) -> None:
    shown = strip({"kills": [{"point": point, "n": 1}]})
    assert shown is not None
    assert words in said(shown)


def test_there_is_no_strip_for_a_point_of_no_publication_and_each_system_has_its_own() -> None:
    assert strip({"kills": [{"point": "mkdir-before"}]}) is None
    assert strip({}) is None
    assert strip({"kills": [None], "fault": 3}) is None
    ledger = strip({"system": "ledger", "fault": {"point": "lock-release-before", "n": 2}})
    assert ledger is not None
    assert "The disk failed at lock-release-before, arrival 2: mirror-commit was done" in said(ledger)


@pytest.mark.parametrize(
    "trace",
    [
        *(None, [], "text", 3, {}, {"steps": None}, {"steps": "text"}, {"initial": {"clock": True}}),
        {"steps": [None, 1, [], {}, {"action": []}, {"action": {"do": "open"}}, {"action": {"do": "call"}}]},
        {"steps": [{"action": {}, "expected": [], "observed": {"refused": []}, "disk": [1]}]},
        {"divergence": {"index": "x", "differences": [1, {}, {"path": []}]}, "steps": [step(LEASE)]},
        {"divergence": []},
        {"kind": "kill"},
        {"kind": "kill", "kills": [1, {}], "after": 3, "history": [2], "broken_off": [1], "violation": []},
        {"kind": "kill", "kills": {"a": 1}, "fault": [], "wrong": 3, "violation": {"differences": 4}},
    ],
)
def test_a_trace_of_an_unknown_shape_is_shown_not_refused(trace: Any) -> None:
    assert not HARMFUL.search(story(trace, "x").markup)


def test_hostile_text_in_every_field_of_a_story_is_harmless_and_bounded() -> None:
    def hostile(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: hostile(item) if key not in ("do", "kind") else item for key, item in value.items()
            } | {HOSTILE: HOSTILE}
        if isinstance(value, list):
            return [hostile(item) for item in value]
        return HOSTILE if isinstance(value, str) else value

    for trace in (OVERBOOKED, KILLED):
        shown = story(hostile(trace), "x").markup
        assert not HARMFUL.search(shown)
        assert not read(shown).named("script")
        assert len(shown) < 60_000


COUNTS = {
    "kill/reserve/state-rename-before#1": 2,
    "kill/reserve/state-rename-before#2": 1,
    "kill/reserve/state-rename-after#1": 3,
    "kill/genesis/state-write-torn#1": 1,
    "kill/old/state-write-torn#1": 1,
    "kill/reserve, recovering/lock-acquire-before#1": 5,
    "left/reserve/state-rename-before/before": 3,
    "left/reserve/state-rename-after/after": 3,
    "left/genesis/state-write-torn/state without identity": 1,
    "rule/reserve/accepted": 9,
    "kill/odd": 1,
    "left/odd": 1,
}


def test_the_matrix_has_hits_and_what_was_left_by_situation_and_point() -> None:
    matrix = crash_matrix(COUNTS, [("reserve", "state-write-before")])
    assert matrix.cell("reserve", "state-rename-before") == Cell(3, {"before": 3}, 0)
    assert matrix.cell("reserve", "state-write-before").wrong == 1
    assert matrix.recovering == {"reserve": 5}


def test_columns_come_in_the_order_of_the_disk_steps() -> None:
    points = ["x-after", "lock-release-before", "state-write-after", "state-write-torn", "state-write-before"]
    assert in_order(points) == [*reversed(points[2:]), "lock-release-before", "x-after"]


@pytest.mark.parametrize(
    ("cell", "drawn"),
    [
        (Cell(1, {"before": 1}), "before"),
        (Cell(1, {"after": 1}), "after"),
        (Cell(1, {"committed": 1}), "after"),
        (Cell(2, {"before": 1, "after": 1}), "both"),
        (Cell(1, {"state without identity": 1}), "other"),
        (Cell(1, {}), "unknown"),
        (Cell(1, {"none of these": 1}), "wrong"),
        (Cell(1, {"before": 1}, wrong=1), "wrong"),
    ],
)
def test_each_thing_that_a_kill_can_leave_has_a_shape_of_its_own(cell: Cell, drawn: str) -> None:
    assert shape(cell) == drawn


def test_the_chart_draws_each_cell_and_explains_the_shapes_that_occur() -> None:
    shown = crash_chart("coordinator", crash_matrix(COUNTS)).markup
    for name, count in (("before", 1), ("after", 1), ("other", 1), ("unknown", 1), ("wrong", 0)):
        assert shown.count(f'class="c-{name}"') == 2 * count, "once in the chart, once in the legend"
    assert "reserve at state-rename-before: before" in shown


def test_only_what_a_first_kill_broke_is_crossed_in_the_matrix() -> None:
    failure = {"system": "coordinator", "trace": "t"}
    assert wrong_kills([failure], {"t": KILLED}, "coordinator") == [("reserve", "state-rename-before")]
    assert wrong_kills([failure], {"t": KILLED}, "ledger") == []
    twice = {**KILLED, "kills": [*KILLED["kills"], *KILLED["kills"]]}
    for trace in (twice, {}, None, {"kills": [1]}, {"kills": "x"}):
        assert wrong_kills([failure], {"t": trace}, "coordinator") == []
