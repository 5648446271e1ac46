"""The pieces that example runs are made of: phases' counts, properties, an exploration, failures, traces."""

from collections.abc import Mapping
from typing import Any

from reports.tests.samples import KILLED, OVERBOOKED

LEDGER_TRACE: Mapping[str, Any] = {
    "schema_version": 1,
    "system": "ledger",
    "name": "transact-state",
    "why": "found by seed 7 (quick)",
    "seed": 7,
    "profile": "quick",
    "versions": {"python": "3.11.7", "holdtrue": "0.1.0"},
    "initial": {},
    "steps": [
        {
            "action": {"do": "openLedger", "client": "a"},
            "expected": {
                "accepted": {"cutBytes": 0, "replayedEvents": 0, "mirror": "created", "setAside": False}
            },
            "observed": {
                "accepted": {"cutBytes": 0, "replayedEvents": 0, "mirror": "created", "setAside": False}
            },
        },
        {
            "action": {"do": "readState", "client": "a"},
            "expected": {"accepted": {}},
            "observed": {"accepted": {"x": 1}},
        },
    ],
    "divergence": {
        "index": 1,
        "kind": "outcome",
        "clause": "what it answers",
        "name": "readState",
        "differences": [{"path": "state.x", "model": None, "store": 1}],
    },
    "clause": "what it answers",
}
"""A ledger's trace, of two steps."""

CODE: Mapping[str, Any] = {
    "holdtrue": "0.1.0",
    "commit": "0123456789abcdef0123456789abcdef01234567",
    "dirty": False,
    "source_sha256": "5e" * 32,
    "lock_sha256": "10" * 32,
}
COUNTS = {
    "conformance": {
        "actions": 71_180,
        "rule/open/accepted": 2_939,
        "rule/reserve/accepted": 3_917,
        "rule/reserve/CAPACITY_EXCEEDED": 1_696,
        "rule/commit/accepted": 1_204,
        "rule/advanceClock/accepted": 6_002,
        "moment/authorize/raises": 17,
        "ledger/rule/transact/accepted": 5_123,
        "ledger/rule/transact/SQLITE_MIRROR_FAILED, retry": 44,
    },
    "kills": {
        "kill/reserve/state-rename-before#1": 9,
        "kill/reserve/state-rename-after#1": 8,
        "kill/reserve/state-write-torn#1": 8,
        "kill/genesis/identity-write-before#1": 3,
        "kill/reserve, recovering/temp-unlink-before#1": 4,
        "ledger/kill/steps/mirror-commit-after#1": 4,
        "race/slots": 1,
        "fault/reserve": 12,
    },
    "invariants": {"actions": 41_722, "invariant/S10": 41_722, "witness/S10": 12_001, "invariant/C6": 900},
}


def evidence(how: str, words: str, count: int, floor: int | None = 1) -> dict[str, Any]:
    return {"how": how, "words": words, "count": count, "floor": floor}


def properties(verdicts: Mapping[str, str]) -> list[dict[str, Any]]:
    rows: tuple[tuple[str, str, str, str, list[dict[str, Any]]], ...] = (
        (
            "S10",
            "coordinator",
            "always",
            "No more slots are held than the maximum.",
            [
                evidence("invariant", "evaluated after a step of the model", 41_722),
                evidence("witness", "situations in which it matters", 12_001),
                evidence("exploration", "states of core, all of them", 21_344, None),
            ],
        ),
        (
            "true-capacity",
            "coordinator",
            "step",
            "A launched run holds a slot.",
            [evidence("invariant", "evaluated after a step of the model", 0)],
        ),
        (
            "comparison",
            "coordinator",
            "comparison",
            "Model and store agree after every action.",
            [
                evidence("corpus", "pinned traces", 129, 129),
                evidence("conformance", "actions compared", 71_180, None),
            ],
        ),
        (
            "recovery",
            "coordinator",
            "recovery",
            "Killed anywhere, the store is as before or as after.",
            [evidence("kill", "kills at marked points", 32), evidence("fault", "failing disk steps", 12)],
        ),
        (
            "comparison",
            "ledger",
            "comparison",
            "Model and ledger agree after every action.",
            [evidence("conformance", "actions compared", 5_167, None)],
        ),
    )
    return [
        {
            "id": name,
            "system": system,
            "kind": kind,
            "sentence": sentence,
            "source": "What a state must satisfy",
            "evidence": evidence,
            "failures": int(verdicts.get(f"{system}/{name}") == "violated"),
            "verdict": verdicts.get(f"{system}/{name}", "holds"),
        }
        for name, system, kind, sentence, evidence in rows
    ]


EXPLORATION: Mapping[str, Any] = {
    "system": "coordinator",
    "space": "core",
    "bounds": {"ids": 3, "runs": 2, "capacities": [1, 2], "epochs": 2},
    "verdict": "holds",
    "reason": "",
    "states": 21_344,
    "orbits": 4_310,
    "transitions": 310_552,
    "depth": 14,
    "properties": [
        {
            "id": "S10",
            "sentence": "No more slots are held than the maximum.",
            "kind": "always",
            "verdict": "holds",
            "detail": "",
        }
    ],
    "dead_rules": [],
    "tours": {"transitions": 310_552, "taken": 20_000, "actions": 31_022},
    "kills": {"classes": 210, "points": 812},
}


def failure(stem: str, **changes: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "id": f"{sum(stem.encode()):016x}",
        "phase": "conformance",
        "system": "coordinator",
        "property": "comparison",
        "title": "reserve: outcome differs (outcome: model 'CAPACITY_EXCEEDED', store 'accepted')",
        "clause": "Operations",
        "sentence": "",
        "source": "",
        "steps": 5,
        "trace": f"traces/{stem}.json",
        "kept": True,
        "itf": f"traces/{stem}.itf.json",
        "evidence": f"evidence/{stem}",
        "repro": f"repro/test_{stem.replace('-', '_')}.py",
    }
    return {**made, **changes}


FAILURES: tuple[Mapping[str, Any], ...] = (
    failure(
        "kills-002-1-C6",
        phase="kills",
        property="recovery",
        title="reserve killed at state-rename-before (1): after the kill the store works on differently",
        clause="C6",
        sentence="No temporary file outlives the next transaction.",
        source="Publication",
        itf=None,
    ),
    failure("conformance-001-1-Operations"),
    failure("conformance-004-1-answers", system="ledger", clause="what it answers", title="readState"),
)
TRACES: Mapping[str, Any] = {
    "traces/kills-002-1-C6.json": KILLED,
    "traces/conformance-001-1-Operations.json": OVERBOOKED,
    "traces/conformance-004-1-answers.json": LEDGER_TRACE,
}
