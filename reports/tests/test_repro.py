"""A failure's own test file: one shape whatever the trace holds, and the whole trace in it."""

import ast
import json
import tokenize
from io import BytesIO
from typing import Any

import pytest

from reports.repro import render
from reports.tests.examples import EXAMPLES
from reports.tests.golden import same_as_golden
from reports.tests.samples import HOSTILE, KILLED, OVERBOOKED

RESULTS = {"profile": "quick", "seed": 7, "code": {"holdtrue": "0.1.0", "commit": "ab" * 20, "dirty": True}}
INJECTIONS = (
    HOSTILE,
    "'''\nimport os\n'''",
    '"""\nimport os\n"""',
    "x\nimport os\n#",
    "x\r\x0bimport os\x0c\x1c\x85\u2028\u2029import os",
    "\\",
    "\\'",
    "{name}{trace}%s%(name)s",
    "coding: utf-7",
    "\udfff\ud800\x00",
    "') or __import__('os').system('true') or ('",
)


def trace_in(text: str) -> Any:
    """What TRACE is in the file `text`, which must be of the one shape that such files have."""
    assert text.isascii()
    encoding, _ = tokenize.detect_encoding(BytesIO(text.encode()).readline)
    assert encoding == "utf-8"
    loads, check, assigned, function = ast.parse(text).body
    assert isinstance(loads, ast.Import)
    assert isinstance(check, ast.ImportFrom)
    assert isinstance(assigned, ast.Assign)
    call = assigned.value
    assert isinstance(call, ast.Call)
    assert ast.unparse(call.func) == "json.loads"
    (constant,) = call.args
    assert isinstance(constant, ast.Constant)
    assert isinstance(function, ast.FunctionDef)
    assert function.name.startswith("test_")
    assert [ast.unparse(line) for line in function.body] == ["check_trace(TRACE)"]
    assert isinstance(constant.value, str)
    return json.loads(constant.value)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_file_has_the_whole_trace(name: str) -> None:
    example = EXAMPLES[name]
    for trace in example.traces.values():
        if text := render(trace, example.results):
            assert trace_in(text) == trace


def poisoned(value: Any, evil: str) -> Any:
    if isinstance(value, dict):
        return {**{key: poisoned(one, evil) for key, one in value.items()}, evil: evil}
    if isinstance(value, list):
        return [*(poisoned(one, evil) for one in value), evil]
    return evil if isinstance(value, str) else value


@pytest.mark.parametrize("evil", INJECTIONS, ids=range(len(INJECTIONS)))
def test_nothing_in_a_trace_or_in_the_results_becomes_code(evil: str) -> None:
    results = {**RESULTS, "profile": evil, "seed": evil, "code": {"holdtrue": evil, "commit": evil}}
    for trace in (KILLED, OVERBOOKED):
        bad = poisoned(json.loads(json.dumps(trace)), evil)
        assert trace_in(render(bad, results)) == bad
        assert trace_in(render({**trace, "name": evil, "clause": evil}, results))["name"] == evil


def test_what_is_no_trace_has_no_file() -> None:
    others: tuple[Any, ...] = (None, [], "text", 7, {}, {"steps": "text"})
    for other in others:
        assert render(other, RESULTS) == ""


def test_a_failure_of_another_store_has_no_test_that_would_try_ours() -> None:
    assert render(OVERBOOKED, RESULTS)
    command = ["holdtrue", "check", "--target", "./store {directory}"]
    assert render(OVERBOOKED, {**RESULTS, "environment": {"command": command}}) == ""


def test_a_trace_nested_as_deeply_as_json_can_be_is_no_trouble() -> None:
    deep: Any = "x" * 200
    for _ in range(500):
        deep = [deep]
    assert trace_in(render({"steps": [deep]}, RESULTS)) == {"steps": [deep]}


def test_a_file_looks_like_something_that_one_would_read() -> None:
    same_as_golden("repro", render(OVERBOOKED, RESULTS).splitlines())


def test_a_race_says_that_it_may_pass_by_luck() -> None:
    text = render({"kind": "kill", "trial": "race", "name": "slots", "clause": "S10"}, RESULTS)
    assert "it may pass by luck" in text
