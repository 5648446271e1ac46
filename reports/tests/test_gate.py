"""Accepted, refused or undecided: each reason is seen, and each suppression ends."""

from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest

from reports.gate import Decision, decide
from reports.policy import Policy, Suppression, parse
from reports.tests.examples import EXAMPLES, hostile, inconclusive, passed, violated

TODAY = date(2030, 6, 1)
LATER = date(2030, 6, 2)


def judged(results: Mapping[str, Any], policy: Policy | None = None, **more: Any) -> Decision:
    return decide(results, policy, today=more.pop("today", TODAY), **more)


def suppressing(*pairs: tuple[Any, str], until: date = TODAY) -> Policy:
    return Policy(suppressions=tuple(Suppression(kind, what, "jo", "why", until) for kind, what in pairs))


def reasons(decision: Decision) -> str:
    return "\n".join(f"{reason.kind}: {reason.sentence}" for reason in decision.reasons)


def saying(results: Mapping[str, Any], word: str, code: int) -> dict[str, Any]:
    """`results` with another verdict."""
    return {**results, "verdict": {**results["verdict"], "word": word, "exit_code": code}}


def test_without_a_policy_the_runs_own_verdict_decides() -> None:
    words = {name: judged(EXAMPLES[name].results).word for name in EXAMPLES}
    assert words == {
        "passed": "ACCEPTED",
        "violated": "REFUSED",
        "inconclusive": "UNDECIDED",
        "hostile": "REFUSED",
    }
    exits = [judged(example.results).exit for example in (passed(), violated(), inconclusive())]
    assert exits == [0, 1, 3]


def test_a_refusal_names_each_clause_with_its_first_counterexample() -> None:
    told = reasons(judged(violated().results))
    assert "violated: C6 (1 counterexample): reserve killed at state-rename-before" in told
    assert "what it answers (1 counterexample): readState" in told
    many = [{**one, "title": "x" * 999} for one in violated().results["failures"]]
    assert len(reasons(judged({**violated().results, "failures": many}))) < 1_000


def test_what_was_not_checked_is_told_in_full() -> None:
    told = reasons(judged(inconclusive().results))
    assert "invariants: 1 of 12 jobs were lost" in told
    assert "invariants: 3 of 12 jobs were not run" in told
    assert "invariants: seen too rarely: witness/true-capacity (0 of 1)" in told
    assert "phases that were not begun: kills" in told


@pytest.mark.parametrize(
    ("word", "code", "told"),
    [
        ("INTERRUPTED", 130, "was interrupted"),
        ("HARNESS FAILED", 4, "harness failed"),
        ("INCONCLUSIVE", 3, "own verdict is"),
    ],
)
def test_no_verdict_but_passed_is_accepted(word: str, code: int, told: str) -> None:
    decision = judged(saying(passed().results, word, code))
    assert decision.word == "UNDECIDED"
    assert "contradict" not in reasons(decision)
    assert told in reasons(decision)


def test_a_violation_without_a_counterexample_is_none_the_less_refused() -> None:
    results = passed().results
    assert judged({**results, "verdict": {**results["verdict"], "word": "VIOLATED"}}).word == "REFUSED"


ALL = (("property", "C6"), ("property", "Operations"), ("property", "what it answers"))


def test_suppressed_failures_are_put_up_with_and_told() -> None:
    decision = judged(violated().results, suppressing(*ALL))
    assert (decision.word, decision.reasons, decision.notes) == ("ACCEPTED", (), ())
    assert len(decision.suppressed) == 3
    assert decision.suppressed[0] == "1 counterexample: property C6 (until 2030-06-01, jo: why)"


def test_an_expired_suppression_is_none() -> None:
    decision = judged(violated().results, suppressing(*ALL), today=LATER)
    assert (decision.word, decision.suppressed) == ("REFUSED", ())
    assert (
        decision.notes[0] == "expired, and no suppression any more: property C6 (until 2030-06-01, jo: why)"
    )


