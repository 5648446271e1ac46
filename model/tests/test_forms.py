"""JSON forms: they go there and back, name things as the specification does, and refuse what is none."""

import json
import random
from hashlib import sha256
from typing import Any

import pytest

from model import initial_world, step
from model.actions import (
    Abandon,
    Action,
    Admit,
    AdvanceClock,
    Answers,
    Call,
    Close,
    Damage,
    Disturbance,
    Finish,
    Forget,
    Happens,
    LeaveTemp,
    Mend,
    Open,
    Park,
    PutBack,
    Quiesce,
    Raises,
    ReadEpoch,
    Reenters,
    Resume,
    SetIdentity,
    SetLease,
)
from model.forms import (
    action_from_json,
    action_to_json,
    canonical,
    command_to_json,
    outcome_to_json,
    reservation_to_json,
    row_to_json,
    store_to_json,
    value_to_json,
    world_from_json,
    world_to_json,
)
from model.outcomes import Accepted, Declined, Refused
from model.tests.worlds import (
    CLOCK,
    DOMAIN,
    PROJECT,
    call,
    cid,
    committed,
    force,
    maximum,
    ok,
    opened,
    over,
    release,
    reserve,
    rid,
    row,
    run_id,
    the_store,
    value,
)
from model.values import Snapshot
from model.walk import walk

ACTIONS: list[tuple[Action, dict[str, Any]]] = [
    (Open("h", "alpha", 1, 2), {"do": "open", "host": "h", "holderId": "alpha", "epoch": 1,
                                "initialMaxActiveRuns": 2}),
    (Open("h", None, 1.5, [], False), {"do": "open", "host": "h", "holderId": None, "epoch": 1.5,
                                       "initialMaxActiveRuns": [], "arbitration": False}),
    (Call("h", "alice", "snapshot"), {"do": "call", "host": "h", "context": "alice",
                                      "operation": "snapshot"}),
    (Call("h", "a", "renew", {"id": "x"}), {"do": "call", "host": "h", "context": "a", "operation": "renew",
                                            "arguments": {"id": "x"}}),
    (Close("h"), {"do": "close", "host": "h"}),
    (ReadEpoch(), {"do": "readEpoch"}),
    (AdvanceClock(-3), {"do": "advanceClock", "ms": -3}),
    (SetLease({"holderId": 1}), {"do": "setLease", "lease": {"holderId": 1}}),
    (SetIdentity("eve", None), {"do": "setIdentity", "context": "eve", "identity": None}),
    (Admit("r", "p", "d", "n"), {"do": "admit", "reservationId": "r", "projectId": "p",
                                 "projectControlDomainId": "d", "runId": "n"}),
    (Abandon("r", "p", "d", "n"), {"do": "abandon", "reservationId": "r", "projectId": "p",
                                   "projectControlDomainId": "d", "runId": "n"}),
    (Finish("r", "failed"), {"do": "finish", "reservationId": "r", "status": "failed"}),
    (Park("r"), {"do": "park", "reservationId": "r"}),
    (Quiesce("r"), {"do": "quiesce", "reservationId": "r"}),
    (Resume("r"), {"do": "resume", "reservationId": "r"}),
    (Forget("r"), {"do": "forget", "reservationId": "r"}),
    (PutBack(2), {"do": "putBack", "index": 2}),
    (LeaveTemp(), {"do": "leaveTemp"}),
    (Damage("state-mode"), {"do": "damage", "kind": "state-mode"}),
    (Mend("state-mode"), {"do": "mend", "kind": "state-mode"}),
]  # fmt: skip

EFFECTS: list[tuple[Any, dict[str, Any]]] = [
    (Raises(), {"raises": None}),
    (Raises("POLICY_DENIED"), {"raises": "POLICY_DENIED"}),
    (Answers({"a": [1]}), {"answers": {"a": [1]}}),
    (Reenters(), {"reenters": True}),
    (Happens(Close("h")), {"happens": {"do": "close", "host": "h"}}),
]


@pytest.mark.parametrize(("action", "form"), ACTIONS, ids=[str(form["do"]) for _, form in ACTIONS])
def test_an_action_has_one_form_and_comes_back_from_it(action: Action, form: dict[str, Any]) -> None:
    assert action_to_json(action) == form
    assert action_from_json(json.loads(json.dumps(form))) == action


