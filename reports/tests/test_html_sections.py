"""Single sections of the audit page: what they say for runs that the examples are none of."""

from typing import Any

import pytest

from reports.html import render
from reports.html.banner import banner
from reports.html.counterexamples import in_order
from reports.html.explored import explored
from reports.html.lifecycle import lifecycle, often, ways_taken
from reports.html.missing import missing
from reports.html.outcomes import outcomes, shade
from reports.html.scope import scope
from reports.html.standing import changes, dated, detection
from reports.tests.examples import EXAMPLES
from reports.tests.html_reader import faults, said
from reports.tests.samples import HOSTILE


def results_with(name: str = "passed", **changes: Any) -> dict[str, Any]:
    return {**EXAMPLES[name].results, **changes}


def counted(**counts: int) -> dict[str, Any]:
    """The passed example with these counts and no others."""
    return results_with(phases=[{**EXAMPLES["passed"].results["phases"][0], "counts": counts}])


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("PASSED", "enough was looked at"),
        ("VIOLATED", "did what it must not"),
        ("INCONCLUSIVE", "This is not a pass"),
        ("HARNESS FAILED", "says nothing about the store"),
        ("INTERRUPTED", "This is not a pass"),
        ("SOMETHING NEW", "does not know this verdict"),
    ],
)
def test_each_verdict_is_told_in_plain_words(word: str, told: str) -> None:
    shown = said(banner(results_with(verdict={"word": word, "reasons": []})))
    assert word in shown
    assert told in shown


def test_a_run_of_some_phases_says_first_that_it_speaks_for_a_part_only() -> None:
    shown = said(banner(results_with("inconclusive")))
    assert "It speaks for a part only: conformance, invariants. Not run: corpus, kills." in shown


def test_the_scope_says_what_was_not_checked_and_claims_nothing_that_was_not_counted() -> None:
    shown = said(scope(results_with("inconclusive")))
    for told in (
        "The phase corpus: it was left out on purpose.",
        "The phase kills: it was not begun",
        "3 of 12 jobs of invariants: cut by the time budget",
        "seen too rarely in invariants: see What is missing.",
        "was not measured",
        "Power loss",
        "Deliberate forgery",
        "A time budget of 60 s",
    ):
        assert told in shown
    assert "Processes killed" not in shown
    assert "Processes killed" in said(scope(results_with("passed")))


def test_an_exploration_that_was_not_exhausted_is_not_claimed() -> None:
    (space,) = EXAMPLES["passed"].results["explorations"]
    assert "1 small world of the coordinator exhausted: 21,344 states, 310,552 transitions." in said(
        scope(results_with())
    )
    cut = {**space, "verdict": "inconclusive", "reason": "the budget of states is spent"}
    shown = said(scope(results_with(explorations=[cut])))
    assert "exhausted" not in shown.partition("What was not checked")[0]
    assert "the budget of states is spent" in shown
    assert "worlds are not explored exhaustively" in shown
    assert "worlds are not explored exhaustively" not in said(scope(results_with()))


def test_a_world_that_was_only_killed_along_is_told_as_that() -> None:
    killed = {"system": "ledger", "space": "killed", "kills": {"classes": 10, "points": 173}}
    shown = said(scope(results_with(explorations=[killed])))
    assert "The world ledger killed: it was not explored in this run, only walked, or killed along." in shown
    assert "no reason is given" not in shown


@pytest.mark.parametrize(
    "space",
    [
        {},
        {"properties": 3, "dead_rules": 4, "bounds": 5, "tours": 6, "kills": 7, "states": "x", "verdict": []},
        {"properties": [1, {}], "dead_rules": [None], "bounds": {"a": [None]}, "tours": {"taken": 1}},
        {"tours": {"taken": 5, "transitions": 0}, "kills": {"points": None}, "verdict": HOSTILE, HOSTILE: 1},
        {
            "bounds": {HOSTILE: HOSTILE},
            "space": HOSTILE,
            "system": HOSTILE,
            "about": HOSTILE,
            "reason": HOSTILE,
        },
    ],
)
def test_an_exploration_of_an_unknown_or_hostile_shape_is_shown_harmlessly(space: dict[str, Any]) -> None:
    page = render(results_with(explorations=[space, 3, None]), {})
    assert faults(page) == []


def test_each_space_has_its_size_its_bounds_and_what_does_not_hold_in_it() -> None:
    (space,) = EXAMPLES["passed"].results["explorations"]
    broken = {
        "id": "S8",
        "sentence": "No two",
        "kind": "always",
        "verdict": "violated",
        "detail": "in 3 steps",
    }
    told = said(
        explored(
            results_with(
                explorations=[
                    {**space, "properties": [*space["properties"], broken], "dead_rules": ["levitate"]},
                    {"system": "ledger", "space": "kinds", "tours": {"taken": 4, "transitions": 4}},
                ]
            )
        )
    )
    assert "coordinator core ✓ all hold 21,344 4,310 310,552 14 20,000 of 310,552 812 points" in told
    assert "ledger kinds \N{EN DASH} not explored" in told
    assert "1 of 2 spaces were walked whole on the real store, 1 in part." in told
    assert "coordinator core 6.4%" in told
    assert "S8 No two always ✗ violated in 3 steps" in told
    assert "1 rule never fired: levitate." in told