def test_one_failure_is_suppressed_by_its_id_and_no_other() -> None:
    results = violated().results
    first, second, *_ = results["failures"]
    decision = judged(results, suppressing(("failure", first["id"])))
    assert decision.word == "REFUSED"
    assert all(first not in reason.failures for reason in decision.reasons)
    assert any(second in reason.failures for reason in decision.reasons)


def test_a_suppression_that_nothing_needs_is_told() -> None:
    decision = judged(passed().results, suppressing(("property", "C6")))
    assert decision.word == "ACCEPTED"
    assert decision.notes == ("not needed any more, so take it out: property C6 (until 2030-06-01, jo: why)",)


def test_a_floor_is_suppressed_exactly_or_by_its_beginning_and_a_lost_job_never() -> None:
    results = inconclusive().results
    for what in ("witness/true-capacity", "witness/*", "*"):
        decision = judged(results, suppressing(("floor", what)))
        assert decision.word == "UNDECIDED"
        assert "seen too rarely" not in reasons(decision)
        assert "jobs were lost" in reasons(decision)
        assert decision.suppressed == (f"seen too rarely: floor {what} (until 2030-06-01, jo: why)",)
    assert "seen too rarely" in reasons(judged(results, suppressing(("floor", "witness/tru"))))


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        ("require.profiles = ['ci']", "the profile is quick, and the policy asks for ci"),
        ("require.phases = ['kills', 'exploration']", "were not run: exploration"),
        ("require.properties = ['S99']", "does not know: S99"),
        ("floors.actions = 1_000_000", "the policy's floor actions: "),
        ("floors.kills = 1_000_000", "the policy's floor kills: "),
        ('floors."rule/open/never" = 1', "the policy's floor rule/open/never: 0 of 1"),
    ],
)
def test_what_a_policy_asks_for_is_missed(policy: str, told: str) -> None:
    decision = judged(passed().results, parse(f"schema_version = 1\n{policy}"))
    assert decision.word == "UNDECIDED"
    assert told in reasons(decision)


def test_a_policy_that_is_kept_is_accepted() -> None:
    text = """
        schema_version = 1
        require.profiles = ["quick"]
        require.phases = ["kills"]
        require.committed = true
        floors.actions = 10
        floors."rule/open/accepted" = 2_939
    """
    assert judged(passed().results, parse(text)) == Decision("ACCEPTED", ())


def test_code_with_changes_is_not_that_of_a_commit() -> None:
    results, policy = passed().results, Policy(committed=True)
    for code in ({"dirty": True}, {"dirty": None}, {"commit": None}):
        decision = judged({**results, "code": {**results["code"], **code}}, policy)
        assert "not that of a commit" in reasons(decision)


def test_a_required_property_that_was_not_looked_at_leaves_it_undecided() -> None:
    results = passed().results
    rows = [{**results["properties"][0], "verdict": "not looked at"}, *results["properties"][1:]]
    name = f"{rows[0]['system']}/{rows[0]['id']}"
    for policy in (Policy(properties="all"), Policy(properties=(rows[0]["id"],)), Policy(properties=(name,))):
        decision = judged({**results, "properties": rows}, policy)
        assert decision.word == "UNDECIDED"
        assert f"{name} (not looked at)" in reasons(decision)


def test_a_required_property_that_is_violated_unseen_is_refused() -> None:
    results = passed().results
    rows = [{**one, "verdict": "violated"} for one in results["properties"][:1]]
    assert judged({**results, "properties": rows}, Policy(properties="all")).word == "REFUSED"


def test_against_an_older_run_it_says_what_is_new_and_what_is_gone() -> None:
    old, new = passed().results, violated().results
    assert any(line.startswith("new: C6: ") for line in judged(new, older=old).changed)
    assert any(line.startswith("gone: C6: ") for line in judged(old, older=new).changed)
    assert judged(old, older=old).changed == ()


