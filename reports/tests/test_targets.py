"""What reports say of a target: the options that name it, what was out of its reach, what is declared."""

import re
from typing import Any

import pytest

from reports.commands import reproduce, rerun
from reports.results import ResultsError, parse
from reports.scope import NOT_CHECKED, OF_RACES, not_checked
from reports.targets import aims, left_out, reservations, target_lines, target_of, whose
from reports.tests.examples import passed

POLICY = {
    "code": [
        {"operation": "*", "model": "CAPACITY_EXCEEDED", "store": "NO_SLOT", "reason": "older clients"},
        {"operation": "renew", "model": "COMMAND_FAILED", "store": "NO", "reason": "shorter"},
    ],
    "missing": [{"operation": "dispatch", "reason": "elsewhere\x1b[31m"}],
    "field": [{"name": "updatedAt", "reason": "unread"}],
}
NONE: dict[str, Any] = {"code": [], "missing": [], "field": []}
TOLD = {"command": "run {directory}", "policy": POLICY}
COUNTS = {
    "beyond/lone surrogates in strings": 1200,
    "deviation/code * CAPACITY_EXCEEDED is NO_SLOT": 3,
    "deviation/no dispatch": 7,
    "missed/at a system call": 2,
    "rule/reserve/accepted": 9,
}


def results(command: list[str], *, target: bool = True) -> dict[str, Any]:
    details = {"target": [TOLD]} if target else {}
    return {
        "environment": {"command": command, "invocation": "holdtrue", "folder": "out/x"},
        "phases": [{"name": "kills", "counts": COUNTS if target else {}, "details": details}],
        "profile": "quick",
        "seed": 3,
        "left_out": [],
    }


def test_commands_name_the_target_again_quoted_for_a_shell() -> None:
    typed = ["holdtrue", "check", "--target", "run 'a b' {directory}", "--seed", "3", "--policy=p.toml"]
    told = results(typed)
    words = " --target 'run '\"'\"'a b'\"'\"' {directory}' --policy p.toml"
    assert aims(told) == words
    failure = {"trace": "traces/a.json", "kept": True}
    assert reproduce(told, failure) == f"holdtrue replay out/x/traces/a.json{words}"
    assert rerun(told).endswith(words)


def test_commands_of_our_own_store_name_none() -> None:
    told = results(["holdtrue", "check", "--seed", "3"], target=False)
    assert aims(told) == ""
    assert rerun(told) == "holdtrue check --profile quick --seed 3"
    assert target_lines(told) == []
    assert not_checked(told) == NOT_CHECKED


def test_what_was_left_out_is_told_a_sentence_each_and_harmlessly() -> None:
    owner = "Declared by the target's owner:"
    assert list(left_out(results([]))) == [
        "Out of the target's reach: lone surrogates in strings (left out 1,200 times).",
        f"{owner} *: NO_SLOT for CAPACITY_EXCEEDED (met 3 times): older clients",
        f"{owner} renew: NO for COMMAND_FAILED (never met: is it still so?): shorter",
        f"{owner} no dispatch (left out 7 times): elsewhere\\x1b[31m",
        f"{owner} rows without updatedAt: unread",
    ]


def test_it_stands_before_what_no_check_ever_checks() -> None:
    told = not_checked(results([]))
    assert told[-len(NOT_CHECKED) :] == NOT_CHECKED
    assert told[0].startswith("Out of the target's reach:")


def test_where_a_target_has_raced_it_is_told_that_locks_with_a_time_out_were_not_checked() -> None:
    told = results([])
    assert OF_RACES not in not_checked(told)
    told["phases"][0]["counts"] = {**COUNTS, "race/for-slots": 3}
    assert not_checked(told)[-len(NOT_CHECKED) - 1] == OF_RACES
    told["phases"][0]["details"] = {}
    assert OF_RACES not in not_checked(told), "our own store's locks have none"


def test_how_much_was_left_out_is_told_in_a_line_that_counts_what_is_named_there() -> None:
    told = results([])
    assert reservations(told) == "4 deviations declared, 1 thing out of reach"
    more = {**COUNTS, "beyond/pinned traces": 31, "beyond/several hosts at once": 2}
    told["phases"] = [
        {"counts": {"beyond/pinned traces": 1}, "details": {}},
        {**told["phases"][0], "counts": more},
    ]
    assert reservations(told) == "4 deviations declared, 32 pinned traces and 2 other things out of reach"
    assert len(list(left_out(told))) == 4 + 1 + 2
    assert reservations(results([], target=False)) == ""
    assert reservations({"phases": [{"counts": {}, "details": {"target": [{**TOLD, "policy": NONE}]}}]}) == ""


def test_a_run_tells_whose_store_it_is_about() -> None:
    assert target_of(results(["holdtrue", "check"])) == "run {directory}"
    for typed in (["--target", "x {directory}", "--seed", "1"], ["--target=x {directory}"]):
        assert target_of(results(["holdtrue", "check", *typed], target=False)) == "x {directory}"
    assert target_of(results(["holdtrue", "check"], target=False)) is None
    assert target_of(results([], target=False)) is None, "a run of version 1 does not say what was typed"
    assert target_of(results(["x", "--target"], target=False)) is None
    twice = results(["x", "--target", "a", "--target=b"], target=False)
    assert target_of(twice) == "b", "the last one counts on a command line"
    assert whose(None) == "the project's own store"
    assert whose("x") == "the target 'x'"


def test_the_summary_has_a_section_with_the_command_and_the_kills_that_missed() -> None:
    lines = target_lines(results([]))
    assert lines[:3] == ["", "The target", ""]
    assert "run {directory}" in lines[3]
    assert lines[-1] == "Kills that never came to their place, and say nothing: 2."


@pytest.mark.parametrize(
    ("told", "fault"),
    [
        ([{"command": 5, "policy": NONE}], "details.target[0].command: integer where string is expected"),
        ([{"command": " ", "policy": NONE}], "details.target[0].command: ' ' is not of the form"),
        ([{}], "details.target[0]: 'command' is missing"),
        ([{"command": "x"}], "details.target[0]: 'policy' is missing"),
        ([{"command": "x", "policy": {}}], "details.target[0].policy: 'code' is missing"),
        (
            [{"command": "x", "policy": {**NONE, "code": [1]}}],
            "details.target[0].policy.code[0]: integer where object is expected",
        ),
        (["abc"], "details.target[0]: string where object is expected"),
        ({"command": "x"}, "details.target: object where array is expected"),
        ([], "details.target: fewer than 1 items"),
    ],
)
def test_what_is_told_of_a_target_in_another_form_is_named_and_not_taken_for_our_own_store(
    told: object, fault: str
) -> None:
    run = passed().results
    first, *others = run["phases"]
    assert parse({**run, "phases": [{**first, "details": {"target": [TOLD]}}, *others]})
    with pytest.raises(ResultsError, match=re.escape(f"phases[0].{fault}")):
        parse({**run, "phases": [{**first, "details": {"target": told}}, *others]})
