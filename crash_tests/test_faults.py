"""Failing disk steps: each step that a scenario takes, with every error that it may fail with."""

import errno

import pytest

from crash_tests.faults import ERRORS, Fault, fault_from_json, faults, strike
from crash_tests.ground import ground
from crash_tests.paths import PASSED
from crash_tests.reading import Fields
from crash_tests.scenarios import SCENARIOS
from crash_tests.trial import prepared, record

STRUCK = (
    "genesis",
    "genesis-deep",
    "genesis-overtaken",
    "reserve",
    "sweep-both-ways",
    "foreign-state",
    "leftover-temp",
)


@pytest.mark.parametrize("name", STRUCK)
def test_a_failing_step_fails_its_call_and_harms_nothing(name: str) -> None:
    scenario = SCENARIOS[name]
    with ground(missing=scenario.layout == "missing") as place, prepared(scenario, place) as situation:
        struck = list(faults(record(situation), every_error=True))
        assert [violation for fault in struck if (violation := strike(situation, fault))] == []
    assert {fault.step for fault in struck} == set(PASSED[name])


def test_between_them_the_scenarios_struck_here_take_every_step() -> None:
    taken = {step for name in STRUCK for step in PASSED[name]}
    assert taken == {step for steps in PASSED.values() for step in steps}
    assert {step.rpartition("-")[2] for step in taken} == set(ERRORS)


def test_a_fault_survives_its_json() -> None:
    fault = Fault("state-write-torn", 2, errno.ENOSPC, untidy=True)
    assert fault_from_json(Fields(fault.to_json())) == fault
    assert str(fault) == ("state-write-torn (2) failing with ENOSPC, and its temporary file can't be removed")


@pytest.mark.parametrize(
    ("name", "value"), [("errno", "ENOSUCH"), ("point", "state-eaten"), ("n", "x")], ids=str
)
def test_json_that_is_no_fault_is_refused(name: str, value: str) -> None:
    form = {**Fault("state-write-torn", 1, errno.EIO).to_json(), name: value}
    with pytest.raises(ValueError, match=value):
        fault_from_json(Fields(form))
