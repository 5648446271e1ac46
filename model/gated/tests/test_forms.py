"""JSON forms: what is written is read back, and what is wrong is refused with its place."""

import json
import random
from typing import Any, get_args

import pytest

from model.gated import initial_world, step
from model.gated.actions import Action, CloseLedger, Crash, Fault, OpenLedger, Tamper
from model.gated.forms import (
    action_from_json,
    action_to_json,
    outcome_to_json,
    store_to_json,
    world_from_json,
    world_to_json,
)
from model.gated.outcomes import Accepted, Declined, Outcome, Raised, Refused
from model.gated.tests.worlds import (
    A,
    B,
    a_compensator,
    a_step,
    apply,
    counted,
    ledger,
    lines,
    ok,
    put,
    torn,
    undo,
)
from model.gated.walk import walk


def test_actions_and_worlds_survive_json() -> None:
    kinds = set()
    for seed in range(12):
        world = initial_world()
        for action in walk(random.Random(seed), 60):
            form = action_to_json(action)
            assert action_from_json(json.loads(json.dumps(form))) == action
            kinds.add(form["do"])
            world, _ = step(world, action)
            assert world_from_json(json.loads(json.dumps(world_to_json(world)))) == world
    assert len(kinds) == len(get_args(Action))


def test_a_world_that_was_read_goes_on_as_the_one_that_was_written() -> None:
    world = torn(counted(3))
    again = world_from_json(world_to_json(world))
    assert step(again, put("k4")) == step(world, put("k4"))


def test_an_action_names_its_kind_and_leaves_defaults_out() -> None:
    assert action_to_json(OpenLedger("ann")) == {"do": "openLedger", "client": "ann"}
    assert action_to_json(put("k")) == {
        "do": "transact",
        "client": "ann",
        "operationId": "op",
        "runId": "run",
        "nodeId": "node",
        "eventType": "event",
        "phase": "apply",
        "idempotencyKey": "k",
        "mutation": {"increment": "count"},
    }
    assert action_to_json(apply(a_step(1, raises="after"), faults=(Fault("append", 2, "full"),))) == {
        "do": "applySteps",
        "client": "ann",
        "runId": "run",
        "nodeId": "node",
        "operationId": "op",
        "steps": [
            {
                "id": "s1",
                "receiptId": "r1",
                "sequence": 1,
                "idempotent": True,
                "beforeStateHash": B,
                "afterStateHash": A,
                "raises": "after",
            }
        ],
        "faults": [{"moment": "append", "nth": 2, "kind": "full"}],
    }
    assert action_to_json(Crash("ann", "begin", OpenLedger("ann"))) == {
        "do": "crash",
        "client": "ann",
        "at": "begin",
        "inside": {"do": "openLedger", "client": "ann"},
    }
    assert action_to_json(Crash("ann")) == {"do": "crash", "client": "ann"}
    assert action_to_json(Tamper("line-removed", 2)) == {"do": "tamper", "kind": "line-removed", "line": 2}


def test_false_and_zero_are_not_taken_for_a_default() -> None:
    for action in (put(phase="verify", verifier=False), put(intent=False), put(intent=0)):
        assert action_from_json(action_to_json(action)) == action
        assert "verifier" in action_to_json(action) or "intent" in action_to_json(action)


GOOD: dict[str, Any] = action_to_json(put("k"))
STEPS: dict[str, Any] = action_to_json(apply(a_step(1)))
UNDO: dict[str, Any] = action_to_json(undo(a_compensator(1)))


def of(form: dict[str, Any], **changes: object) -> dict[str, Any]:
    return {**form, **changes}


def fault(**changes: object) -> dict[str, Any]:
    return of(GOOD, faults=[{"moment": "append", "nth": 1, "kind": "full", **changes}])