def test_every_kind_of_action_has_a_form() -> None:
    assert {type(action) for action, _ in ACTIONS} == set(Action.__args__)


@pytest.mark.parametrize(("effect", "form"), EFFECTS, ids=[next(iter(form)) for _, form in EFFECTS])
def test_a_disturbance_has_one_form_and_comes_back_from_it(effect: Any, form: dict[str, Any]) -> None:
    action = Call("h", "a", "snapshot", {}, (Disturbance("authorize", 2, effect),))
    disturbed = {"do": "call", "host": "h", "context": "a", "operation": "snapshot",
                 "disturbances": [{"moment": "authorize", "nth": 2, "effect": form}]}  # fmt: skip
    assert action_to_json(action) == disturbed
    assert action_from_json(disturbed) == action


def disturbed(**changes: Any) -> dict[str, Any]:
    one = {"moment": "authorize", "nth": 1, "effect": {"raises": None}, **changes}
    return {**action_to_json(Call("h", "a", "snapshot")), "disturbances": [one]}


@pytest.mark.parametrize(
    ("form", "says"),
    [
        (None, "action: an object"),
        ([], "action: an object"),
        ({}, "action.do: None"),
        ({"do": "reserve"}, "action.do: 'reserve'"),
        ({"do": ["close"]}, "action.do:"),
        ({"do": "close"}, "action.host: missing"),
        ({"do": "close", "host": 1}, "action.host: a string"),
        ({"do": "close", "host": "h", "hots": 1}, "unknown field 'hots'"),
        ({"do": "advanceClock", "ms": True}, "action.ms: an integer"),
        ({"do": "advanceClock", "ms": 1.0}, "action.ms: an integer"),
        ({"do": "damage", "kind": "state-eaten"}, "action.kind: 'state-eaten'"),
        ({"do": "finish", "reservationId": "r", "status": "running"}, "action.status: 'running'"),
        ({"do": "call", "host": "h", "context": "a", "operation": "x", "arguments": []}, "action.arguments"),
        ({"do": "call", "host": "h", "context": "a", "operation": "x", "disturbances": {}}, "a list"),
        ({"do": "open", "host": "h", "holderId": 1, "epoch": 1, "initialMaxActiveRuns": 1, "arbitration": 1},
         "action.arbitration: a boolean"),
        (disturbed(moment="lunch"), "action.disturbances[0].moment: 'lunch'"),
        (disturbed(nth=0), "action.disturbances[0].nth"),
        (disturbed(nth="1"), "action.disturbances[0].nth"),
        (disturbed(when=1), "action.disturbances[0]: unknown field 'when'"),
        (disturbed(effect={}), "action.disturbances[0].effect: exactly one"),
        (disturbed(effect={"raises": None, "answers": 1}), "exactly one"),
        (disturbed(effect={"explodes": 1}), "unknown field 'explodes'"),
        (disturbed(effect={"reenters": 1}), "reenters: true"),
        (disturbed(effect={"raises": 1}), "action.disturbances[0].effect.raises"),
        (disturbed(effect={"happens": {"do": "readEpoch"}}), "happens: 'readEpoch' is no event"),
        (disturbed(effect={"happens": {"do": "nap"}}), "action.disturbances[0].effect.happens.do: 'nap'"),
    ],
)  # fmt: skip
def test_what_is_no_action_is_refused_saying_what_and_where(form: Any, says: str) -> None:
    with pytest.raises(ValueError, match=r"^action") as refusal:
        action_from_json(form)
    assert says in str(refusal.value)


def test_actions_of_a_walk_come_back_through_text() -> None:
    for seed in range(10):
        for action in walk(random.Random(seed), 60):
            assert action_from_json(json.loads(json.dumps(action_to_json(action)))) == action


def test_a_row_is_shown_in_the_specifications_terms() -> None:
    world = ok(committed(), *over(), release())
    assert row_to_json(row(world)) == {
        "reservation": {
            "reservationId": rid(1),
            "state": "released",
            "slots": 1,
            "projectId": PROJECT,
            "projectControlDomainId": DOMAIN,
            "runId": run_id(1),
            "projectAdmitCommitSeq": 1,
            "coordinatorEpoch": 1,
        },
        "ownerId": "o-alice",
        "principal": "p-alice",
        "updatedAt": CLOCK,
        "admitRunVersion": 1,
        "releaseKind": "normal",
        "releaseProofId": "proof-1-2",
        "concurrencyGuarantee": "enforced",
    }


