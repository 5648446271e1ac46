"""The crash matrix: what becomes of a reservation and its run, whatever the point of the kill."""

from collections.abc import Mapping

import pytest

from crash_tests.afterwards import reopening
from crash_tests.ground import ground
from crash_tests.oracle import Violation
from crash_tests.scenarios import LATE, SCENARIOS, call, uuid_of
from crash_tests.trial import Situation, kill, prepared, record, recover

MATRIX: Mapping[str, tuple[int, set[str | None], set[str | None]]] = {
    # scenario: (row, states right after recovery, states once every time limit has passed)
    "reserve": (2, {None, "reserved"}, {None, "expired"}),
    "commit": (1, {"reserved", "committed"}, {"committed"}),
    "dispatch": (1, {"committed"}, {"committed"}),
    "mark-orphan-suspect": (1, {"committed", "orphan-suspect"}, {"committed", "orphan-suspect"}),
    "normal-release": (1, {"committed", "released"}, {"committed", "released"}),
    "force-release": (1, {"committed", "released"}, {"committed", "released"}),
    "sweep-to-committed": (1, {"reserved", "committed"}, {"committed"}),
    "sweep-to-expired": (1, {"reserved", "expired"}, {"expired"}),
}


def _state(situation: Situation, number: int) -> str | None:
    store = situation.fresh(situation.memory).observe().store
    assert store is not None
    states = {
        row["reservation"]["reservationId"]: row["reservation"]["state"] for row in store["reservations"]
    }
    return states.get(uuid_of(number))


@pytest.mark.parametrize("name", MATRIX)
def test_a_reservation_is_what_the_crash_matrix_says(name: str) -> None:
    scenario, (row, recovered, later) = SCENARIOS[name], MATRIX[name]
    seen: tuple[set[str | None], set[str | None]] = (set(), set())
    with ground() as place, prepared(scenario, place) as situation:
        for arrival in record(situation):
            left = kill(situation, arrival)
            assert not isinstance(left, Violation), left
            world = left.decided.world
            opens = reopening(scenario.flight, world)
            # An opening sweeps, so a row that is due already may move on at once.
            assert recover(situation, left, opens) is None
            seen[0].add(_state(situation, row))
            later_on = kill(situation, arrival)
            assert not isinstance(later_on, Violation), later_on
            assert recover(situation, later_on, (LATE, *opens, call("snapshot", host="a"))) is None
            seen[1].add(_state(situation, row))
    assert seen[0] <= recovered
    assert seen[1] == later


@pytest.mark.parametrize("name", ["genesis", "genesis-deep", "genesis-completed", "genesis-overtaken"])
def test_killed_anywhere_in_genesis_no_reservation_is_there_and_the_store_opens(name: str) -> None:
    scenario = SCENARIOS[name]
    with ground(missing=scenario.layout == "missing") as place, prepared(scenario, place) as situation:
        for arrival in record(situation):
            left = kill(situation, arrival)
            assert not isinstance(left, Violation), left
            assert recover(situation, left, reopening(scenario.flight, left.decided.world)) is None
            observed = situation.fresh(left.memory).observe()
            assert observed.store is not None
            assert observed.store["reservations"] == []
            assert observed.identity
            assert observed.temps == 0
