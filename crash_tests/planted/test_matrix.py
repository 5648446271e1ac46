"""The matrix of planted faults: its plan, one hunt that catches, one that can't, one that breaks."""

import pytest

from crash_tests.planted import matrix
from crash_tests.planted.matrix import FAULTS, Hunted, hunted_in, plan, run_hunt
from stateful_tests.results import Job, JobResult


def test_the_plan_has_one_hunt_for_each_fault_of_both_systems() -> None:
    jobs = plan()
    assert len(jobs) == sum(map(len, FAULTS.values())) >= 160
    assert {job.params["system"] for job in jobs} == set(FAULTS)


def test_an_unknown_fault_is_named() -> None:
    with pytest.raises(ValueError, match="no planted fault is called 'nonsense'"):
        plan(["capacity-off-by-one", "nonsense"])


def test_a_hunt_says_what_caught_the_fault_in_how_many_actions() -> None:
    (job,) = plan(["capacity-off-by-one"])
    result = run_hunt(job.params)
    (hunted,) = hunted_in([result])
    assert (hunted.by, hunted.survived, hunted.refuted) == ("corpus", False, False)
    assert 1 <= hunted.actions <= 10
    assert result.counts == {"caught/coordinator/corpus": 1}
    assert JobResult.from_json(result.to_json()).details == hunted.to_json()


def test_without_the_corpus_something_else_catches_it() -> None:
    (job,) = plan(["capacity-off-by-one"], blind=True)
    (hunted,) = hunted_in([run_hunt(job.params)])
    assert hunted.by not in (None, "corpus")


def test_a_hunt_that_breaks_is_no_survivor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(matrix._MODULES, "coordinator", "crash_tests.planted.no_such_hunt")
    with pytest.raises(RuntimeError, match="the hunt for capacity-off-by-one ended with 1"):
        run_hunt(plan(["capacity-off-by-one"])[0].params)


def test_a_hunt_that_never_ends_leaves_a_survivor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix, "LIMIT_S", 0.01)
    (hunted,) = hunted_in([run_hunt(plan(["capacity-off-by-one"])[0].params)])
    assert hunted.survived
    assert hunted.late


def test_an_equivalent_fault_does_not_survive_and_is_refuted_by_a_catch() -> None:
    about = ("coordinator", "capacity-guard-tests-for-equality", "s", "b", "an argument")
    assert not Hunted(*about).survived
    assert Hunted(*about, by="walk").refuted


def test_what_was_hunted_stands_in_the_order_of_the_catalogue() -> None:
    names = list(FAULTS["coordinator"])[:3]
    told = [Hunted("coordinator", name, "", "", "").to_json() for name in reversed(names)]
    results = [JobResult(Job("mutants", "x:y"), details=one) for one in told]
    assert [one.id for one in hunted_in(results)] == names
