"""The examples: every fault that was written into them is found by a check, and mended they hold true."""

import re
import shlex
import sys
from functools import cache
from pathlib import Path

import pytest

from crash_tests.wire import calls
from crash_tests.wire.jobs import plan_kills
from crash_tests.wire.needed import missing, program
from crash_tests.wire.racing import plan_races
from holdtrue.aimed import greeted
from stateful_tests.results import Failure, Job, run_job
from stateful_tests.wire import policy
from stateful_tests.wire.jobs import plan_conformance, plan_corpus
from stateful_tests.wire.runners import Aim
from stateful_tests.wire.target import Command

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs" / "examples"
PAGE = (ROOT / "docs" / "your-own-store.md").read_text("utf-8")
NODE_FAULTS = re.findall(
    r"^  '?([a-z-]+)'?: (?:'(.*)'|\"(.*)\"),$", (EXAMPLES / "node" / "faults.js").read_text("utf-8"), re.M
)
PYTHON_FAULTS = re.findall(
    r'^    "([a-z-]+)": "(.*)",$', (EXAMPLES / "python" / "values.py").read_text("utf-8"), re.M
)
NEED_A_KILL = {"written-in-place", "answered-early", "in-two-steps"}
NEED_A_RACE = {"no-lock", "begun-late"}
STRACE = calls.usable()


@pytest.fixture
def node() -> None:
    program("node")


@pytest.fixture
def strace() -> None:
    if STRACE is not None:
        missing(STRACE)


def aim_at(example: str, *options: str) -> Aim:
    if example == "node":
        return Aim(
            Command(shlex.join(["node", str(EXAMPLES / "node" / "target.js"), "{directory}", *options]))
        )
    words = [sys.executable, str(EXAMPLES / "python" / "target.py"), "{directory}", *options]
    return Aim(Command(shlex.join(words)), policy.load(EXAMPLES / "python" / "policy.toml"))


@cache
def planned(example: str, *options: str, kills: bool) -> tuple[Job, ...]:
    """The jobs of a quick check, in its order; of the kills alone if that is what is asked for."""
    aim = aim_at(example, *options)
    can = greeted(aim).capabilities
    if example_races(options):
        return plan_races("quick", 0, aim=aim, capabilities=can, strace=STRACE).jobs
    if kills:
        return plan_kills("quick", 0, aim=aim, capabilities=can, strace=STRACE).jobs
    corpus = plan_corpus("quick", 0, aim=aim, capabilities=can).jobs
    return (*corpus, *plan_conformance("quick", 0, aim=aim, capabilities=can).jobs)


def example_races(options: tuple[str, ...]) -> bool:
    return bool(NEED_A_RACE.intersection(options))


def first_failure(example: str, fault: str) -> Failure | None:
    """What a quick check finds first in a store with that one fault."""
    for job in planned(example, "--only", fault, kills=fault in NEED_A_KILL):
        for failure in run_job(job).failures:
            return failure
    return None


def check_found(example: str, fault: str) -> None:
    failure = first_failure(example, fault)
    assert failure is not None, f"{fault} is never found"
    assert not failure.clause.startswith("protocol:"), failure.title
    assert isinstance(failure.trace, dict)
    assert failure.trace.get("kind") == ("kill" if fault in NEED_A_KILL | NEED_A_RACE else None)
    assert (failure.trace.get("trial") == "race") == (fault in NEED_A_RACE)


@pytest.mark.usefixtures("node")
@pytest.mark.parametrize("fault", [name for name, *_ in NODE_FAULTS if name != "written-in-place"])
def test_every_fault_of_the_node_store_is_found(fault: str) -> None:
    check_found("node", fault)


@pytest.mark.usefixtures("node", "strace")
def test_the_node_store_that_writes_in_place_is_found_half_written() -> None:
    check_found("node", "written-in-place")


@pytest.mark.parametrize("fault", [name for name, _ in PYTHON_FAULTS if name != "in-two-steps"])
def test_every_fault_of_the_python_store_is_found(fault: str) -> None:
    check_found("python", fault)


@pytest.mark.usefixtures("strace")
def test_the_python_store_that_commits_in_two_steps_is_found_between_them() -> None:
    check_found("python", "in-two-steps")


def held(example: str) -> None:
    """Mended, a part of the same jobs finds nothing."""
    jobs = planned(example, "--mended", kills=False)
    deaths = planned(example, "--mended", kills=True)
    for job in (*jobs[:3], deaths[0], deaths[-1]):  # the last one is of races
        result = run_job(job)
        assert [failure.title for failure in result.failures] == []
        assert result.counts


@pytest.mark.usefixtures("node")
def test_the_node_store_holds_true_once_mended() -> None:
    held("node")


def test_the_python_store_holds_true_once_mended_but_for_what_is_declared() -> None:
    held("python")


def test_the_page_lists_exactly_the_faults_that_are_there() -> None:
    listed = re.findall(r"^\| `([a-z-]+)` \| (.*) \|$", PAGE, re.M)
    there = [(name, one or other) for name, one, other in NODE_FAULTS] + PYTHON_FAULTS
    assert listed == there
    assert (len(NODE_FAULTS), len(PYTHON_FAULTS)) == (17, 10)


def test_the_page_names_the_commands_that_the_examples_take() -> None:
    assert "node docs/examples/node/target.js {directory}" in PAGE
    assert "python3 docs/examples/python/target.py {directory}" in PAGE
    for option in ("--only", "--without", "--mended"):
        assert option in PAGE
        assert option in (EXAMPLES / "node" / "faults.js").read_text("utf-8")
        assert option in (EXAMPLES / "python" / "target.py").read_text("utf-8")
