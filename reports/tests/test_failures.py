"""What a person sees of failures: golden, bounded, worst first, harmless."""

from typing import Any

from reports.failures import SHOWN_FAILURES, render_failures
from reports.plain import COLUMNS
from reports.tests.example_parts import failure
from reports.tests.examples import hostile, violated
from reports.tests.golden import same_as_golden
from reports.tests.samples import HOSTILE, KILLED, LEASE, OK, OVERBOOKED, reserve, row, step

RESULTS = violated().results
DISK = {"temps": 0, "identity": True, "commitSeq": 2, "rows": 1, "files": ["coordinator.json"]}
SEEN = {
    **OVERBOOKED,
    "steps": [{**one, "disk": {**DISK, "commitSeq": at + 1}} for at, one in enumerate(OVERBOOKED["steps"])],
}
LEFT = {
    "world": "before",
    "temps": 1,
    "identity": True,
    "commitSeq": 3,
    "files": ["coordinator.json", "*.tmp"],
}


def found(clause: str, title: str, number: int = 0, **more: Any) -> dict[str, Any]:
    return failure(f"conformance-{number:03}-1-{clause}", clause=clause, title=title, **more)


def test_each_failure_says_what_is_violated_where_it_was_seen_and_how_to_have_it_again() -> None:
    example = violated()
    kills = [{**KILLED["kills"][0], "left": LEFT}]
    names = [one["trace"] for one in example.results["failures"]]
    traces = {**example.traces, names[0]: {**KILLED, "kills": kills}, names[1]: SEEN}
    lines = render_failures(example.results["failures"], traces, example.results)
    same_as_golden("failures", lines)
    commands = ("reproduce:", "as a test", "=")
    assert max(len(line) for line in lines if not line.startswith(commands)) <= COLUMNS


def test_the_last_line_of_each_is_the_command_that_reproduces_it() -> None:
    (failure, *_) = RESULTS["failures"]
    *_, last, empty = render_failures([failure], {}, RESULTS)
    assert last == (
        "reproduce:  .venv/bin/holdtrue replay reports/out/20300101T120000Z-1a2b3c/traces/kills-002-1-C6.json"
    )
    assert empty == ""


def test_no_clause_hides_another_and_what_is_hidden_is_counted() -> None:
    failures = [*(found("S1", f"more {at}", at) for at in range(9)), found("S2", "once")]
    lines = render_failures(failures, {}, RESULTS)
    seen = [line.split()[1:] for line in lines if line.startswith("seen ")]
    assert seen == [["more", "0"], ["once"], ["more", "1"], ["more", "2"]]
    assert lines[0] == "Found: 10 counterexamples, 10 kinds"
    assert "... and 6 more kinds, not shown here: see" in lines


def test_several_that_show_the_same_are_shown_once() -> None:
    lines = render_failures([found("S1", "the same", at) for at in range(7)], {}, RESULTS)
    assert sum(line.startswith("seen ") for line in lines) == 1
    assert "           (the shortest of 7 that show this)" in lines


def test_a_property_and_a_clause_that_are_one_are_told_once() -> None:
    one = found("S10", "t", property="S10", sentence="No more slots are held than the maximum.")
    lines = render_failures([one], {}, RESULTS)
    assert "violated   S10: No more slots are held than the maximum." in lines
    assert not any(line.startswith("clause") for line in lines)
    bare = render_failures([{**one, "sentence": ""}], {}, RESULTS)
    assert "violated   S10" in bare


def test_no_failures_take_no_lines() -> None:
    assert render_failures([], {}, RESULTS) == []


def test_whatever_stands_in_them_the_length_is_bounded_and_nothing_is_obeyed() -> None:
    big = {f"{HOSTILE}{at}": [HOSTILE] * 5 for at in range(40)}
    steps = [
        step(LEASE),
        *(step(reserve(1, HOSTILE, evil=big), big, big) for _ in range(60)),
        step(big, OK, row(1)),
    ]
    differences = [{"path": HOSTILE, "model": big, "store": big}] * 60
    trace = {**OVERBOOKED, "steps": steps, "divergence": {"index": 5, "differences": differences}}
    example = hostile()
    failures = [dict(one) for one in example.results["failures"]]
    traces = {one["trace"]: trace for one in failures}
    many = [{**one, "title": f"{one['title']}{at}"} for at in range(9) for one in failures]
    lines = render_failures(many, traces, example.results)
    assert all(line.isprintable() and line.isascii() for line in lines)
    assert sum(line.startswith("seen ") for line in lines) == SHOWN_FAILURES
    assert len(lines) < 3_000
