"""`results.sarif`: a run as a log in the Static Analysis Results Interchange Format, version 2.1.0 (OASIS).

Rules are properties, and one each for floors that were missed and jobs that were lost. Results are failures:
each points to its trace's file, and names the clause of the specification as its logical location; its steps
are a code flow. `partialFingerprints` are the same for the same kind of failure in another run, which is what
consumers tell new results from old ones by.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from reports import commands
from reports.plain import safe
from reports.summary import verdict_line
from reports.words import Names, action_words

VERSION = "2.1.0"
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "holdtrueFailure/v1"
SHOWN_STEPS = 50
SHOWN_FLOORS = 100
_MARKUP = str.maketrans({"[": "\\[", "]": "\\]", "{": "{{", "}": "}}"})
_START = 1_790_000_000_000

FLOOR = ("HT0001", "SeenTooRarely", "Something that a check must have seen was seen too rarely.")
LOST = ("HT0002", "LostJob", "A job of the check ended without a result; this says nothing about the store.")


def render(results: Mapping[str, Any], traces: Mapping[str, Any]) -> str:
    """The log, as JSON text."""
    rules = [_rule_of(each) for each in results["properties"]]
    index = {rule["id"]: number for number, rule in enumerate(rules)}
    for failure in results["failures"]:
        name = _rule_id(failure["system"], failure["property"])
        if name not in index:  # of an old run, which had no table of properties
            index[name] = len(rules)
            rules.append(_rule(name, failure["clause"], failure["clause"]))
    found = [_result(failure, index, results, traces) for failure in results["failures"]]
    found += _short(results, rules, index)
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "holdtrue",
                "version": safe(results["code"]["holdtrue"], 40),
                "shortDescription": {"text": "Checks a reservation store against a pure model of its rules."},
                "rules": rules,
            }
        },
        "invocations": [_invocation(results)],
        "results": found,
        "columnKind": "unicodeCodePoints",
        "automationDetails": {"id": f"holdtrue/{safe(results['profile'], 60)}/"},
        "properties": {"verdict": results["verdict"]["word"], "seed": results["seed"]},
    }
    if results["code"]["commit"] is not None:
        run["properties"]["commit"] = results["code"]["commit"]
    return json.dumps({"$schema": SCHEMA, "version": VERSION, "runs": [run]}, indent=1) + "\n"


def _rule_id(system: str, name: str) -> str:
    return safe(f"{system}/{name or 'unknown'}", 100)


def _rule_of(each: Mapping[str, Any]) -> dict[str, Any]:
    rule = _rule(_rule_id(each["system"], each["id"]), each["id"], each["sentence"])
    told = f"{each['sentence']} ({each['source']})"
    return {**rule, "help": {"text": safe(told, 1000)}, "properties": {"kind": each["kind"]}}


def _rule(name: str, short: str, sentence: str) -> dict[str, Any]:
    words = "".join(part[:1].upper() + part[1:] for part in safe(short, 60).replace("-", " ").split())
    return {
        "id": name,
        "name": "".join(character for character in words if character.isalnum()) or "Property",
        "shortDescription": {"text": _sentence(sentence or short)},
        "fullDescription": {"text": _sentence(sentence or short)},
        "defaultConfiguration": {"level": "error"},
    }


def _result(
    failure: Mapping[str, Any],
    index: Mapping[str, int],
    results: Mapping[str, Any],
    traces: Mapping[str, Any],
) -> dict[str, Any]:
    name = _rule_id(failure["system"], failure["property"])
    command = safe(commands.reproduce(results, failure), 4000)
    result: dict[str, Any] = {
        "ruleId": name,
        "ruleIndex": index[name],
        "kind": "fail",
        "level": "error",
        "message": {"text": f"{_sentence(failure['title'])} Reproduce: {command.translate(_MARKUP)}"},
        "locations": [_location(results, failure)],
        "partialFingerprints": {FINGERPRINT: failure["id"]},
        "properties": {"phase": failure["phase"], "steps": failure["steps"]},
    }
    flow = _flow(results, failure, traces.get(failure["trace"]))
    return {**result, "codeFlows": [flow]} if flow else result


def _location(results: Mapping[str, Any], failure: Mapping[str, Any]) -> dict[str, Any]:
    """The trace's file, and the clause; without a file of its own, the results'."""
    clause = safe(failure["clause"], 200)
    return {
        **_place(results, failure["trace"] or "results.json"),
        "logicalLocations": [{"name": clause, "kind": "clause"}],
    }


def _place(results: Mapping[str, Any], file: str) -> dict[str, Any]:
    path = commands.path(results, file)
    where = f"file://{quote(path)}" if PurePosixPath(path).is_absolute() else quote(path)
    return {"physicalLocation": {"artifactLocation": {"uri": where}, "region": {"startLine": 1}}}


def _flow(results: Mapping[str, Any], failure: Mapping[str, Any], trace: Any) -> dict[str, Any] | None:
    """The story's actions, the last ones if there are many."""
    if not isinstance(trace, Mapping):
        return None
    names = Names(_START)
    told = [action_words(action, names) for action in _actions(trace)][-SHOWN_STEPS:]
    place = _place(results, failure["trace"] or "results.json")
    locations = [{"location": {**place, "message": {"text": _sentence(words)}}} for words in told]
    return {"threadFlows": [{"locations": locations}]} if locations else None


