"""Jobs, results and plans survive being written and read, and bad ones are refused with their place."""

import json
from typing import Any

import pytest

from stateful_tests.results import Failure, Job, JobResult, Plan, below_floor, resolve, run_job, total

JOB = Job("corpus", "stateful_tests.test_results:runner", {"names": ["a"], "seed": 1}, 2.0)
FAILURE = Failure({"kind": "kill"}, "title", "S8", "holdtrue replay TRACE")
RESULT = JobResult(JOB, {"rule/reserve/accepted": 2}, (FAILURE,), {"ratio": 0.5}, 1.5, {"told": [1, None]})


def runner(params: dict[str, Any]) -> JobResult:
    return JobResult(Job("nobody", "nothing", params), {"a": 1})


@pytest.mark.parametrize("value", [JOB, FAILURE, RESULT, Plan((JOB,), {"a": 1})])
def test_what_is_written_is_read_again(value: Job | Failure | JobResult | Plan) -> None:
    assert type(value).from_json(json.loads(json.dumps(value.to_json()))) == value


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"phase": 1}, "job.phase"),
        ({"params": []}, "job.params"),
        ({"weight": True}, "job.weight"),
        ({"more": 1}, "unknown fields ['more']"),
    ],
)
def test_a_bad_job_is_refused_with_its_place(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match="job") as caught:
        Job.from_json(JOB.to_json() | change)
    assert said in str(caught.value)


def test_a_count_that_is_no_integer_is_refused() -> None:
    with pytest.raises(ValueError, match=r"job result.counts.a"):
        JobResult.from_json(RESULT.to_json() | {"counts": {"a": 1.5}})


@pytest.mark.parametrize("explored", [None, {}, [1], "text"])
def test_explorations_are_a_list_of_objects(explored: object) -> None:
    with pytest.raises(ValueError, match=r"job result.details.explorations"):
        JobResult.from_json(RESULT.to_json() | {"details": {"explorations": explored}})


def test_a_job_is_run_and_named_in_its_result() -> None:
    result = run_job(JOB)
    assert result.job == JOB
    assert result.counts == {"a": 1}
    assert result.seconds >= 0


@pytest.mark.parametrize("name", ["", "json", ":f", "json:", "json:nothing", "nothing.at.all:f"])
def test_a_runner_that_is_not_there_is_named(name: str) -> None:
    with pytest.raises(ValueError, match="runner"):
        resolve(name)


def test_floors_name_what_was_seen_too_rarely() -> None:
    counts = total([RESULT, RESULT])
    assert counts == {"rule/reserve/accepted": 4}
    assert below_floor(counts, {"rule/reserve/accepted": 4, "witness/S8": 1}) == (("witness/S8", 0, 1),)
