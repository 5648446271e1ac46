"""Results that contradict themselves are never accepted, and no suppression covers what it doesn't name."""

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

import pytest

from reports.consistency import comes_to, contradictions
from reports.gate import Decision, decide
from reports.policy import Policy, Suppression, parse
from reports.tests.examples import EXAMPLES, passed, violated
from reports.tests.test_gate import COMMAND, of_target, reasons, saying

TODAY = date(2030, 6, 1)
Results = dict[str, Any]
FLOOR = "witness/never"


def judged(results: Mapping[str, Any], policy: Policy | None = None, **more: Any) -> Decision:
    return decide(results, policy, today=TODAY, **more)


def putting_up_with(kind: Any, what: str, **more: Any) -> Policy:
    return Policy(suppressions=(Suppression(kind, what, "jo", "why", TODAY),), **more)


def phase(results: Mapping[str, Any], at: int = 0, **changes: Any) -> Results:
    """`results`, one of whose phases is changed."""
    phases = [{**one, **changes} if number == at else one for number, one in enumerate(results["phases"])]
    return {**results, "phases": phases}


def exploration(results: Mapping[str, Any], **changes: Any) -> Results:
    return {**results, "explorations": [{**results["explorations"][0], **changes}]}


def missing(results: Mapping[str, Any]) -> Results:
    """`results` with a floor that was missed, and the verdict that goes with it."""
    rare = phase(results, floors={FLOOR: 1}, below_floor=[[FLOOR, 0, 1]])
    return saying(rare, "INCONCLUSIVE", 3)


def retold(results: Mapping[str, Any], at: int, told: Any) -> Results:
    return phase(results, at, details={"target": told})


def test_results_as_a_check_writes_them_do_not_contradict_themselves() -> None:
    for name in ("passed", "violated", "inconclusive"):
        assert list(contradictions(EXAMPLES[name].results)) == []
    assert list(contradictions(of_target(passed().results))) == []


def test_what_the_parts_come_to_is_the_verdict_by_the_runs_own_rules() -> None:
    good = passed().results
    assert comes_to(good) == "PASSED"
    assert comes_to(violated().results) == "VIOLATED"
    assert comes_to(missing(good)) == "INCONCLUSIVE"
    assert comes_to(phase(good, out_of_time=1)) == "INCONCLUSIVE"
    assert comes_to(phase(good, planned=0, done=0)) == "INCONCLUSIVE"
    assert comes_to({**good, "not_begun": ["kills"]}) == "INCONCLUSIVE"
    assert comes_to(phase(good, given_up=1)) == "HARNESS FAILED"
    assert comes_to({**good, "interrupted": True}) == "INTERRUPTED"
    assert comes_to(exploration(good, verdict="violated")) == "VIOLATED"
    for verdict in ("inconclusive", "so-so", ["holds"], 3):
        assert comes_to(exploration(good, verdict=verdict)) == "INCONCLUSIVE"
    assert comes_to(exploration(good, verdict=None, properties=None)) == "PASSED"


CONTRADICTORY: Mapping[str, tuple[Callable[[Results], Results], str]] = {
    "a pass that ended with 1": (lambda run: saying(run, "PASSED", 1), "its exit code 1 says another one"),
    "an interruption with 0": (lambda run: saying(run, "INTERRUPTED", 0), "its exit code 0 says another"),
    "more done than planned": (lambda run: phase(run, done=13), "13 jobs have ended, and 12 were planned"),
    "a phase twice": (lambda run: {**run, "phases": run["phases"] + run["phases"][:1]}, "stand there twice"),
    "left out and there": (lambda run: {**run, "left_out": ["kills"]}, "said not to have been: kills"),
    "failures not listed": (lambda run: phase(run, failures=2), "2 failures are counted, and none is listed"),
    "an exploration gone": (
        lambda run: {**phase(run, name="exploration"), "explorations": []},
        "no exploration is listed",
    ),
}


@pytest.mark.parametrize(("edit", "told"), CONTRADICTORY.values(), ids=list(CONTRADICTORY))
@pytest.mark.parametrize("policy", [None, Policy(), putting_up_with("floor", "*", whole=False)])
def test_results_that_contradict_themselves_are_not_accepted(
    policy: Policy | None, edit: Callable[[Results], Results], told: str
) -> None:
    decision = judged(edit(dict(passed().results)), policy)
    assert decision.word == "UNDECIDED"
    assert "the results contradict themselves: " in reasons(decision)
    assert told in reasons(decision)


def test_jobs_that_tell_of_two_targets_are_not_accepted_whichever_the_policy_asks_for() -> None:
    good = of_target(passed().results)
    told = good["phases"][0]["details"]["target"][0]
    other = {**told, "command": "other {directory}"}
    for results in (retold(good, 1, [other]), retold(good, 0, [told, other])):
        decision = judged(results, Policy(target=COMMAND))
        assert decision.word == "UNDECIDED"
        assert "its jobs tell of different targets: " in reasons(decision)
    lax = {**told["policy"], "missing": [{"operation": "renew", "reason": "x"}]}
    decision = judged(retold(good, 1, [{**told, "policy": lax}]), Policy(target=COMMAND))
    assert "its jobs tell of different deviations of the target" in reasons(decision)
    typed = {**good, "environment": {**good["environment"], "command": ["holdtrue", "--target", "mine"]}}
    assert "the command line names the target 'mine'" in reasons(judged(typed, Policy(target=COMMAND)))


