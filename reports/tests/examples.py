"""Example runs for all tests of formats: one passed, one violated, one inconclusive, one hostile, one large.

Each is what a renderer gets: the results (as in `results.json`) and the traces by their file's name. They
are written by hand, small, and the same every time. `hostile` has evil text wherever text can stand.
"""

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from reports.tests.example_parts import CODE, COUNTS, EXPLORATION, FAILURES, TRACES, failure, properties
from reports.tests.samples import HOSTILE, phase


@frozen
class Example:
    """A run: its results, and its traces by the name that a failure has for them."""

    results: Mapping[str, Any]
    traces: Mapping[str, Any]


def _run(word: str, code: int, reasons: list[str], **changes: Any) -> dict[str, Any]:
    """Results of a run with three phases."""
    scope = "quick, seed 7: 54 jobs, 114,169 actions, 813 kills"
    line = f"{word}  {scope}"
    made: dict[str, Any] = {
        "schema_version": 2,
        "verdict": {
            "word": word,
            "exit_code": code,
            "reasons": reasons,
            "scope": scope,
            "line": f"{line}: {'; '.join(reasons)}" if reasons else line,
        },
        "profile": "quick",
        "seed": 7,
        "time_budget_s": None,
        "left_out": [],
        "not_begun": [],
        "interrupted": False,
        "code": dict(CODE),
        "phases": [
            phase("conformance", about="model against store", counts=COUNTS["conformance"], details={}),
            phase("kills", about="killed at every marked point", counts=COUNTS["kills"], details={}),
            phase("invariants", about="what must always be true", counts=COUNTS["invariants"], details={}),
        ],
        "failures": [],
        "properties": properties({}),
        "explorations": [dict(EXPLORATION)],
        "detection": None,
        "suppressions": [],
        "flakes": [],
        "skips": [],
        "times": {
            "started_at": "2030-01-01T12:00:00+00:00",
            "seconds": 87.0,
            "phases": {"conformance": 51.1, "kills": 28.8, "invariants": 5.4},
            "figures": {"conformance: ratio": 0.593, "kills: kill trials per second": 35.4},
        },
        "environment": {
            "run": "20300101T120000Z-1a2b3c",
            "folder": "reports/out/20300101T120000Z-1a2b3c",
            "invocation": ".venv/bin/holdtrue",
            "command": ["holdtrue", "check", "--seed", "7"],
            "workers": 2,
            "cores": 2,
            "python": "3.11.7",
            "system": "Linux 6.1.0 x86_64",
            "machine": "Some CPU, 24 GiB",
            "filesystem": "tmpfs",
            "packages": {"attrs": "26.1.0", "hypothesis": "6.170.17"},
            "previous": None,
        },
    }
    return {**made, **changes}


def passed() -> Example:
    """Checked enough, and nothing found; nothing changed since the run before."""
    environment = _run("PASSED", 0, [])["environment"]
    previous = {
        "run": "20291231T120000Z-aaaaaa",
        "verdict": "PASSED",
        "comparable": True,
        "note": "",
        "appeared": [],
        "vanished": [],
        "floors_newly_missed": [],
        "floors_regained": [],
        "counts": [["actions", 114_000, 114_169], ["kills", 813, 813]],
    }
    return Example(_run("PASSED", 0, [], environment={**environment, "previous": previous}), {})


def violated() -> Example:
    """Three counterexamples: a kill, a coordinator's difference, a ledger's difference."""
    results = _run(
        "VIOLATED",
        1,
        ["3 counterexamples to 'C6', 'Operations', 'what it answers'"],
        failures=[dict(one) for one in FAILURES],
        properties=properties(
            {
                "coordinator/comparison": "violated",
                "coordinator/recovery": "violated",
                "ledger/comparison": "violated",
            }
        ),
    )
    results["phases"][0]["failures"], results["phases"][1]["failures"] = 2, 1
    return Example(results, dict(TRACES))


