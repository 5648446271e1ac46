"""What a target can't do is not sent but counted, and what it can do is all sent."""

import random
from collections import Counter

import pytest

import model
from model import walk
from model.actions import (
    DAMAGES,
    Action,
    AdvanceClock,
    Answers,
    Call,
    Close,
    Damage,
    Disturbance,
    Forget,
    Happens,
    LeaveTemp,
    Open,
    PutBack,
    Raises,
    ReadEpoch,
    Reenters,
    SetLease,
)
from model.outcomes import Declined
from stateful_tests import pinned
from stateful_tests.system import COORDINATOR
from stateful_tests.wire import reach
from stateful_tests.wire.capabilities import EFFECTS, Capabilities
from stateful_tests.wire.policy import Missing, Policy
from stateful_tests.wire.reach import Reach, within
from stateful_tests.wire.runners import out_of_reach
from stateful_tests.wire.serve import CAPABILITIES

LEAST = Reach()
ALL = Reach(CAPABILITIES)
AT_LEASE = Capabilities(moments=frozenset({"read_lease"}), effects=frozenset({"raises", "happens"}))


def struck(effect: Raises | Answers | Reenters | Happens, moment: str = "read_lease") -> Call:
    return Call("h", "alice", "snapshot", {}, (Disturbance(moment, 1, effect),))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("action", "can", "why"),
    [
        (ReadEpoch(), LEAST, reach.EPOCH),
        (Damage(DAMAGES[0]), ALL, reach.FILES),
        (PutBack(0), ALL, reach.FILES),
        (LeaveTemp(), ALL, reach.FILES),
        (struck(Happens(Damage("directory-removed"))), ALL, reach.FILES),
        (Forget("x"), ALL, reach.ASSUMPTIONS),
        (struck(Raises()), LEAST, "beyond/disturbances at read_lease"),
        (struck(Reenters()), Reach(AT_LEASE), "beyond/disturbances: reenters"),
        (struck(Raises(), "authorize"), Reach(AT_LEASE), "beyond/disturbances at authorize"),
        (Call("h", "alice", "renew", {"ttlMs": 1.0}), LEAST, reach.NUMBERS),
        (Call("h", "alice", "renew", {"ttlMs": 2**53}), LEAST, reach.NUMBERS),
        (SetLease({"expiresAt": [1.5]}), LEAST, reach.NUMBERS),
        (Call("h", "alice", "renew", {"id": "\ud800"}), LEAST, reach.SURROGATES),
        (struck(Answers({"a": "\ud800"})), Reach(AT_LEASE), reach.SURROGATES),
        (Open("h", "a", 1, 1, arbitration=False), Reach(Capabilities(arbitration="always")), None),
    ],
)
def test_what_is_out_of_reach_says_why(action: Action, can: Reach, why: str | None) -> None:
    expected = why or "beyond/a host without arbitration"
    assert can.beyond(action, model.initial_world()) == expected


@pytest.mark.parametrize(
    "action",
    [
        struck(Raises()),
        struck(Happens(AdvanceClock(1))),
        Call("h", "alice", "renew", {"ttlMs": 1, "id": "ü"}),
        Open("h", "a", 1, 1),
    ],
)
def test_what_is_in_reach_is_sent(action: Action) -> None:
    assert Reach(AT_LEASE).beyond(action, model.initial_world()) is None


def test_a_missing_operation_is_left_out_as_declared() -> None:
    policy = Policy(missing=(Missing("dispatch", "not here"),))
    call = Call("h", "alice", "dispatch", {})
    assert Reach(CAPABILITIES, policy).beyond(call, model.initial_world()) == "deviation/no dispatch"
    assert ALL.beyond(call, model.initial_world()) is None


def walked(can: Reach, steps: int) -> tuple[list[Action], Counter[str]]:
    counts: Counter[str] = Counter()
    draw = within(walk.draw, can, counts)
    rng, world, taken = random.Random("reach"), model.initial_world(), []
    for _ in range(steps):
        action = draw(rng, world)
        assert can.beyond(action, world) is None
        after, outcome = model.step(world, action)
        if not isinstance(outcome, Declined):
            taken.append(action)
            world = after
    return taken, counts


def test_a_walk_within_the_least_reach_still_goes_somewhere() -> None:
    taken, counts = walked(LEAST, 2_000)
    assert {type(action) for action in taken} >= {Call, Open, Close, AdvanceClock, SetLease}
    assert counts[reach.HOSTS]
    assert counts[reach.FILES]
    assert all(key.startswith("beyond/") for key in counts)


def test_a_target_of_one_host_never_has_two() -> None:
    taken, _ = walked(Reach(Capabilities(moments=AT_LEASE.moments, effects=frozenset(EFFECTS))), 2_000)
    world = model.initial_world()
    for action in taken:
        world, _ = model.step(world, action)
        assert sum(host.is_open for host in world.hosts) <= 1


def test_all_pinned_traces_without_changes_of_files_are_in_reach_of_our_own_store() -> None:
    """31 of them change files from outside; a trace that leaves reach silently would lower this number."""
    traces = [pinned.pinned(name) for name in pinned.names(COORDINATOR)]
    out = [out_of_reach(trace, ALL) for trace in traces]
    assert {why for why in out if why} <= {reach.FILES, reach.ASSUMPTIONS}
    assert out.count(None) >= 99


def test_a_pinned_trace_whose_epoch_can_not_be_read_is_followed_without_that() -> None:
    trace = pinned.pinned("a-newer-epoch-fences-the-older-host")
    assert any(isinstance(action, ReadEpoch) for action in trace.actions)
    assert out_of_reach(trace, Reach(Capabilities(hosts="many"))) is None