def test_phases_that_are_silently_not_there_count_as_left_out() -> None:
    good = passed().results
    whole = ("conformance", "kills", "invariants")
    assert judged(good, whole=whole) == Decision("ACCEPTED", ())
    part = {**good, "phases": good["phases"][:1]}
    for policy in (None, Policy()):
        decision = judged(part, policy, whole=whole)
        assert decision.word == "UNDECIDED"
        assert "neither there nor said to be left out: kills, invariants" in reasons(decision)
    accepted = judged(part, Policy(whole=False), whole=whole)
    assert accepted.word == "ACCEPTED"
    assert accepted.notes == ("this run speaks for a part alone: left out were kills, invariants",)


def test_a_phase_of_which_nothing_was_planned_is_none_that_was_run() -> None:
    idle = phase(passed().results, 1, planned=0, done=0, counts={})
    policy = parse("schema_version = 1\nrequire.phases = ['kills']")
    told = reasons(judged(idle, policy))
    assert "kills: nothing was planned" in told
    assert "phases that the policy requires were not run: kills" in told
    assert judged(saying(idle, "INCONCLUSIVE", 3)).word == "UNDECIDED"


@pytest.mark.parametrize("policy", [None, putting_up_with("floor", FLOOR)], ids=["plain", "suppressing"])
def test_an_exploration_that_is_not_good_is_a_reason_whatever_the_verdict_says(policy: Policy | None) -> None:
    for good in (passed().results, missing(passed().results)):
        broken = judged(exploration(good, verdict="violated", reason="boom"), policy)
        assert broken.word == "REFUSED"
        assert "violated: the exploration of coordinator/core is violated: boom" in reasons(broken)
        short = judged(exploration(good, verdict="inconclusive", reason="time is up"), policy)
        assert short.word == "UNDECIDED"
        assert "the exploration of coordinator/core is inconclusive: time is up" in reasons(short)
        hidden = [{"id": "S10", "verdict": "violated"}]
        assert judged(exploration(good, properties=hidden), policy).word == "REFUSED"


def test_a_violated_exploration_is_put_up_with_only_by_what_names_its_counterexample() -> None:
    results = violated().results
    one = results["failures"][0]
    found = {**one, "system": "coordinator", "clause": "S10", "property": "S10", "id": "0" * 15 + "1"}
    other = {**found, "clause": "S11", "property": "S11", "id": "0" * 15 + "2"}
    bare = {**exploration(saying(passed().results, "VIOLATED", 1), verdict="violated")}
    bare["explorations"][0]["properties"] = [{"id": "S10", "verdict": "violated"}]
    named = judged({**bare, "failures": [found]}, putting_up_with("failure", found["id"]))
    assert (named.word, named.reasons) == ("ACCEPTED", ())
    unrelated = judged({**bare, "failures": [other]}, putting_up_with("failure", other["id"]))
    assert unrelated.word == "REFUSED"
    assert "the exploration of coordinator/core is violated" in reasons(unrelated)


def test_a_verdict_that_nothing_explains_is_not_accepted_though_a_suppression_is_in_use() -> None:
    policy = putting_up_with("floor", FLOOR, floors={FLOOR: 1})
    decision = judged(saying(passed().results, "INCONCLUSIVE", 3), policy)
    assert decision.suppressed
    assert decision.word == "UNDECIDED"
    assert "the run's own verdict is INCONCLUSIVE, and what it tells of comes to PASSED" in reasons(decision)
    explained = judged(missing(passed().results), policy)
    assert (explained.word, explained.reasons) == ("ACCEPTED", ())
    silent = judged(saying(missing(passed().results), "PASSED", 0), policy)
    assert "own verdict is PASSED, and what it tells of comes to INCONCLUSIVE" in reasons(silent)


def test_a_run_that_hides_its_target_in_some_of_its_phases_or_in_all_contradicts_itself() -> None:
    good = of_target(passed().results)
    assert "and those of kills of none" in reasons(judged(phase(good, 1, details={})))
    own = passed().results
    for key in ("beyond/pinned traces", "deviation/no renew"):
        counts = {**own["phases"][0]["counts"], key: 1}
        assert "it counts what only a check of a target does" in reasons(judged(phase(own, counts=counts)))


def _first(results: Mapping[str, Any], name: str, **changes: Any) -> dict[str, Any]:
    """`results`, the first of whose `name` is changed."""
    first, *others = results[name]
    return {**results, name: [{**first, **changes}, *others]}


def test_a_run_that_did_nothing_is_undecided_whatever_its_verdict_says() -> None:
    good = passed().results
    idle = [{**phase, "planned": 0, "done": 0, "floors": {}} for phase in good["phases"]]
    for phases in ([], idle):
        decision = judged({**good, "phases": phases})
        assert decision.word == "UNDECIDED"
        assert "nothing was checked" in reasons(decision)


def test_a_property_that_is_violated_refuses_a_run_whose_verdict_has_not_heard_of_it() -> None:
    decision = judged(_first(passed().results, "properties", verdict="violated"))
    assert decision.word == "REFUSED"
    assert "is violated" in reasons(decision)


@pytest.mark.parametrize("count", [0, -5])
def test_counts_that_contradict_their_floors_leave_a_run_undecided(count: int) -> None:
    good = passed().results
    phase = good["phases"][0]
    key = "rule/open/accepted"
    edited = _first(good, "phases", counts={**phase["counts"], key: count}, floors={key: 1})
    decision = judged(edited)
    assert decision.word == "UNDECIDED"
    assert f"counts that don't fit what the run says of them: {key}" in reasons(decision)


def test_all_properties_of_a_run_that_lists_none_are_not_there() -> None:
    decision = judged(
        {**passed().results, "properties": []}, parse('schema_version = 1\n[require]\nproperties = "all"')
    )
    assert "this run lists none" in reasons(decision)