@pytest.mark.parametrize(
    ("form", "says"),
    [
        (None, "action: an object is needed"),
        ({}, "action.do: None is no action"),
        ({"do": "open"}, "action.do: 'open' is no action; known are applySteps"),
        ({"do": "closeLedger"}, "action.client: missing in 'closeLedger'"),
        ({"do": "closeLedger", "client": 1}, "action.client: a string is needed"),
        (of(GOOD, more=1), "action: unknown field 'more'"),
        (of(GOOD, attemptId=1), "action.attemptId: a string is needed"),
        (of(GOOD, mutation=[]), "action.mutation: an object is needed"),
        (
            of(GOOD, mutation={"increment": "a", "set": {}}),
            "action.mutation: ['increment', 'set'] is no mutation",
        ),
        (of(GOOD, mutation={"increment": 1}), "action.mutation.increment: a string is needed"),
        (of(GOOD, mutation={"set": []}), "action.mutation.set: an object is needed"),
        (of(GOOD, mutation={"remove": [1]}), "action.mutation.remove: a list of names is needed"),
        (of(GOOD, mutation={"raises": False}), "action.mutation.raises: False is none of True"),
        (of(GOOD, verifier=1), "action.verifier: 1 is none of"),
        (of(GOOD, faults={}), "action.faults: a list is needed"),
        (fault(moment="later"), "action.faults[0].moment: 'later' is none of"),
        (fault(kind="locked"), "action.faults[0].kind: 'locked' is none of 'fails', 'full'"),
        (fault(nth=0), "action.faults[0].nth: arrivals are counted from 1"),
        (fault(nth=True), "action.faults[0].nth: an integer is needed"),
        (of(STEPS, steps=[1]), "action.steps[0]: an object is needed"),
        (of(STEPS, steps=[{}]), "action.steps[0].id: missing in 'step'"),
        (of(STEPS, steps=[of(STEPS["steps"][0], applied=True)]), "action.steps[0]: unknown field 'applied'"),
        (
            of(STEPS, steps=[of(STEPS["steps"][0], raises="never")]),
            "action.steps[0].raises: 'never' is none of",
        ),
        (
            of(UNDO, steps=[of(UNDO["steps"][0], idempotent=1)]),
            "action.steps[0].idempotent: a boolean is needed",
        ),
        ({"do": "tamper", "kind": "burned"}, "action.kind: 'burned' is none of"),
        (
            {"do": "crash", "client": "a", "inside": {"do": "tamper", "kind": "tail-cut"}},
            "nobody dies inside 'tamper'",
        ),
        ({"do": "crash", "client": "a", "inside": {"do": "x"}}, "action.inside.do: 'x' is no action"),
    ],
)
def test_what_is_no_action_is_refused_with_its_place(form: object, says: str) -> None:
    with pytest.raises(ValueError, match="action") as refusal:
        action_from_json(form)
    assert says in str(refusal.value)


@pytest.mark.parametrize(
    ("outcome", "form"),
    [
        (Accepted(), {"accepted": None}),
        (Accepted({"a": 1}), {"accepted": {"a": 1}}),
        (
            Refused("SQLITE_MIRROR_FAILED", "retry"),
            {"refused": "SQLITE_MIRROR_FAILED", "recoverability": "retry"},
        ),
        (
            Refused("IDEMPOTENCY_CONFLICT", "operator", True),
            {"refused": "IDEMPOTENCY_CONFLICT", "recoverability": "operator", "rollbackFailed": True},
        ),
        (Raised("step"), {"raised": "step"}),
        (Raised("mutation", True), {"raised": "mutation", "rollbackFailed": True}),
        (Declined("no"), {"declined": "no"}),
    ],
)
def test_an_outcome_has_a_form(outcome: Outcome, form: dict[str, Any]) -> None:
    assert outcome_to_json(outcome) == form


def test_a_store_is_what_its_two_files_say() -> None:
    world = torn(counted(2), 7)
    first, second = lines(world)
    assert store_to_json(world) == {
        "ledger": [first.hash, second.hash],
        "tail": 7,
        "size": ledger(world).size,
        "mirror": {
            "sequence": 2,
            "head": second.hash,
            "size": ledger(world).size - 7,
            "state": {"count": 2},
        },
    }
    assert store_to_json(initial_world()) == {"ledger": [], "tail": 0, "size": 0, "mirror": "missing"}
    edited = ok(counted(2), Tamper("line-edited", 1, 3), CloseLedger("ann"), Tamper("mirror-corrupt"))
    assert store_to_json(edited)["ledger"] == [None, second.hash]
    assert store_to_json(edited)["mirror"] == "corrupt"


def test_a_world_with_a_line_that_is_none_is_not_read() -> None:
    form: Any = world_to_json(counted(1))
    ((digest, line),) = form["lines"].items()
    form["lines"] = {digest: {**line, "sequence": 2}}
    with pytest.raises(ValueError, match="no valid line"):
        world_from_json(form)
