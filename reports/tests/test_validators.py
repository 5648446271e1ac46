"""Others' readers and validators accept what we write: each format, for each example, the hostile one too."""

import json
import subprocess
from pathlib import Path
from typing import Any

import itf_py  # type: ignore[import-untyped]  # it comes without types
import jsonschema
import pytest
import xmlschema

from reports import attestation, itf, junit, sarif
from reports.canonical import clean
from reports.tests.examples import EXAMPLES
from reports.tests.tools import npm_package, tool

SCHEMA = xmlschema.XMLSchema(str(Path(__file__).with_name("junit-10.xsd")))
RUNS = {**{name: (clean(one.results), one.traces) for name, one in EXAMPLES.items()}}


@pytest.mark.parametrize("name", RUNS)
def test_junit_satisfies_the_schema_of_jenkins(name: str) -> None:
    text = junit.render(*RUNS[name])
    SCHEMA.validate(text)
    root: Any = SCHEMA.to_dict(text)
    for outcome in ("failures", "errors", "tests"):
        assert int(root[f"@{outcome}"]) == sum(int(suite[f"@{outcome}"]) for suite in root["testsuite"])
    wrong = int(root["@failures"]) + int(root["@errors"])
    assert (wrong == 0) == (name == "passed")


def test_the_schema_of_junit_would_notice() -> None:
    text = junit.render(*RUNS["violated"])
    for was, now in (('classname="', 'klass="'), ("<failure", "<fail"), ('tests="', 'tast="')):
        with pytest.raises((xmlschema.XMLSchemaException, SyntaxError)):
            SCHEMA.validate(text.replace(was, now, 1))


@pytest.mark.parametrize("name", RUNS)
def test_the_sarif_multitool_has_no_complaint(name: str, tmp_path: Path) -> None:
    program = tool("sarif-multitool")
    log, report = tmp_path / "results.sarif", tmp_path / "report.sarif"
    log.write_text(sarif.render(*RUNS[name]), "utf-8")
    assert _complaints(program, log, report) <= {"SARIF2005"}  # holdtrue has no page of its own to point to


def test_the_sarif_multitool_would_notice(tmp_path: Path) -> None:
    program = tool("sarif-multitool")
    log, report = tmp_path / "results.sarif", tmp_path / "report.sarif"
    data = json.loads(sarif.render(*RUNS["violated"]))
    data["runs"][0]["results"][0]["ruleIndex"] = 999
    log.write_text(json.dumps(data), "utf-8")
    assert any(rule.startswith("SARIF1") for rule in _complaints(program, log, report))


def _complaints(program: str, log: Path, report: Path) -> set[str]:
    """The ids of the rules that the validator says are broken."""
    done = subprocess.run(
        [program, "validate", str(log), "--output", str(report), "--log", "ForceOverwrite"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert report.exists(), done.stdout + done.stderr
    told = json.loads(report.read_text("utf-8-sig"))
    results = [one for run in told["runs"] for one in run.get("results", ())]
    notes = [
        note
        for run in told["runs"]
        for invocation in run.get("invocations", ())
        for note in invocation.get("toolConfigurationNotifications", ())
        if note.get("level", "error") == "error"
    ]
    assert notes == []
    return {one["ruleId"] for one in results if one.get("level") != "note"}


@pytest.mark.parametrize("name", RUNS)
def test_sarif_satisfies_its_json_schema(name: str) -> None:
    folder = npm_package("@microsoft/sarif-multitool-linux")
    schema = json.loads((folder / "sarif-2.1.0.json").read_text("utf-8-sig"))
    jsonschema.validate(json.loads(sarif.render(*RUNS[name])), schema)


@pytest.mark.parametrize("name", ["violated", "hostile"])
def test_itf_is_read_by_a_public_reader(name: str) -> None:
    for trace in RUNS[name][1].values():
        data = json.loads(itf.render(trace))
        read = itf_py.trace_from_json(data)
        assert len(read.states) == len(data["states"]) >= 3
        for number, state in enumerate(read.states):
            assert state.meta == {"index": number}
            assert set(state.values) == set(read.vars)


CORPUS = Path(__file__).resolve().parents[2] / "stateful_tests" / "corpus"
WALKED = ("a-newer-epoch-fences-the-older-host", "c10-commit-after-the-sweep-has-committed")


@pytest.mark.parametrize("name", WALKED)
def test_the_outcomes_in_itf_are_those_that_the_trace_expects(name: str) -> None:
    trace = json.loads((CORPUS / f"{name}.json").read_text("utf-8"))
    states = json.loads(itf.render(trace))["states"]
    expected = [itf.encoded(step["expected"]) for step in trace["steps"]]
    assert [state["outcome"] for state in states[1:]] == expected
    read = itf_py.trace_from_json({"vars": [], "states": states}).states
    commits = [state.values["store"].commit_seq for state in read if hasattr(state.values["store"], "rows")]
    assert commits == sorted(commits)
    assert commits[-1] > 1


@pytest.mark.parametrize(
    "trace", [None, [], {}, {"steps": []}, {"steps": [1]}, {"kind": "kill"}, {"steps": None}]
)
def test_what_the_model_cannot_walk_has_no_itf(trace: Any) -> None:
    assert itf.render(trace) == ""


STATEMENT = {
    "type": "object",
    "required": ["_type", "subject", "predicateType", "predicate"],
    "properties": {
        "_type": {"const": "https://in-toto.io/Statement/v1"},
        "predicateType": {"const": "https://in-toto.io/attestation/test-result/v0.1"},
        "subject": {
            "type": "array",
            "minItems": 1,
            "items": {
                "required": ["digest"],
                "properties": {"digest": {"type": "object", "minProperties": 1}},
            },
        },
        "predicate": {
            "type": "object",
            "required": ["result", "configuration"],
            "properties": {
                "result": {"enum": ["PASSED", "WARNED", "FAILED"]},
                "configuration": {"type": "array"},
                **{
                    name: {"type": "array", "items": {"type": "string"}}
                    for name in ("passedTests", "warnedTests", "failedTests")
                },
            },
            "additionalProperties": False,
        },
    },
    "additionalProperties": False,
}
"""The statement and the predicate as their specifications say."""


@pytest.mark.parametrize("name", RUNS)
def test_the_attestation_is_a_statement_with_a_test_result(name: str) -> None:
    statement = json.loads(attestation.render(*RUNS[name]))
    jsonschema.validate(statement, STATEMENT)
    assert (statement["predicate"]["result"] == "PASSED") == (name == "passed")
    assert bool(statement["predicate"]["failedTests"]) == (name in ("violated", "hostile"))


def test_a_commit_with_changes_on_top_is_not_attested() -> None:
    results, traces = RUNS["passed"]
    assert "gitCommit" in attestation.render(results, traces)
    dirty = {**results, "code": {**results["code"], "dirty": True}}
    assert "gitCommit" not in attestation.render(dirty, traces)


def test_of_a_target_of_somebody_elses_our_sources_are_no_subject() -> None:
    results, traces = RUNS["passed"]
    command = ["holdtrue", "check", "--target", "./their store"]
    aimed = {**results, "environment": {**results["environment"], "command": command}}
    statement = json.loads(attestation.render(aimed, traces))
    jsonschema.validate(statement, STATEMENT)
    assert [subject["name"] for subject in statement["subject"]] == ["results.json"]
    told = {one["name"]: one for one in statement["predicate"]["configuration"]}
    assert told["target"]["annotations"] == {"options": "--target './their store'"}