def test_properties_that_are_no_longer_looked_at_leave_it_undecided_unless_they_may_go() -> None:
    old = passed().results
    new = {**old, "properties": old["properties"][1:]}
    decision = judged(new, older=old)
    assert decision.word == "UNDECIDED"
    assert "properties that the older run looked at are no longer: " in reasons(decision)
    assert judged(new, Policy(properties_may_go=True), older=old).word == "ACCEPTED"


def test_counts_may_fall_by_the_share_that_the_policy_allows() -> None:
    old = passed().results
    new = {**old, "phases": [{**phase, "counts": {}} for phase in old["phases"]]}
    assert judged(new, older=old).word == "ACCEPTED"
    decision = judged(new, Policy(may_fall=0.1), older=old)
    assert decision.word == "UNDECIDED"
    assert "actions fell from " in reasons(decision)
    assert judged(old, Policy(may_fall=0.0), older=old).word == "ACCEPTED"


def test_a_part_of_a_check_is_undecided_unless_the_policy_accepts_parts() -> None:
    good = passed().results
    part = {**good, "left_out": ["kills"], "phases": [p for p in good["phases"] if p["name"] != "kills"]}
    for policy in (None, Policy(), parse("schema_version = 1\nrequire.phases = ['kills']")):
        decision = judged(part, policy)
        assert decision.word == "UNDECIDED"
        assert "phases of this check were left out: kills; a policy with require.whole = false" in reasons(
            decision
        )
    decision = judged(part, parse("schema_version = 1\nrequire.whole = false"))
    assert decision.word == "ACCEPTED"
    assert decision.notes == ("this run speaks for a part alone: left out were kills",)


COMMAND = 'python3 "my store.py" {directory}'


def of_target(results: Mapping[str, Any], command: str = COMMAND, *, lost: bool = False) -> dict[str, Any]:
    """`results` as those of a target; with `lost` no job has lived to tell of it."""
    told = {"target": [{"command": command, "policy": {"code": [], "missing": [], "field": []}}]}
    phases = [phase if lost else {**phase, "details": told} for phase in results["phases"]]
    typed = ["holdtrue", "check", f"--target={command}"]
    return {**results, "phases": phases, "environment": {**results["environment"], "command": typed}}


@pytest.mark.parametrize("lost", [False, True])
def test_a_run_of_a_target_is_none_of_the_projects_own_store_under_any_policy_that_names_no_target(
    lost: bool,
) -> None:
    results = of_target(passed().results, lost=lost)
    decision = judged(results, Policy())
    assert decision.word == "UNDECIDED"
    told = reasons(decision)
    assert "and the policy asks for the project's own store" in told
    line = told.partition("write ")[2]
    assert judged(results, parse(f"schema_version = 1\n{line}")) == Decision("ACCEPTED", ())
    assert judged(results, None).word == "ACCEPTED", "without a policy the run's own verdict decides"


def test_a_policy_that_names_a_target_takes_neither_another_nor_our_own_store() -> None:
    policy = Policy(target="node mine.js {directory}")
    for results in (passed().results, of_target(passed().results)):
        decision = judged(results, policy)
        assert decision.word == "UNDECIDED"
        assert "and the policy asks for the target 'node mine.js {directory}'" in reasons(decision)


def test_a_run_is_not_compared_with_one_of_another_store_unless_the_policy_lets_the_store_change() -> None:
    ours, one, other = (
        passed().results,
        of_target(passed().results),
        of_target(passed().results, "other {directory}"),
    )
    for old, new in ((ours, one), (one, ours), (one, other)):
        decision = judged(new, older=old)
        assert decision.word == "UNDECIDED"
        assert "the older run is one of " in reasons(decision)
        assert "they did not check the same: " in decision.changed[0]
    allowed = parse(
        "schema_version = 1\nagainst.store_may_change = true\nrequire.target = 'other {directory}'"
    )
    assert judged(other, allowed, older=one).word == "ACCEPTED"
    assert judged(one, older=one).word == "ACCEPTED"


def test_hostile_results_are_judged_like_others() -> None:
    assert judged(hostile().results, Policy(properties="all"), older=hostile().results).word == "REFUSED"