def inconclusive() -> Example:
    """A floor missed, phases cut and left out, a job lost; a flake, a skip, a suppression, dated."""
    rare = phase(
        "invariants",
        about="what must always be true",
        done=9,
        out_of_time=3,
        counts=COUNTS["invariants"],
        floors={"witness/true-capacity": 1, "invariant/S10": 1},
        below_floor=[["witness/true-capacity", 0, 1]],
        lost=[
            {
                "runner": "stateful_tests.runners:run_walks",
                "params": {"number": 3},
                "why": "died",
                "told": "killed by signal 9",
                "details": "last words\nand more",
            }
        ],
        details={},
    )
    dated = {"owner": "someone@example.org", "reason": "being looked into", "expires": "2031-01-31"}
    results = _run(
        "INCONCLUSIVE",
        3,
        [
            "invariants: the time budget cut 3 of 12 jobs",
            "invariants: seen too rarely: witness/true-capacity 0/1",
        ],
        time_budget_s=60.0,
        left_out=["corpus"],
        not_begun=["kills"],
        properties=properties({"coordinator/true-capacity": "inconclusive"}),
        flakes=[{"what": "race/slots", **dated}],
        suppressions=[{"what": "C6", **dated}],
        skips=[{"what": "real cut", **dated}],
    )
    results["phases"] = [results["phases"][0], rare]
    return Example(results, {})


def hostile() -> Example:
    """The violated run with evil text in front of every text in results and traces, keys included, but for
    what holds the pieces together: names of phases and files, words of a closed set, numbers, times."""
    found = violated()
    results = {
        **found.results,
        "phases": [
            {
                **one,
                "below_floor": [[f"witness/{HOSTILE}", 0, 1]],
                "floors": {f"witness/{HOSTILE}": 1},
                "counts": {
                    **one["counts"],
                    f"rule/{HOSTILE}/accepted": 1,
                    HOSTILE: 2,
                    f"kill/{HOSTILE}/x#1": 3,
                },
                "lost": [
                    {
                        "runner": HOSTILE,
                        "params": {HOSTILE: [HOSTILE]},
                        "why": "died",
                        "told": HOSTILE,
                        "details": f"{HOSTILE}\n{HOSTILE}",
                    }
                ],
            }
            for one in found.results["phases"]
        ],
        "suppressions": [dict.fromkeys(("what", "owner", "reason", "expires"), HOSTILE)],
    }
    evil = _spoilt(results, keep=_KEPT)
    traces = {name: _spoilt(trace, keep=_KEPT_IN_TRACES) for name, trace in found.traces.items()}
    return Example(evil, traces)


_KEPT = frozenset(
    {
        "word",
        "name",
        "trace",
        "itf",
        "evidence",
        "repro",
        "how",
        "system",
        "phase",
        "kind",
        "id",
        "why",
        "verdict",
    }
    | {"started_at", "commit", "source_sha256", "lock_sha256", "phases.times", "profile"}
)
_KEPT_IN_TRACES = frozenset({"do", "kind", "trial", "system", "layout", "operation", "point", "moment"})


def _spoilt(value: Any, *, keep: frozenset[str], key: str = "") -> Any:
    if isinstance(value, str):
        kept = key in keep and value != HOSTILE
        return value if kept or value.startswith(HOSTILE) else f"{HOSTILE}{value}"
    if isinstance(value, Mapping):
        if key == "verdict" and "line" in value:
            return {**_spoilt(dict(value), keep=keep), "word": value["word"]}
        return {name: _spoilt(item, keep=keep, key=str(name)) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_spoilt(item, keep=keep, key=key) for item in value]
    return value


def many(count: int) -> Example:
    """A violated run with `count` counterexamples, of a few hundred steps in all kinds."""
    results, traces, failures = dict(violated().results), {}, []
    for number in range(count):
        like = FAILURES[number % len(FAILURES)]
        stem = f"{like['phase']}-{number + 1:04}-1-many"
        same = {key: like[key] for key in ("phase", "system", "property", "title", "clause")}
        failures.append(failure(stem, id=f"{number:016x}", **same))
        traces[f"traces/{stem}.json"] = TRACES[like["trace"]]
    return Example({**results, "failures": failures}, traces)


EXAMPLES: Mapping[str, Example] = {
    "passed": passed(),
    "violated": violated(),
    "inconclusive": inconclusive(),
    "hostile": hostile(),
}
"""By name."""
