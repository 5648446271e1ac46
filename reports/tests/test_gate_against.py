"""Against an older run: deviations that were added since are named, and not accepted unasked."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from reports.gate import Decision, decide
from reports.policy import Policy, parse
from reports.tests.examples import passed
from reports.tests.test_gate import COMMAND, of_target, reasons

CODE = {"operation": "renew", "model": "COMMAND_FAILED", "store": "NO", "reason": "shorter"}
RENEW = "renew: NO for COMMAND_FAILED"


def declaring(**more: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    policy = {"code": [], "missing": [], "field": [], **more}
    results = of_target(passed().results)
    told = {"target": [{"command": COMMAND, "policy": policy}]}
    return {**results, "phases": [{**phase, "details": told} for phase in results["phases"]]}


def judged(now: Mapping[str, Any], older: Mapping[str, Any], policy: Policy | None = None) -> Decision:
    return decide(now, policy, today=date(2030, 6, 1), older=older)


def test_deviations_that_were_added_are_named_and_leave_it_undecided_unless_they_may_grow() -> None:
    field = {"name": "updatedAt", "reason": "unread"}
    gone = {"operation": "dispatch", "reason": "elsewhere"}
    older, now = declaring(), declaring(code=[CODE], field=[field], missing=[gone])
    for policy in (None, Policy(target=COMMAND)):
        decision = judged(now, older, policy)
        assert decision.word == "UNDECIDED"
        listed = f"no dispatch, {RENEW}, rows without updatedAt"
        assert f"deviations that the older run did not know are declared: {listed}" in reasons(decision)
        assert f"deviation newly declared: {RENEW}" in decision.changed
    allowed = parse(
        f"schema_version = 1\nagainst.deviations_may_grow = true\nrequire.target = '''{COMMAND}'''"
    )
    assert judged(now, older, allowed).word == "ACCEPTED"


def test_deviations_that_are_gone_or_told_of_in_other_words_are_no_reason() -> None:
    reworded = declaring(code=[{**CODE, "reason": "as agreed"}])
    assert judged(reworded, declaring(code=[CODE])) == Decision("ACCEPTED", ())
    decision = judged(declaring(), declaring(code=[CODE]))
    assert decision.word == "ACCEPTED"
    assert decision.changed == (f"deviation no longer declared: {RENEW}",)
