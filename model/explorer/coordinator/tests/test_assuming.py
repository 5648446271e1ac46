"""Each assumption of true capacity is needed: exploring without it ends in a shortest violation."""

import pytest

from model.explorer.coordinator.assuming import exploration
from model.surroundings import ASSUMPTIONS

SHORTEST = {
    # One of several equally short ones for each; which of them is shown is the engine's choice.
    "admits-under-grant": ["admit run-a r1"],
    "admits-once": [
        "reserve run-a @h1 alice r1",
        "admit r1",
        "finish completed r1",
        "quiesce r1",
        "commit @h1 alice r1",
        "release @h1 alice r1",
        "admit r1",
    ],
    "abandon-is-final": ["reserve run-a @h1 alice r1", "clock +1 ms", "snapshot @h1 alice", "admit r1"],
    "facts-survive": [
        "reserve run-a @h1 alice r1",
        "clock +1 ms",
        "admit r1",
        "forget r1",
        "snapshot @h1 alice",
    ],
    "proofs-true": [
        "reserve run-a @h1 alice r1",
        "admit r1",
        "commit @h1 alice r1",
        "release while proof whole @h1 alice r1",
    ],
    "parked-stays": [
        "reserve run-a @h1 alice r1",
        "admit r1",
        "finish completed r1",
        "quiesce r1",
        "commit @h1 alice r1",
        "release @h1 alice r1",
        "resume r1",
    ],
    "files-stay": ["reserve run-a @h1 alice r1", "admit r1", "put-back state-1"],
}


@pytest.mark.parametrize("name", ASSUMPTIONS)
def test_without_the_assumption_true_capacity_is_violated_by_a_shortest_trace(name: str) -> None:
    explored = exploration(name, dropped=True)
    verdict = explored.verdict("true-capacity")
    assert verdict.verdict == "violated"
    assert verdict.trace is not None
    labels = [str(move.label) for move in verdict.trace.moves]
    assert (len(labels), labels[-1]) == (len(SHORTEST[name]), SHORTEST[name][-1])


@pytest.mark.parametrize("name", ASSUMPTIONS)
def test_with_the_assumption_the_same_bounds_hold_whole(name: str) -> None:
    explored = exploration(name, dropped=False)
    assert explored.complete
    assert explored.violated == ()


def test_every_assumption_has_its_trace() -> None:
    assert SHORTEST.keys() == ASSUMPTIONS.keys()
