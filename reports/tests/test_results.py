"""The published schema: what we write satisfies it, what is damaged is refused with its place."""

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from reports.canonical import clean
from reports.results import ResultsError, parse, schema
from reports.shape import faults
from reports.summary import verdict_line
from reports.tests.examples import EXAMPLES, many

VALIDATOR = jsonschema.Draft202012Validator(schema())


def results(name: str) -> dict[str, Any]:
    found: dict[str, Any] = clean(EXAMPLES[name].results)
    return found


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_satisfy_the_schema(name: str) -> None:
    VALIDATOR.validate(results(name))
    assert parse(results(name)) == results(name)


KINDS: tuple[Any, ...] = (None, 1, -1, True, "x", [], {}, [1, 2, 3], 1.5)


def damaged(value: Any) -> Iterator[Any]:
    """Copies of `value` in each of which one thing, somewhere, is gone or of another kind."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield {name: one for name, one in value.items() if name != key}
            for changed in KINDS:
                yield {**value, key: changed}
            for changed in damaged(item):
                yield {**value, key: changed}
        yield {**value, "more": 1}
    elif isinstance(value, list) and value:
        for one in damaged(value[0]):
            yield [one, *value[1:]]


def test_our_own_check_and_a_full_implementation_agree_on_every_damage() -> None:
    small = results("violated")
    small["properties"], small["failures"] = small["properties"][:1], small["failures"][:1]
    small["phases"] = results("inconclusive")["phases"][1:]
    small["environment"]["previous"] = results("passed")["environment"]["previous"]
    seen = {True: 0, False: 0}
    for number, changed in enumerate(damaged(small)):
        whole = VALIDATOR.is_valid(changed)
        assert whole == (next(faults(changed, schema()), None) is None), number
        seen[whole] += 1
    assert seen[True] > 300
    assert seen[False] > 900


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema_version": 3}, "use the version of holdtrue that wrote it"),
        ({"schema_version": True}, "use the version of holdtrue that wrote it"),
        ({"seed": "x"}, "seed: string where integer is expected"),
        ({"phases": [{}]}, r"phases\[0\]: 'about' is missing"),
        ({"more": 1}, "'more' is not known"),
        ({"verdict": {}}, "verdict: 'exit_code' is missing"),
    ],
)
def test_damage_is_named_with_its_place(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ResultsError, match=said):
        parse({**results("passed"), **change})


@pytest.mark.parametrize("data", [None, [], {}, "text", {"schema_version": 2}])
def test_what_is_no_results_file_is_said_so(data: Any) -> None:
    with pytest.raises(ResultsError, match=r"no results\.json"):
        parse(data)


def test_a_schema_that_says_more_than_is_known_is_refused() -> None:
    with pytest.raises(ValueError, match="'maxProperties'"):
        list(faults({}, {"maxProperties": 1}))


OLD = {
    "verdict": {
        "word": "PASSED",
        "exit_code": 0,
        "reasons": [],
        "line": "PASSED  quick, seed 0: 1 job, 2.5 s",
    },
    "schema_version": 1,
    "profile": "quick",
    "seed": 0,
    "left_out": [],
    "not_begun": [],
    "interrupted": False,
    "time_budget_s": None,
    "phases": [
        {
            "name": "corpus",
            "about": "pinned",
            "planned": 1,
            "done": 1,
            "out_of_time": 0,
            "given_up": 0,
            "lost": [],
            "counts": {"actions": 2},
            "floors": {},
            "below_floor": [],
            "failures": 1,
        }
    ],
    "failures": [
        {
            "phase": "corpus",
            "title": "t",
            "clause": "S8",
            "steps": 2,
            "trace": "traces/a.json",
            "reproduce": "x",
        }
    ],
    "times": {
        "started_at": "2026-11-30T12:00:00+00:00",
        "seconds": 2.5,
        "phases": {"corpus": 2.5},
        "figures": {},
    },
    "environment": {
        "workers": 2,
        "holdtrue": "0.1.0",
        "python": "3.11.7",
        "system": "Linux",
        "attrs": "26.1.0",
    },
}
"""What version 1 wrote."""


def test_a_run_of_version_1_is_lifted_and_nothing_is_made_up() -> None:
    lifted = parse(json.loads(json.dumps(OLD)))
    VALIDATOR.validate(lifted)
    assert lifted["properties"] == []
    assert lifted["code"]["commit"] is None
    assert lifted["failures"][0]["trace"] == "traces/a.json"
    assert verdict_line(lifted) == "PASSED  quick, seed 0: 1 job"


@pytest.mark.parametrize("part", ["phases", "failures", "times", "verdict"])
def test_a_damaged_run_of_version_1_is_refused_too(part: str) -> None:
    for changed in (None, 1, [1], {"a": 1}):
        with pytest.raises(ResultsError):
            parse({**OLD, part: changed})


def test_a_run_with_many_failures_is_read() -> None:
    assert len(parse(clean(many(1000).results))["failures"]) == 1000
