"""A run as an in-toto Statement, for whoever's policy asks what was tested and how it went.

The predicate is https://in-toto.io/attestation/test-result/v0.1 (in-toto Attestation Framework, v1): one
`test` for each property. `result` is PASSED only for a verdict of PASSED: an inconclusive run must satisfy no
policy. A property that was not looked at, or not enough, counts as warned; violated ones as failed.

What was tested is named by its hash. A target of somebody else's has none that we know: of its check only the
results are a subject, and the target is told as part of the configuration.

The statement is not signed: whoever needs that wraps it in an envelope (DSSE) with a key of their own.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from reports.canonical import canonical
from reports.targets import aims

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://in-toto.io/attestation/test-result/v0.1"
_LISTS = {"holds": "passedTests", "violated": "failedTests"}


def render(results: Mapping[str, Any], traces: Mapping[str, Any]) -> str:  # noqa: ARG001  # as all renderers
    """The statement as JSON text. The subjects are what was tested, and `results.json` itself."""
    tests: dict[str, list[str]] = {"passedTests": [], "warnedTests": [], "failedTests": []}
    for each in results["properties"]:
        tests[_LISTS.get(each["verdict"], "warnedTests")].append(f"{each['system']}/{each['id']}")
    passed = results["verdict"]["word"] == "PASSED"
    statement = {
        "_type": STATEMENT,
        "subject": _subjects(results),
        "predicateType": PREDICATE,
        "predicate": {
            "result": "PASSED" if passed else "FAILED",
            "configuration": _configuration(results),
            **tests,
        },
    }
    return json.dumps(statement, indent=1) + "\n"


def _subjects(results: Mapping[str, Any]) -> list[dict[str, Any]]:
    itself = {"name": "results.json", "digest": {"sha256": hashlib.sha256(canonical(results)).hexdigest()}}
    if aims(results):
        return [itself]
    code = results["code"]
    digest = {"sha256": code["source_sha256"]}
    if code["commit"] is not None and code["dirty"] is False:
        digest["gitCommit"] = code["commit"]  # with changes on top, the commit is not what was tested
    return [{"name": f"holdtrue-{code['holdtrue']} sources", "digest": digest}, itself]


def _configuration(results: Mapping[str, Any]) -> list[dict[str, Any]]:
    asked = {name: results[name] for name in ("profile", "seed", "time_budget_s", "left_out", "not_begun")}
    verdict = {"verdict": results["verdict"]["line"], "startedAt": results["times"]["started_at"]}
    told: list[dict[str, Any]] = [
        {"name": "holdtrue check", "annotations": {**asked, **verdict}},
    ]
    if aims(results):
        told.append({"name": "target", "annotations": {"options": aims(results).strip()}})
    lock = results["code"]["lock_sha256"]
    return [*told, {"name": "requirements.lock", "digest": {"sha256": lock}}] if lock else told
