"""Each assumption about the surroundings is needed: without it, an admitted run loses its slot.

Every trace is played twice: in a world that has dropped the assumption it ends in a violation of true
capacity; in one that has not, the event that forbids itself is declined, or what follows is excused.
"""

import pytest

from model import initial_world, step
from model.actions import (
    Abandon,
    Action,
    AdvanceClock,
    Close,
    Forget,
    Open,
    Park,
    PutBack,
    Quiesce,
    Resume,
)
from model.invariants import check_world
from model.outcomes import Accepted, Declined
from model.surroundings import ASSUMPTIONS
from model.tests.worlds import (
    DOMAIN,
    PROJECT,
    TTL,
    admit,
    call,
    commit,
    lease,
    over,
    release,
    reserve,
    rid,
    run_id,
    says,
    subject,
)
from model.values import JSON, World

OPENED: tuple[Action, ...] = (lease(), Open("h", "alpha", 1, 1))
ADMITTED: tuple[Action, ...] = (*OPENED, reserve(), admit())
COMMITTED: tuple[Action, ...] = (*ADMITTED, commit())
LIE: JSON = {**subject(), "status": "abandoned", "abandonmentCommitSeq": 9, "runVersion": 0}

TRACES: dict[str, tuple[Action, ...]] = {
    "admits-under-grant": (*OPENED, admit()),
    "admits-once": (*COMMITTED, *over(), release(), admit()),
    "abandon-is-final": (
        *OPENED,
        reserve(),
        Abandon(rid(1), PROJECT, DOMAIN, run_id(1)),
        AdvanceClock(TTL),
        call("snapshot"),
        admit(),
    ),
    "facts-survive": (*ADMITTED, Forget(rid(1)), AdvanceClock(TTL), call("snapshot")),
    "proofs-true": (
        *ADMITTED,
        AdvanceClock(TTL),
        call("snapshot", during=(*says("read_admission", None), *says("abandon_admission_if_absent", LIE))),
    ),
    "parked-stays": (*COMMITTED, Park(rid(1)), Quiesce(rid(1)), release(), Resume(rid(1))),
    "files-stay": (*COMMITTED, Close("h"), PutBack(0), Open("h", "alpha", 1, 1), reserve(2)),
}


def play(trace: tuple[Action, ...], *dropped: str) -> tuple[World, list[Action]]:
    """The world at the end, and the actions that were declined on the way; the rest must be accepted."""
    world, declined = initial_world(dropped=frozenset(dropped)), []
    for action in trace:
        world, outcome = step(world, action)
        if isinstance(outcome, Declined):
            declined.append(action)
    return world, declined


def test_every_assumption_has_its_trace() -> None:
    assert set(TRACES) == set(ASSUMPTIONS)
    assert all(sentence.endswith(".") for sentence in ASSUMPTIONS.values())


@pytest.mark.parametrize("name", ASSUMPTIONS)
def test_dropping_an_assumption_shows_a_violation_of_true_capacity(name: str) -> None:
    world, declined = play(TRACES[name], name)
    assert declined == []
    assert "true-capacity" in check_world(world)


@pytest.mark.parametrize("name", ASSUMPTIONS)
def test_nothing_is_violated_before_the_last_of_those_actions(name: str) -> None:
    """The trace is no longer than it need be, but for `files-stay`: rolling back is itself the violation."""
    shorter = TRACES[name][:-1] if name != "files-stay" else TRACES[name][:-3]
    world, _ = play(shorter, name)
    assert check_world(world) == ()


@pytest.mark.parametrize("name", ASSUMPTIONS)
def test_while_an_assumption_holds_nothing_is_violated(name: str) -> None:
    world, declined = play(TRACES[name])
    assert declined or world.broken
    assert check_world(world) == ()


@pytest.mark.parametrize("name", ASSUMPTIONS)
def test_dropping_the_other_assumptions_does_not_let_it_happen(name: str) -> None:
    world, declined = play(TRACES[name], *(other for other in ASSUMPTIONS if other != name))
    assert declined or world.broken
    assert "true-capacity" not in check_world(world)


def test_without_its_assumption_more_runs_live_than_there_are_slots() -> None:
    """The whole point: one slot, two runs."""
    trace = (*TRACES["facts-survive"], reserve(2), admit(2), commit(2, 3))
    world, declined = play(trace, "facts-survive")
    assert declined == []
    assert "live-runs-fit" in check_world(world)


def test_an_untrue_release_proof_is_remembered_against_the_surroundings() -> None:
    proof: JSON = {
        **subject(),
        "projectAdmitCommitSeq": 1,
        "runVersion": 1,
        "proofId": "p",
        "status": "failed",
        "stage": "terminal",
        "requiresReadmission": False,
        "providerNoLiveProcessTree": True,
        "noAmbiguousJobs": True,
        "reconcileTimeoutOnly": False,
    }
    trace = (*COMMITTED, release(during=says("read_release", proof)))
    world, _ = play(trace)
    assert world.broken == {f"proofs-true:{rid(1)}"}
    assert check_world(world) == ()
    world, _ = play(trace, "proofs-true")
    assert "true-capacity" in check_world(world)
    assert "live-runs-fit" not in check_world(world)


def test_a_lie_that_was_not_believed_is_no_excuse() -> None:
    elsewhere: JSON = {**subject(2), "status": "abandoned", "abandonmentCommitSeq": 9, "runVersion": 0}
    told = call(
        "snapshot", during=(*says("read_admission", None), *says("abandon_admission_if_absent", elsewhere))
    )
    world, _ = play((*ADMITTED, AdvanceClock(TTL), told))
    assert world.broken == frozenset()


def test_rolling_back_under_an_open_store_is_allowed_since_it_is_noticed() -> None:
    world, declined = play((*COMMITTED, PutBack(0)))
    assert declined == []
    assert check_world(world) == ()
    _, outcome = step(world, reserve(2))
    assert not isinstance(outcome, Accepted)
