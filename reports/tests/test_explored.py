"""An exploration told to a person, from results alone."""

from typing import Any

from attrs import evolve

from model.explorer.findings import Exploration
from model.explorer.properties import Move, Trace, Verdict
from model.explorer.space import Label, Space, State
from reports.explored import (
    bounds_lines,
    counterexamples,
    property_table,
    sizes,
    trace_lines,
    verdict_line,
)

TRACE: Trace[Any, Any] = Trace(
    State("open", ("free", "free")),
    (
        Move(Label("take", 1), "accepted", State("open", ("free", "held"))),
        Move(Label("look"), "accepted", State("open", ("free", "held"))),
    ),
)
HOLDS: Verdict[Any, Any] = Verdict("a", "Always a.", "holds", cases=1234)
BROKEN: Verdict[Any, Any] = Verdict("b", "Never b\x1b[31m.", "violated", trace=TRACE, cases=5)
OPEN: Verdict[Any, Any] = Verdict("c", "Some c.", "inconclusive", "never put to the test")
IDLE: Verdict[Any, Any] = Verdict("d", "No d.", "holds")


def explored(*verdicts: Verdict[Any, Any]) -> Exploration[Any, Any]:
    return Exploration(
        complete=True,
        reason="",
        reduced=True,
        states=10,
        transitions=20,
        full_states=1000,
        full_transitions=3000,
        levels=(1, 4, 5),
        fired=12,
        seconds=0.5,
        taken={("take", "accepted"): 15, ("look", "accepted"): 5},
        dead=(),
        verdicts=verdicts,
    )


def test_sizes_are_told_with_what_they_stand_for() -> None:
    assert list(sizes(explored(HOLDS), calibration_s=0.75)) == [
        "worlds       10, up to names; they stand for 1,000",
        "transitions  20, up to names; they stand for 3,000",
        "depth        2 steps to the farthest world",
        "actions      2, of which none could never happen",
        "outcomes     2 pairs of an action and what came of it",
        "CPU time     0.5 s: 20 worlds/s; the model was asked 12 times",
        "             ten million additions in Python took 0.75 s meanwhile",
    ]


def test_actions_that_never_happened_are_named() -> None:
    told = list(sizes(evolve(explored(HOLDS), dead=("fly",), reduced=False), calibration_s=1))
    assert told[0].startswith("worlds       10")
    assert "actions      3, of which 1 could never happen" in told
    assert "             - never: fly" in told


def test_every_property_is_in_the_table() -> None:
    assert property_table((HOLDS, BROKEN, OPEN, IDLE)) == [
        "verdict           cases  property",
        "------------  ---------  -------------------------------------------------------",
        "holds             1,234  a: Always a.",
        "violated              5  b: Never b\\x1b[31m. (shown in 2 steps)",
        "inconclusive          -  c: Some c. (never put to the test)",
        "not tested            -  d: No d.",
    ]


def test_a_trace_is_told_in_what_changed() -> None:
    class Rooms(Space[str, str]):
        slot_word = "room "

    assert list(trace_lines(Rooms(), TRACE)) == [
        "  at first",
        "       open",
        "       room 1: free",
        "       room 2: free",
        "    1  take on room 2: accepted",
        "         room 2: free → held",
        "    2  look: accepted",
        "         (nothing changes)",
    ]


def test_only_some_counterexamples_are_shown_and_the_others_counted() -> None:
    many = [evolve(BROKEN, id=f"b{number}") for number in range(5)]
    told = list(counterexamples(explored(HOLDS, *many), Space()))
    assert sum(line.startswith("broken: ") for line in told) == 3
    assert told[-1] == "and 2 more, each shown by --property ID"
    assert not any("\x1b" in line for line in told)


def test_the_verdict_is_the_worst_that_there_is() -> None:
    assert verdict_line(explored(HOLDS))[1] == "PASSED  all 1 properties hold in all 1,000 worlds"
    passed = "PASSED  1 of 2 properties hold in all 1,000 worlds; 1 not tested"
    assert verdict_line(explored(HOLDS, IDLE))[1] == passed
    assert verdict_line(explored(HOLDS, OPEN))[0] == "INCONCLUSIVE"
    assert verdict_line(explored(OPEN, BROKEN)) == ("VIOLATED", "VIOLATED  b: 1 of 2 properties")
    cut = evolve(explored(HOLDS), complete=False, reason="the budget is spent")
    assert verdict_line(cut)[1].endswith("not all was seen: the budget is spent")
    assert verdict_line(evolve(explored(HOLDS), dead=("fly",)))[1] == "INCONCLUSIVE  never could happen: fly"


def test_bounds_are_wrapped_and_said_in_words() -> None:
    told = bounds_lines({"ids": 3, "merge_leases": False, "maxima": (1, 2), "untested": ["x"], "y": "z" * 70})
    assert told[0] == "bounds       ids 3; merge leases no; maxima 1, 2; y"
    assert all(len(line) <= 80 for line in told)
    assert not any("untested" in line for line in told)
