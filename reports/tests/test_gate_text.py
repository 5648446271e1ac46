"""What a gate says: golden, in 80 columns, and harmless whatever the run holds."""

import re
from datetime import date
from typing import Any

import pytest

from reports.gate import Decision, Reason, decide
from reports.gate_text import MOST_ANNOTATIONS, annotations, markdown, render_decision
from reports.plain import COLUMNS
from reports.policy import Policy, Suppression
from reports.tests.examples import EXAMPLES, hostile, passed, violated
from reports.tests.golden import same_as_golden
from reports.tests.samples import HOSTILE

TODAY = date(2030, 6, 1)
RUN = "reports/out/20300101T120000Z-1a2b3c"
POLICY = Policy(
    profiles=("ci",),
    floors={"kills": 5_000},
    suppressions=(
        Suppression("property", "C6", "jo@example.org", "mended in the next release", date(2030, 6, 30)),
        Suppression("property", "S3", "jo@example.org", "an old story", date(2030, 5, 31)),
    ),
)
COMMAND = re.compile(r"::(error|warning|notice) title=[^\n:,]*(,file=[^\n:,]*)?::[^\n]*")


def decided(name: str, policy: Policy | None = POLICY) -> Decision:
    return decide(EXAMPLES[name].results, policy, today=TODAY, older=passed().results)


@pytest.mark.parametrize("name", ["passed", "violated", "inconclusive"])
def test_a_decision_on_a_terminal(name: str) -> None:
    lines = render_decision(
        decided(name), EXAMPLES[name].results, run=RUN, policy="policy.toml", older="reports/out/older"
    )
    same_as_golden(f"gate-{name}", lines)
    assert max(map(len, lines)) <= COLUMNS


def test_annotations_as_the_runner_wants_them() -> None:
    made = annotations(decided("violated"), violated().results)
    same_as_golden("gate-annotations", made)
    assert all(COMMAND.fullmatch(one) for one in made)


def test_a_decision_in_markdown() -> None:
    same_as_golden("gate-markdown", markdown(decided("violated"), violated().results).splitlines())


def test_the_worst_comes_first_and_more_than_ten_are_counted() -> None:
    reasons = [Reason("unchecked", f"short {number}") for number in range(20)]
    reasons.append(Reason("violated", "the worst"))
    made = annotations(Decision("REFUSED", tuple(reasons)), passed().results)
    assert len(made) == MOST_ANNOTATIONS
    assert made[0].endswith("::the worst")
    assert made[-1] == "::error title=holdtrue%3A more::and 12 more: see the step's summary"


EVIL = (
    HOSTILE,
    "\n::error::mine",
    "a%0A::b,c:d\r\n::stop-commands::x",
    "##[error]mine",
    "\u2028::x::",
    "%25",
)


def poisoned(value: Any, evil: str) -> Any:
    if isinstance(value, dict):
        return {key: poisoned(one, evil) for key, one in value.items()}
    if isinstance(value, list):
        return [poisoned(one, evil) for one in value]
    return f"{evil}{value}" if isinstance(value, str) else value


@pytest.mark.parametrize("evil", EVIL, ids=range(len(EVIL)))
def test_nothing_in_a_run_commands_the_runner_or_the_terminal(evil: str) -> None:
    results = violated().results
    results = {
        **results,
        "failures": poisoned(results["failures"], evil),
        "left_out": [evil],
        "environment": poisoned(results["environment"], evil),
        "code": {**results["code"], "commit": evil, "holdtrue": evil},
        "profile": evil,
    }
    decision = decide(results, POLICY, today=TODAY)
    for one in annotations(decision, results):
        assert COMMAND.fullmatch(one), one
        assert one.isprintable()
    lines = render_decision(decision, results, run=evil, policy=evil, older=evil)
    assert all(line.isprintable() for line in lines)
    told = markdown(decision, results)
    assert "<script" not in told
    assert all(line.isprintable() for line in told.splitlines())


def test_a_hostile_run_is_told_in_bounds() -> None:
    decision = decide(hostile().results, None, today=TODAY, older=passed().results)
    lines = render_decision(decision, hostile().results, run=RUN, policy="", older="x")
    assert len(lines) < 200
    assert all(line.isprintable() for line in lines)
    assert all(len(one) < 4_000 for one in annotations(decision, hostile().results))


def test_a_run_of_a_target_names_its_command_and_how_much_was_left_out() -> None:
    results = dict(passed().results)
    missing = [{"operation": "renew", "reason": "never"}]
    told = {
        "command": "node \x1b mine.js {directory}",
        "policy": {"code": [], "missing": missing, "field": []},
    }
    first, *others = results["phases"]
    counts = {**first["counts"], "beyond/pinned traces": 31}
    results["phases"] = [{**first, "counts": counts, "details": {"target": [told]}}, *others]
    lines = render_decision(decide(results, None, today=TODAY), results, run=RUN, policy="", older="")
    at = lines.index("target   node \\x1b mine.js {directory}")
    assert lines[at + 1] == "         1 deviation declared, 31 pinned traces out of reach"
    assert max(map(len, lines)) <= COLUMNS
