"""The paths written down are those that the store takes, and between them they pass every marked point."""

from collections import Counter

import pytest

import model
from crash_tests.ground import ground
from crash_tests.paths import IDENTIFY, PASSED, PUBLISH, points
from crash_tests.scenarios import SCENARIOS, Scenario
from crash_tests.trial import prepared, record
from impl import disk
from model.actions import ReadEpoch


def _passed(scenario: Scenario) -> tuple[str, ...]:
    with ground(missing=scenario.layout == "missing") as place, prepared(scenario, place) as situation:
        return tuple(arrival.key for arrival in record(situation))


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
def test_a_scenario_passes_the_points_that_are_written_down(scenario: Scenario) -> None:
    assert _passed(scenario) == points(PASSED[scenario.name])


def test_every_declared_point_is_passed_by_some_scenario() -> None:
    passed = {key.partition("#")[0] for steps in PASSED.values() for key in points(steps)}
    assert passed == set(disk.COORDINATOR_POINTS)


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
def test_an_action_costs_at_most_two_fsyncs_and_one_rename_genesis_aside(scenario: Scenario) -> None:
    steps = Counter(step.rpartition("-")[2] for step in PASSED[scenario.name])
    most = len(scenario.flight)
    if not scenario.name.startswith("genesis"):
        assert steps["fsync"] + steps["dirsync"] <= 2 * most
        assert steps["rename"] <= most


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
def test_a_state_is_published_exactly_where_the_model_changes_it(scenario: Scenario) -> None:
    world = model.initial_world()
    for action in scenario.history:
        world, _ = model.step(world, action)
    changes = 0
    for action in scenario.flight:
        after, _ = model.step(world, action)
        changes += after.store != world.store
        world = after
    assert PASSED[scenario.name].count("state-rename") == changes


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
def test_publications_take_their_steps_in_order_and_under_the_mutex(scenario: Scenario) -> None:
    steps = PASSED[scenario.name]
    if scenario.flight == (ReadEpoch(),):
        assert "lock-acquire" not in steps
        return
    for subject, order in (("state", PUBLISH), ("identity", IDENTIFY)):
        taken = [step for step in steps if step in order]
        assert taken == list(order) * (len(taken) // len(order)), subject
    held = False
    for step in steps:
        held = held or step == "lock-acquire"
        assert held or step.startswith(("mkdir", "lock-create", "foreign"))
        held = held and step != "lock-release"
    assert not held
