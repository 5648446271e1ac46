"""`serve` answers whatever it is asked, and what makes no sense with an error that says so."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

import model
from stateful_tests.wire.serve import Server, serve
from stateful_tests.wire.target import surroundings_of

AROUND = surroundings_of(model.initial_world())


@pytest.fixture
def server(tmp_path: Path) -> Server:
    server = Server(tmp_path / "store")
    begun = {"id": 1, "do": "begin", "directory": str(tmp_path / "store"), "surroundings": AROUND}
    assert server.answer(begun) == {"id": 1, "ok": None}
    return server


@pytest.mark.parametrize(
    ("request_", "code", "told"),
    [
        ({"do": "dance"}, "UNKNOWN_REQUEST", "'dance' is no request"),
        ({"do": "damage", "kind": "state-missing"}, "UNKNOWN_REQUEST", "no request"),
        ({"do": "advanceClock"}, "UNKNOWN_REQUEST", "request.ms: missing"),
        ({"do": "advanceClock", "ms": 1, "extra": 1}, "UNKNOWN_REQUEST", "unknown field 'extra'"),
        ({"do": "call", "host": "h", "context": "alice", "operation": "snapshot"}, "NO_SUCH_HOST", "'h'"),
        ({"do": "begin"}, "UNKNOWN_REQUEST", "begin needs"),
        ({"do": "begin", "directory": "x", "surroundings": {}}, "UNKNOWN_REQUEST", "surroundings: KeyError"),
        ({"do": "armCrash", "point": "lunch", "nth": 1}, "UNKNOWN_REQUEST", "'lunch' is no marked point"),
        ({"do": "armCrash", "point": "state-rename-before", "nth": 0}, "UNKNOWN_REQUEST", "from 1"),
        ({}, "UNKNOWN_REQUEST", "None is no request"),
    ],
)
def test_a_request_that_makes_no_sense_is_answered(
    server: Server, request_: dict[str, Any], code: str, told: str
) -> None:
    reply = server.answer({"id": 5, **request_})
    assert reply["id"] == 5
    assert reply["error"]["code"] == code
    assert told in reply["error"]["message"]


def test_nothing_can_be_asked_before_it_has_begun(tmp_path: Path) -> None:
    server = Server(tmp_path / "store")
    for do in ("observe", "readEpoch"):
        assert server.answer({"id": 1, "do": do})["error"]["message"] == "begin comes first"


def test_surroundings_come_back_as_they_were_given(server: Server, tmp_path: Path) -> None:
    facts = {
        "r1": {"reservationId": "r1", "projectId": "p", "projectControlDomainId": "d", "runId": "u"}
        | {"kind": "admitted", "commitSeq": 4, "runVersion": 2, "status": "paused", "stage": "parked"}
        | {"requiresReadmission": True, "quiescent": False},
        "r2": {"reservationId": "r2", "projectId": "p", "projectControlDomainId": "d", "runId": "v"}
        | {"kind": "abandoned", "commitSeq": 5, "runVersion": 0},
    }
    around = {**AROUND, "facts": facts, "launched": ["r1"], "projectSeq": 5}
    server.answer({"id": 2, "do": "begin", "directory": str(tmp_path / "b"), "surroundings": around})
    assert server.answer({"id": 3, "do": "observe"})["ok"] == {"facts": facts, "launched": ["r1"]}


def test_what_struck_is_told_by_its_place_in_the_list(server: Server) -> None:
    lease = {"holderId": "a", "fencingEpoch": 1, "endpoint": "x", "expiresAt": 1_800_000_000_000}
    server.answer({"id": 2, "do": "setLease", "lease": lease})
    disturbances = [
        {"moment": "authorize", "nth": 1, "effect": {"raises": None}},
        {"moment": "read_lease", "nth": 9, "effect": {"answers": None}},
        {"moment": "read_lease", "nth": 1, "effect": {"happens": {"do": "advanceClock", "ms": 1}}},
    ]
    opened = {"id": 3, "do": "open", "host": "h", "holderId": "a", "epoch": 1, "initialMaxActiveRuns": 1}
    assert server.answer({**opened, "disturbances": disturbances})["struck"] == [2]


def test_a_line_that_is_no_request_ends_it(tmp_path: Path) -> None:
    for line in (b"no json\n", b"[]\n"):
        assert serve(tmp_path / "store", io.BytesIO(line), io.BytesIO()) == 2


def test_it_ends_with_its_input(tmp_path: Path) -> None:
    replies = io.BytesIO()
    asked = b'{"id": 1, "do": "hello", "protocol": 1}\n'
    assert serve(tmp_path / "store", io.BytesIO(asked), replies, version="9.9") == 0
    (line,) = replies.getvalue().splitlines()
    assert json.loads(line)["hello"]["version"] == "9.9"
