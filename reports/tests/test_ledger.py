"""The ledger's actions in words, and its coverage in tables; JSON of any shape is shown, never refused."""

import pytest

from model.gated.actions import (
    ApplySteps,
    Compensate,
    CompensationStep,
    Crash,
    Fault,
    OpenLedger,
    ReadState,
    Step,
    Tamper,
    Transact,
)
from model.gated.forms import action_to_json
from model.values import JSON
from reports.coverage import actions_in, kills_in, kills_table, others_table
from reports.ledger_coverage import KINDS, apart, ledger_outcomes_table
from reports.plain import COLUMNS
from reports.summary import render_summary
from reports.tests.samples import phase, results
from reports.words import Names, action_words, outcome_words

PUT = Transact("a", "op", "run", "node", "t", "apply", "k1", {"set": {"x": 1}, "remove": ["y"]}, intent="i")
STEPS = (Step("s1", "r1", 1, False, "b", "a"), Step("s2", "r2", 2, True, "b", "a", "after"))
UNDONE = (CompensationStep("s1", 1, True, True, "before"),)

WORDS = {
    OpenLedger("a"): "a opens the ledger",
    ReadState("a", (Fault("catch-up", 1, "locked"),)): "a reads the state; catch-up no. 1 finds the database"
    " locked",
    Tamper("line-edited", 3, 9): "tampering: line-edited, line 3, 9",
    Crash("a"): "a is killed, idle",
    Crash("a", "append:2", OpenLedger("a")): "a is killed at append:2 of: a opens the ledger",
    ApplySteps("a", "run", "n", "op", STEPS): "a: apply steps of run: s1 (not idempotent),"
    " s2 (raises after its effect)",
    Compensate("a", "run", "n", "op", "c", "b", "a", UNDONE): "a: compensate run/c: s1 (raises before its"
    " effect)",
}


@pytest.mark.parametrize(("action", "words"), WORDS.items(), ids=str)
def test_an_action_is_told_in_words(action: object, words: str) -> None:
    assert action_words(action_to_json(action), Names(0)) == words  # type: ignore[arg-type]  # of the table


def test_a_transaction_is_told_with_what_it_does() -> None:
    told = action_words(action_to_json(PUT), Names(0))
    assert told == "a: transact k1 (apply), sets {x: 1}, removes y, intent i"
    for mutation, words in (
        ({"increment": "n"}, "adds 1 to n"),
        ({"raises": True}, "mutate raises"),
        ({"garbage": [1]}, "mutate returns [1]"),
        ({}, "changes nothing"),
        (7, "7"),
    ):
        form: dict[str, object] = {**action_to_json(PUT), "mutation": mutation}
        assert words in action_words(form, Names(0))


def test_answers_and_refusals_are_told() -> None:
    names = Names(0)
    record: JSON = {"idempotencyKey": "k1"}
    done: JSON = {"status": "committed", "applied": True, "record": record, "state": {"x": 1}}
    assert outcome_words({"accepted": done}, names) == "committed k1, state {x: 1}"
    steps: JSON = {"status": "in_doubt", "executedStepIds": ["s1"], "skippedStepIds": ["s0"], "receipts": []}
    told = outcome_words({"accepted": {**steps, "stoppedAtStepId": "s2"}}, names)  # type: ignore[dict-item]
    assert told == "in_doubt, ran s1, skipped s0, stopped at s2"
    report: JSON = {"cutBytes": 3, "replayedEvents": 2, "mirror": "caught-up", "setAside": False}
    assert outcome_words({"accepted": report}, names) == "opened: mirror caught-up, cut 3 bytes, replayed 2"
    refused = {"refused": "SQLITE_MIRROR_FAILED", "recoverability": "retry", "rollbackFailed": True}
    assert outcome_words(refused, names) == "SQLITE_MIRROR_FAILED (retry), rollback failed"
    assert outcome_words({"raised": "step"}, names) == "raised: step"


@pytest.mark.parametrize("broken", [None, 1, [], "x\x1b[0m", {"a": [1]}, True])
def test_json_of_an_unknown_shape_is_shown(broken: JSON) -> None:
    for action in (PUT, OpenLedger("a"), Crash("a", "x", OpenLedger("a")), Tamper("tail-cut", n=1)):
        form = action_to_json(action)
        for key in form:
            told = action_words({**form, key: broken}, Names(0))
            assert "\x1b" not in told
    undone = Compensate("a", "r", "n", "op", "c", "b", "a", UNDONE)
    for steps in (ApplySteps("a", "r", "n", "op", STEPS), undone):
        assert action_words({**action_to_json(steps), "steps": broken}, Names(0))


COUNTS = {
    "ledger/rule/transact/accepted": 5,
    "ledger/rule/transact/SQLITE_MIRROR_FAILED, retry": 2,
    "ledger/rule/transact/SQLITE_MIRROR_FAILED, in_doubt": 1,
    "ledger/rule/transact/raised mutation": 1,
    "ledger/rule/tamper/accepted": 3,
    "ledger/fault/begin/locked": 2,
    "ledger/kill/steps/mirror-commit-after#1": 4,
    "rule/open/accepted": 1,
    "kill/open/mkdir-after#1": 1,
}


def test_the_ledgers_counts_are_told_apart() -> None:
    own, ledgers = apart(COUNTS)
    assert set(own) == {"rule/open/accepted", "kill/open/mkdir-after#1"}
    lines = ledger_outcomes_table(ledgers)
    assert lines[0].split() == ["ok", "raised", "MIR"]
    assert lines[2].split() == ["transact", "5", "1", "3"]
    assert lines[-1] == "events between them: tamper 3"
    assert any("mirror-commit" in line for line in kills_table(ledgers))
    assert any("failing steps" in line for line in others_table(ledgers, {}, KINDS))
    assert (actions_in(COUNTS), kills_in(COUNTS)) == (13, 5)


def test_a_summary_has_a_part_for_each_system() -> None:
    lines = render_summary(
        results(phase("conformance", counts=COUNTS, floors={"ledger/fault/begin/locked": 1}))
    )
    assert "Ledger: calls and outcomes" in lines
    assert "Operations and outcomes (how often each was seen)" in lines
    assert all(len(line) <= COLUMNS for line in lines)
