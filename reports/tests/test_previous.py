"""What changed since the previous run; failures are the same if their fingerprints are."""

from typing import Any

from reports.canonical import clean
from reports.fingerprint import fingerprint
from reports.previous import changes
from reports.tests.example_parts import LEDGER_TRACE
from reports.tests.examples import EXAMPLES, many
from reports.tests.samples import KILLED, OVERBOOKED

ANY: tuple[Any, ...] = (None, [], "x\ud800", {}, {"kind": "kill", "kills": [1, None]}, {"divergence": []})


def run(name: str) -> dict[str, Any]:
    found: dict[str, Any] = clean(EXAMPLES[name].results)
    return found


def test_what_appeared_and_what_vanished() -> None:
    passed, violated = run("passed"), run("violated")
    there = changes(passed, violated)
    assert (there["run"], there["verdict"], there["comparable"]) == (
        "20300101T120000Z-1a2b3c",
        "PASSED",
        True,
    )
    assert sorted(one["clause"] for one in there["appeared"]) == ["C6", "Operations", "what it answers"]
    back = changes(violated, passed)
    assert back["vanished"] == there["appeared"]
    assert (back["appeared"], there["vanished"]) == ([], [])
    assert changes(violated, violated)["appeared"] == []


def test_floors_that_are_newly_missed_or_reached_again() -> None:
    passed, inconclusive = run("passed"), run("inconclusive")
    assert changes(passed, inconclusive)["floors_newly_missed"] == ["witness/true-capacity"]
    assert changes(inconclusive, passed)["floors_regained"] == ["witness/true-capacity"]


def test_runs_that_did_not_check_the_same_are_said_to_be_incomparable() -> None:
    found = changes({**run("passed"), "seed": 8}, run("inconclusive"))
    assert not found["comparable"]
    assert found["note"] == "seed 8 then, 7 now; phases only then: kills"


def test_runs_of_different_stores_are_said_to_be_incomparable() -> None:
    ours = run("passed")
    typed = ["holdtrue", "check", "--target", "mine {directory}"]
    target = {**ours, "environment": {**ours["environment"], "command": typed}}
    found = changes(target, ours)
    assert not found["comparable"]
    assert found["note"] == "the target 'mine {directory}' then, the project's own store now"
    assert changes(target, target)["comparable"]


def test_counts_are_told_before_and_now() -> None:
    assert changes(run("passed"), run("passed"))["counts"] == [["actions", 62647, 62647], ["kills", 36, 36]]


def test_a_run_that_fails_entirely_tells_a_bounded_list() -> None:
    assert len(changes(run("passed"), clean(many(1000).results))["appeared"]) == 50


def test_the_fingerprint_is_that_of_the_kind_not_of_the_story() -> None:
    kind = fingerprint("Operations", "title", OVERBOOKED)
    longer = {**OVERBOOKED, "steps": [*OVERBOOKED["steps"], 1], "name": "other", "why": "other"}
    assert fingerprint("Operations", "another title, with an id", longer) == kind
    assert fingerprint("S10", "title", OVERBOOKED) != kind
    found = {**OVERBOOKED["divergence"], "name": "commit"}
    assert fingerprint("Operations", "title", {**OVERBOOKED, "divergence": found}) != kind
    assert fingerprint("Operations", "title", {**OVERBOOKED, "system": "ledger"}) != kind


def test_the_fingerprint_of_a_kill_is_its_situation_and_points() -> None:
    kind = fingerprint("C6", "title", KILLED)
    assert fingerprint("C6", "title", {**KILLED, "after": []}) == kind
    elsewhere = [{**KILLED["kills"][0], "point": "state-rename-after"}]
    assert fingerprint("C6", "title", {**KILLED, "kills": elsewhere}) != kind
    assert fingerprint("C6", "title", {**KILLED, "fault": {"point": "x"}}) != kind


def test_any_json_has_a_fingerprint() -> None:
    for trace in (*ANY, LEDGER_TRACE):
        assert len(fingerprint("c", "t\ud800", trace)) == 16