def _actions(trace: Mapping[str, Any]) -> list[Any]:
    if trace.get("kind") == "kill":
        parts: Sequence[Any] = [trace.get(name) for name in ("history", "flight", "after")]
        return [one for part in parts if isinstance(part, list) for one in part]
    steps = trace.get("steps")
    return [
        step["action"]
        for step in (steps if isinstance(steps, list) else [])
        if isinstance(step, Mapping) and "action" in step
    ]


def _short(
    results: Mapping[str, Any], rules: list[dict[str, Any]], index: dict[str, int]
) -> list[dict[str, Any]]:
    """What was seen too rarely, and lost jobs: reasons to doubt a green run, so they are warnings."""
    found = []
    for phase in results["phases"]:
        for key, seen, floor in phase["below_floor"][:SHOWN_FLOORS]:
            words = f"{phase['name']}: {key} was seen {seen} times, and {floor} are needed"
            found.append((FLOOR, words, f"{phase['name']}/{key}"))
        for lost in phase["lost"]:
            words = f"{phase['name']}: {lost['runner']} {lost['why']}: {lost['told']}"
            found.append((LOST, words, f"{phase['name']}/{lost['runner']}"))
    made = []
    for (code, name, sentence), words, key in found:
        if code not in index:
            index[code] = len(rules)
            rules.append({**_rule(code, name, sentence), "defaultConfiguration": {"level": "warning"}})
        made.append(
            {
                "ruleId": code,
                "ruleIndex": index[code],
                "kind": "fail",
                "level": "warning",
                "message": {"text": _sentence(words)},
                "locations": [_place(results, "results.json")],
                "partialFingerprints": {FINGERPRINT: safe(f"{code}/{key}", 200)},
            }
        )
    return made


def _invocation(results: Mapping[str, Any]) -> dict[str, Any]:
    code = results["verdict"]["exit_code"]
    return {
        "executionSuccessful": code in (0, 1, 3),
        "exitCode": code,
        "exitCodeDescription": safe(verdict_line(results), 1000),
        "commandLine": safe(" ".join(results["environment"]["command"]), 1000),
        "startTimeUtc": safe(results["times"]["started_at"].replace("+00:00", "Z"), 40),
    }


def _sentence(text: object) -> str:
    """Harmless, on one line, and with a full stop, as the format's guidelines ask of messages. Brackets would
    make links and braces placeholders (3.11.5, 3.11.6): they are escaped."""
    shown = safe(text, 1000).translate(_MARKUP)
    return shown if shown.endswith((".", "!", "?")) else f"{shown}."