def test_missed_floors_and_lost_jobs_are_shown_and_nothing_if_nothing_is_missing() -> None:
    assert not missing(results_with())
    shown = said(missing(results_with("inconclusive")))
    assert "witness/true-capacity invariants ? 0 of 1" in shown
    assert "a job was lost (died): killed by signal 9" in shown
    assert "last words" in shown


def test_counterexamples_come_worst_first_but_one_of_each_clause_before_a_second_one() -> None:
    def failure(clause: str, title: str) -> dict[str, Any]:
        return {"system": "coordinator", "clause": clause, "title": title}

    a, again, other, b = failure("A", "x"), failure("A", "x"), failure("A", "y"), failure("B", "x")
    assert in_order([a, again, other, b]) == [a, b, other, again]


def test_the_lifecycle_tells_ways_taken_often_rarely_and_never() -> None:
    assert [often(count) for count in (0, 1, 9, 10)] == ["never", "rare", "rare", "often"]
    shown = lifecycle(
        counted(
            **{
                "lifecycle/none/reserve/reserved": 120,
                "lifecycle/reserved/commit/committed": 3,
                "lifecycle/reserved/snapshot/committed": 4,
                "lifecycle/released/putBack/reserved": 5,
                "lifecycle/reserved/normalRelease/released": 6,
            }
        )
    )
    text = said(shown)
    assert "3 of 13 ways of the lifecycle were taken, 138 changes in all." in text
    assert shown.markup.count('class="way never"') == 10 + 1, "with the legend's"
    assert shown.markup.count('class="way rare"') == 2 + 1
    assert "released putBack reserved 5 an older file was put back" in text
    assert "reserved normalRelease released 6 several ways at once" in text
    assert "committed markOrphanSuspect orphan-suspect 0 ? never taken" in text


def test_a_run_that_counted_no_changes_of_reservations_says_so() -> None:
    assert ways_taken({"rule/reserve/accepted": 3}) == {}
    assert "recorded no changes" in said(lifecycle(counted()))


def test_outcomes_are_shaded_by_how_often_and_say_the_number() -> None:
    assert [shade(count, 1000) for count in (0, 1, 10, 100, 1000)] == [0, 1, 2, 3, 4]
    shown = outcomes(
        counted(
            **{
                "rule/reserve/accepted": 1000,
                "rule/reserve/CAPACITY_EXCEEDED": 1,
                "ledger/rule/transact/X, retry": 2,
                "ledger/rule/transact/X, in_doubt": 3,
                "damage/state-fifo": 7,
                "new-kind/x": 8,
            }
        )
    )
    text = said(shown)
    assert "accepted CAPACITY_EXCEEDED reserve 1,000 1" in text
    assert "X transact 5" in text
    assert "damages to the files 1 7" in text
    assert "new-kind 1 8" in text


def test_detection_power_is_told_or_said_not_to_have_been_measured() -> None:
    assert "Not measured in this run" in said(detection(results_with()))
    faults = [
        {"id": "f1", "by": "kills", "actions": 4, "seconds": 1.5, "equivalent": ""},
        {"id": "f2", "by": None, "equivalent": ""},
        {"id": "f3", "by": None, "equivalent": "changes nothing"},
        "of an unknown shape",
    ]
    mutation = {
        "tool": "m",
        "sampled": 40,
        "killed": 30,
        "survived": 8,
        "explained": 2,
        "interval": [0.6, 0.9],
        "survivors": [{"file": "impl/x.py", "line": 7, "operator": "swap", "diff": "-a<b", "argument": ""}],
    }
    shown = said(detection(results_with(detection={"faults": faults, "mutation": mutation})))
    assert "1 of 2 planted faults were noticed." in shown
    assert "f2 " in shown.partition("f1 ")[0], "what survived comes first"
    assert "30 of 40 were noticed; 8 survived, 2 of these explained." in shown
    assert "impl/x.py:7 swap -a<b none: nobody has looked at it" in shown


def test_what_a_policy_lets_pass_is_told_with_owner_and_expiry_or_that_there_is_none() -> None:
    assert "There are none." in said(dated(results_with()))
    shown = said(dated(results_with("inconclusive")))
    assert "C6 suppression someone@example.org being looked into 2031-01-31" in shown
    assert "race/slots flake" in shown
    assert "real cut skip" in shown


def test_what_changed_since_the_previous_run_is_told() -> None:
    environment = EXAMPLES["passed"].results["environment"]
    assert "Nothing appeared, nothing vanished." in said(changes(results_with()))
    previous = {
        **environment["previous"],
        "comparable": False,
        "note": "another seed",
        "appeared": [{"id": "1", "clause": "C6", "title": "it stays"}],
        "vanished": [{"id": "2", "clause": "C7", "title": "it went"}],
        "floors_newly_missed": ["witness/S1"],
    }
    shown = said(changes(results_with(environment={**environment, "previous": previous})))
    assert "New counterexamples: 1" in shown
    assert "C7: it went" in shown
    assert "Floors newly missed: witness/S1." in shown
    assert "did not check the same things" in shown
    none = results_with(environment={**environment, "previous": None})
    assert "no earlier run" in said(changes(none))