def test_a_reservation_is_a_copy_each_time() -> None:
    found = row(committed())
    reservation_to_json(found)["state"] = "x"
    assert reservation_to_json(found)["state"] == "committed"


def test_a_command_is_shown_with_the_hash_of_its_request() -> None:
    world = ok(opened(), reserve(), force(reason="“gone” \u0001"), maximum(7, command=2))
    forced, raised = the_store(world).commands
    text = (
        '{"kind":"forceRelease","reason":"“gone” \\u0001","reservationId":"' + rid(1) + '",'
        '"riskAcknowledgement":true}'
    )
    assert command_to_json(forced) == {
        "request": {"kind": "forceRelease", "reservationId": rid(1), "riskAcknowledgement": True,
                    "reason": "“gone” \u0001"},
        "record": {"commandId": cid(1), "kind": "forceRelease",
                   "requestHash": sha256(text.encode()).hexdigest(), "callerPrincipal": "p-root",
                   "firstCommitSeq": 3, "lastCommitSeq": 3, "status": "completed"},
        "result": row_to_json(row(world)),
    }  # fmt: skip
    assert command_to_json(raised)["result"] == 7
    assert command_to_json(raised)["request"] == {"kind": "setMaxActiveRuns", "maxActiveRuns": 7}


def test_canonical_text_is_sorted_tight_and_hardly_escaped() -> None:
    assert (
        canonical({"b": [1, True, None], "a": 'ü"\\\n\x7f/'}) == '{"a":"ü\\"\\\\\\n\x7f/","b":[1,true,null]}'
    )


def test_a_snapshot_counts_what_it_shows() -> None:
    world = ok(committed(1, opened(maximum=5)), reserve(2), reserve(3), call("markOrphanSuspect", id=rid(1)))
    shown = value_to_json(value(world, call("snapshot")))  # type: ignore[arg-type]  # a snapshot
    assert isinstance(shown, dict)
    assert shown["capacity"] == {
        "maxActiveRuns": 5, "active": 3, "reserved": 2, "committed": 0, "orphanSuspect": 1,
    }  # fmt: skip
    assert shown["concurrencyGuarantee"] == "enforced"
    overridden = ok(world, force(2), maximum(9, command=2))
    found = value(overridden, call("snapshot"))
    assert isinstance(found, Snapshot)
    shown = value_to_json(found)
    assert isinstance(shown, dict)
    assert shown["concurrencyGuarantee"] == "operator-overridden"
    assert (shown["commitSeq"], shown["fencingEpoch"]) == (8, 1)


def test_a_store_is_shown_without_hashes_and_identity() -> None:
    store = the_store(ok(opened(), reserve(), maximum(3)))
    assert store_to_json(store) == {
        "version": 1,
        "fencingEpoch": 1,
        "commitSeq": 3,
        "lastWallTime": CLOCK,
        "maxActiveRuns": 3,
        "reservations": [row_to_json(store.rows[0])],
        "commands": {cid(1): command_to_json(store.commands[0])},
        "audit": [
            {"commitSeq": number, "epoch": 1, "recordedAt": CLOCK, "action": action, "principal": principal}
            for number, action, principal in (
                (1, "initialize", "coordinator-bootstrap"),
                (2, "reserve", "p-alice"),
                (3, "setMaxActiveRuns", "p-root"),
            )
        ],
    }


def test_an_outcome_is_shown_as_what_it_is() -> None:
    assert outcome_to_json(Accepted(7)) == {"accepted": 7}
    assert outcome_to_json(Accepted()) == {"accepted": None}
    assert outcome_to_json(Refused("X", "unknown")) == {"refused": "X", "sideEffects": "unknown"}
    assert outcome_to_json(Declined("no")) == {"declined": "no"}


@pytest.mark.parametrize("seed", range(4))
def test_a_world_comes_back_through_text(seed: int) -> None:
    world = initial_world()
    for action in walk(random.Random(seed), 80):
        world, _ = step(world, action)
    assert world_from_json(json.loads(json.dumps(world_to_json(world)))) == world


def test_shared_parts_of_a_world_are_written_once_and_shared_again() -> None:
    world = ok(committed(), *over(), release())
    back = world_from_json(json.loads(json.dumps(world_to_json(world))))
    assert back.store is back.earlier[-1]
    assert back.hosts[0].seen is back.store
