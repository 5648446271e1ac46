"""What a person sees of a counterexample, compared with golden files."""

from typing import Any

import pytest

from reports.story import render_story
from reports.tests.golden import same_as_golden
from reports.tests.samples import HOSTILE, KILLED, LEASE, OVERBOOKED, reserve, step


def test_a_divergence_reads_as_a_table_with_the_first_difference_marked() -> None:
    same_as_golden("overbooked", render_story(OVERBOOKED))


def test_a_kill_reads_as_who_died_where_and_who_came_after() -> None:
    same_as_golden("killed", render_story(KILLED))


def test_a_failing_disk_step_and_a_broken_genesis_are_told_too() -> None:
    fault = {"point": "state-fsync-before", "n": 1, "errno": "EIO", "untidy": False}
    trace = {**KILLED, "kills": [], "after": [], "fault": fault, "broken_off": ["mkdir-after", 1]}
    same_as_golden("fault", render_story(trace))


def test_a_race_has_no_steps_but_says_what_was_wrong() -> None:
    trace = {"kind": "kill", "trial": "race", "name": "slots", "why": "32 race", "clause": "S10"}
    same_as_golden("race", render_story({**trace, "violation": {"title": "33 won", "action": -1}}))


def test_every_kind_of_action_has_words() -> None:
    ids = {"projectId": "p1", "projectControlDomainId": "d1", "runId": "r", "reservationId": "x"}
    actions: list[dict[str, Any]] = [
        LEASE,
        {"do": "setLease", "lease": None},
        {"do": "setLease", "lease": {"holderId": True}},
        {
            "do": "open",
            "host": "h",
            "holderId": "",
            "epoch": "1",
            "initialMaxActiveRuns": 0,
            "arbitration": False,
        },
        {"do": "call", "host": "h", "context": "eve", "operation": "snapshot"},
        {"do": "close", "host": "h"},
        {"do": "readEpoch"},
        {"do": "advanceClock", "ms": -5},
        {"do": "setIdentity", "context": "eve", "identity": None},
        {"do": "admit", **ids},
        {"do": "abandon", **ids},
        {"do": "finish", "reservationId": "x", "status": "failed"},
        *({"do": do, "reservationId": "x"} for do in ("park", "quiesce", "resume", "forget")),
        {"do": "putBack", "index": 3},
        {"do": "leaveTemp"},
        {"do": "damage", "kind": "state-fifo"},
        {"do": "mend", "kind": "state-fifo"},
        {"do": "levitate", "height": 3},
        *(
            reserve(1, disturbances=[{"moment": "authorize", "nth": 1, "effect": effect}])
            for effect in ({"raises": None}, {"raises": "POLICY_DENIED"}, {"answers": 3}, {"reenters": True})
        ),
    ]
    outcomes: list[Any] = [
        {"refused": "DURABILITY_FAILED", "sideEffects": "unknown"},
        {"declined": "no such host"},
        {"crashed": "KeyError: 'x'"},
        {"accepted": 3},
        {"accepted": {"record": {}, "result": 3}},
        {"accepted": {"capacity": {"active": 1, "maxActiveRuns": 2}, "commitSeq": 9}},
        {"accepted": {"other": [1.5, None]}},
        None,
    ]
    steps = [step(action, outcomes[at % len(outcomes)], None) for at, action in enumerate(actions)]
    stories = [render_story({"steps": steps[at : at + 20]}) for at in range(0, len(steps), 20)]
    same_as_golden("every-action", [line for story in stories for line in story])


def test_a_long_story_is_cut_in_the_middle_and_says_so() -> None:
    lines = render_story({"steps": [step(LEASE) for _ in range(500)]})
    assert len(lines) < 70
    assert any("(476 steps: see the file)" in line for line in lines)


@pytest.mark.parametrize(
    "trace",
    [
        None,
        [],
        "text",
        {},
        {"steps": None},
        {"steps": "text"},
        {"steps": [None, 1, [], {}, {"action": []}, {"action": {"do": "open"}}, {"action": {"do": "call"}}]},
        {"steps": [step({"do": "call", "arguments": [1], "disturbances": [1, {"effect": 2}]})]},
        {"divergence": {"index": "x", "differences": [1, {}]}},
        {"initial": {"clock": True}, "divergence": []},
        {"kind": "kill"},
        {"kind": "kill", "kills": [1, {}], "after": 3, "history": [2], "broken_off": [1], "violation": []},
    ],
)
def test_a_trace_of_an_unknown_shape_is_shown_not_refused(trace: Any) -> None:
    assert all(line.isprintable() and len(line) <= 80 for line in render_story(trace))


def hostile(value: Any) -> Any:
    """`value` with every text in it hostile, keys of fixed meaning aside."""
    if isinstance(value, dict):
        return {key: hostile(item) if key not in ("do", "kind") else item for key, item in value.items()}
    if isinstance(value, list):
        return [hostile(item) for item in value]
    return HOSTILE if isinstance(value, str) else value


@pytest.mark.parametrize("trace", [OVERBOOKED, KILLED])
def test_hostile_text_in_every_field_is_harmless_and_bounded(trace: dict[str, Any]) -> None:
    lines = render_story(hostile(trace))
    assert all(line.isprintable() and line.isascii() for line in lines)
    assert max(map(len, lines)) <= 200
    assert len(lines) < 400
