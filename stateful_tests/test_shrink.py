"""The shrinker keeps what matters, drops the rest, always the same way, within its budget."""

from collections.abc import Sequence

import pytest

from model.actions import (
    Action,
    AdvanceClock,
    Call,
    Disturbance,
    Happens,
    LeaveTemp,
    Open,
    PutBack,
    Raises,
    ReadEpoch,
    SetLease,
)
from stateful_tests.coordinator import simpler_actions, without
from stateful_tests.shrink import shrink

NOISE: list[Action] = [ReadEpoch(), AdvanceClock(7), LeaveTemp(), SetLease(None)]
TWICE = (Disturbance("authorize", 2, Raises()), Disturbance("read_lease", 1, Happens(AdvanceClock(3))))
NEEDED = Call("h2", "alice", "reserve", {"reservationId": "x", "ttlMs": 60_000, "more": "a long text"}, TWICE)


def _story() -> list[Action]:
    return [*NOISE, Open("h2", "h", 3, 4, False), *NOISE, NEEDED, *NOISE, AdvanceClock(-86_000), *NOISE]


def _fails(actions: Sequence[Action]) -> bool:
    """An opening, later a reserve with an id and a raising authorize, later a clock that goes back enough."""
    wanted = ["open", "reserve", "back"]
    for action in actions:
        if isinstance(action, Open) and wanted[:1] == ["open"]:
            wanted.pop(0)
        elif isinstance(action, Call) and wanted[:1] == ["reserve"]:
            struck = any(isinstance(one.effect, Raises) for one in action.disturbances)
            if action.operation == "reserve" and "reservationId" in action.arguments and struck:
                wanted.pop(0)
        elif isinstance(action, AdvanceClock) and action.ms <= -500 and wanted == ["back"]:
            return True
    return False


def test_what_is_needed_stays_and_the_rest_goes() -> None:
    found = shrink(_story(), _fails)
    assert found.actions == (
        Open("h2", "h", 3, 1, True),
        Call("h2", "alice", "reserve", {"reservationId": "x"}, (Disturbance("authorize", 1, Raises()),)),
        AdvanceClock(-1_000),
    )
    assert not found.exhausted


def test_shrinking_is_deterministic() -> None:
    assert shrink(_story(), _fails) == shrink(_story(), _fails)


@pytest.mark.parametrize("budget", [0, 1, 5, 20])
def test_the_budget_is_kept_and_the_result_still_fails(budget: int) -> None:
    tried = 0

    def counted(actions: Sequence[Action]) -> bool:
        nonlocal tried
        tried += 1
        return _fails(actions)

    found = shrink(_story(), counted, budget=budget)
    assert tried == found.tries <= budget
    assert found.exhausted
    assert _fails(found.actions)


def test_hosts_are_merged_where_one_is_enough() -> None:
    actions: list[Action] = [Open("h1", "h", 1, 1), Open("h2", "h", 1, 1), Call("h2", "a", "snapshot")]
    found = shrink(actions, lambda those: any(isinstance(one, Call) for one in those) and len(those) > 1)
    assert {one.host for one in found.actions if isinstance(one, Open | Call)} == {"h1"}


def test_nothing_is_simplified_for_ever() -> None:
    for action in (*_story(), PutBack(3)):
        seen, left = set(), [action]
        while left:
            for simpler in simpler_actions(left.pop()):
                if str(simpler) not in seen:
                    seen.add(str(simpler))
                    left.append(simpler)
        assert str(action) not in seen


def test_a_later_state_put_back_becomes_an_earlier_one() -> None:
    assert list(simpler_actions(PutBack(2))) == [PutBack(0), PutBack(1)]


def _commit(sequence: int) -> Call:
    return Call("h", "alice", "commit", {"id": "x", "projectAdmitCommitSeq": sequence})


def test_numbers_that_count_what_is_left_out_fall_with_it() -> None:
    def fails(actions: Sequence[Action]) -> bool:
        """A commit that names the number of openings before it, and a state that counts all before it."""
        opened = sum(isinstance(action, Open) for action in actions)
        committed = [at for at, action in enumerate(actions) if action == _commit(max(opened, 1))]
        return bool(committed) and isinstance(actions[-1], PutBack) and actions[-1].index == len(actions) - 2

    story: list[Action] = [*(Open("h", "h", 1, 1) for _ in range(4)), _commit(4), PutBack(4)]
    assert fails(story)
    assert shrink(story, fails).actions == (_commit(1), PutBack(0))


def test_time_that_is_left_out_passes_later() -> None:
    story: tuple[Action, ...] = (AdvanceClock(5), ReadEpoch(), AdvanceClock(7), AdvanceClock(1))
    assert list(without(story, 0)) == [(ReadEpoch(), AdvanceClock(12), AdvanceClock(1))]
    assert list(without(story, 1)) == []
    assert list(without(story, 3)) == []
