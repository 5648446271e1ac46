"""The scenarios make sense to the model, and between them they do everything that the store can do."""

import pytest

import model
from crash_tests.paths import PASSED
from crash_tests.scenarios import SCENARIOS, Scenario
from model.actions import OPERATIONS, Call, Open, ReadEpoch
from model.outcomes import Accepted, Declined

REFUSED = {"sweep-refused", "refused-capacity"}


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
def test_the_model_accepts_a_scenario_as_it_is_told(scenario: Scenario) -> None:
    world = model.initial_world()
    for action in scenario.history:
        world, outcome = model.step(world, action)
        assert isinstance(outcome, Accepted), action
    for action in scenario.flight:
        world, outcome = model.step(world, action)
        assert not isinstance(outcome, Declined)
        assert isinstance(outcome, Accepted) == (scenario.name not in REFUSED)


def test_every_operation_is_in_flight_somewhere() -> None:
    flights = [action for scenario in SCENARIOS.values() for action in scenario.flight]
    assert {action.operation for action in flights if isinstance(action, Call)} == set(OPERATIONS)
    assert any(isinstance(action, Open) for action in flights)
    assert any(isinstance(action, ReadEpoch) for action in flights)


def test_a_counterexample_from_any_scenario_has_at_most_ten_actions() -> None:
    for scenario in SCENARIOS.values():
        assert len(scenario.history) + len(scenario.flight) <= 10, scenario.name


def test_every_scenario_has_its_path_written_down() -> None:
    assert list(PASSED) == list(SCENARIOS)


def test_sweeps_in_flight_end_both_ways() -> None:
    states = set()
    for name in ("sweep-to-committed", "sweep-to-expired", "sweep-both-ways"):
        world = model.initial_world()
        for action in (*SCENARIOS[name].history, *SCENARIOS[name].flight):
            world, _ = model.step(world, action)
        assert world.store is not None
        states.add(tuple(row.state for row in world.store.rows))
    assert states == {("committed", "reserved"), ("expired", "reserved"), ("committed", "expired")}
