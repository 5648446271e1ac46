"""Samples for the reports' tests: a trace that diverges, a kill, and the results of a run."""

from collections.abc import Mapping
from typing import Any

START = 1_790_000_000_000
ID = "00000000-0000-4000-8000-00000000000{}"
HOSTILE = "<script>\x1b[31m\x07\r\u202e\u2066\u200b\ud800e\u0301" + "x" * 4096

LEASE = {
    "do": "setLease",
    "lease": {"holderId": "h1", "fencingEpoch": 1, "endpoint": "e", "expiresAt": START + 3_600_000},
}
OPEN = {"do": "open", "host": "h1", "holderId": "h1", "epoch": 1, "initialMaxActiveRuns": 1}
OK: Mapping[str, Any] = {"accepted": None}


def reserve(number: int, context: str = "alice", **more: Any) -> dict[str, Any]:
    return {
        "do": "call",
        "host": "h1",
        "context": context,
        "operation": "reserve",
        "arguments": {
            "reservationId": ID.format(number),
            "projectId": "p1",
            "projectControlDomainId": "d1",
            "runId": f"run-{number}",
            "ttlMs": 60_000,
        },
        **more,
    }


def row(number: int, state: str = "reserved") -> dict[str, Any]:
    return {"accepted": {"reservation": {"reservationId": ID.format(number), "state": state}}}


def step(action: Any, expected: Any = OK, observed: Any = OK) -> dict[str, Any]:
    return {"action": action, "expected": expected, "observed": observed}


OVERBOOKED: dict[str, Any] = {
    "schema_version": 1,
    "name": "overbooked",
    "why": "the last slot is given twice",
    "initial": {},
    "steps": [
        step(LEASE),
        step(OPEN),
        step(reserve(1), row(1), row(1)),
        step({"do": "advanceClock", "ms": 500}),
        step(
            reserve(
                2,
                "bob",
                disturbances=[
                    {"moment": "read_lease", "nth": 2, "effect": {"happens": {"do": "advanceClock", "ms": 5}}}
                ],
            ),
            {"refused": "CAPACITY_EXCEEDED", "sideEffects": "none"},
            row(2),
        ),
    ],
    "divergence": {
        "index": 4,
        "kind": "outcome",
        "clause": "Operations",
        "name": "reserve",
        "differences": [{"path": "outcome", "model": "CAPACITY_EXCEEDED", "store": "accepted"}],
    },
    "clause": "Operations",
}

KILLED: dict[str, Any] = {
    "kind": "kill",
    "trial": "kill",
    "schema_version": 1,
    "name": "reserve",
    "why": "a reservation is in flight",
    "history": [LEASE, OPEN],
    "broken_off": None,
    "flight": [reserve(1)],
    "kills": [{"during": [reserve(1)], "point": "state-rename-before", "n": 1}],
    "after": [OPEN, reserve(1)],
    "survivor": False,
    "fault": None,
    "violation": {
        "clause": "C6",
        "title": "after the kill the store works on differently",
        "differences": [{"path": "temporary files", "model": 0, "store": 1}],
        "action": 1,
    },
    "clause": "C6",
}


def phase(name: str, **changes: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "name": name,
        "about": "about it",
        "planned": 12,
        "done": 12,
        "out_of_time": 0,
        "given_up": 0,
        "lost": [],
        "counts": {},
        "floors": {},
        "below_floor": [],
        "failures": 0,
    }
    return {**made, **changes}


def results(*phases: dict[str, Any], **changes: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "left_out": [],
        "not_begun": [],
        "phases": list(phases),
        "times": {"seconds": 61.5, "phases": {one["name"]: 10.26 for one in phases}, "figures": {}},
    }
    return {**made, **changes}
