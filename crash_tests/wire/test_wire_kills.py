"""Targets killed in each way that there is: what holds true recovers, what was planted is found, and no kill
is claimed that never came to its place."""

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crash_tests.ground import ground
from crash_tests.oracle import Violation
from crash_tests.scenarios import SCENARIOS
from crash_tests.wire import calls, jobs, stories
from crash_tests.wire.calls import Place, places
from crash_tests.wire.needed import missing, program
from crash_tests.wire.trial import CALL, MOMENT, POINT, REPLY, Left, Trial, Way
from stateful_tests.results import JobResult, run_job, total
from stateful_tests.wire import policy
from stateful_tests.wire.capabilities import Capabilities
from stateful_tests.wire.fakes import fake
from stateful_tests.wire.rates import own_store
from stateful_tests.wire.reach import FILES, Reach
from stateful_tests.wire.runners import Aim
from stateful_tests.wire.serve import CAPABILITIES
from stateful_tests.wire.target import Command

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
NO_STRACE = calls.usable()
traced = pytest.mark.usefixtures("strace")


@pytest.fixture
def strace() -> None:
    if NO_STRACE is not None:
        missing(NO_STRACE)


def sqlite(*options: str) -> Aim:
    """The Python example, which starts quickly."""
    words = [sys.executable, str(EXAMPLES / "python" / "target.py"), "{directory}", *options]
    return Aim(Command(shlex.join(words)), policy.load(EXAMPLES / "python" / "policy.toml"))


@pytest.fixture
def root() -> Iterator[Path]:
    with ground() as place:
        yield place.root


def ran(aim: Aim, scenario: str, *, strace: str | None = NO_STRACE, profile: str = "quick") -> JobResult:
    params: dict[str, Any] = {"profile": profile, "seed": 0, "strace": strace, "scenario": scenario}
    params["points"] = []
    return jobs.run_kills({**params, **aim.to_json()})


def test_calls_that_touch_the_directory_are_read_from_straces_log(tmp_path: Path) -> None:
    log = tmp_path / "calls"
    before = (
        '17 openat(AT_FDCWD</home>, "/usr/lib/libc.so", O_RDONLY) = 3</usr/lib/libc.so>\n'
        '17 write(1<pipe:[1]>, "{}", 2) = 2\n'
        "18 fsync(4</store/a>) = 0\n"
    )
    after = (
        '17 openat(AT_FDCWD</home>, "/store/a.new", O_WRONLY|O_CREAT) = 4</store/a.new>\n'
        '17 write(4</store/a.new>, "x", 1 <unfinished ...>\n'
        "18 fsync(4</store/a>) = 0\n"
        "17 <... write resumed>) = 1\n"
        '17 openat(AT_FDCWD</store>, "a", O_RDONLY) = 5</store/a>\n'
        '17 write(1<pipe:[1]>, "{}", 2) = 2\n'
        '17 rename("/store/a.new", "/store/a") = 0\n'
        "17 +++ exited with 0 +++\n"
    )
    log.write_text(before + after, "utf-8")
    assert places(log, len(before), Path("/store")) == (
        Place("openat", 1, 2, True),
        Place("write", 1, 2, True),
        Place("fsync", 1, 2, True),
        Place("openat", 2, 3, False),
        Place("rename", 1, 1, True),
    )


def test_places_know_where_a_lock_is_given_up_before_the_last_change(tmp_path: Path) -> None:
    log = tmp_path / "log"
    unlocks = "17 fcntl(3</store/db>, F_SETLK, {l_type=F_UNLCK, l_whence=SEEK_SET, l_start=0, l_len=0}) = 0\n"
    asks = "17 fcntl(3</store/db>, F_GETLK, {l_type=F_UNLCK, l_whence=SEEK_SET, l_start=0, l_len=0}) = 0\n"
    log.write_text(
        '17 openat(AT_FDCWD</home>, "/store/lock", O_RDWR) = 4</store/lock>\n'
        "17 flock(4</store/lock>, LOCK_EX) = 0\n"
        + asks
        + unlocks
        + "17 close(5</store/a>) = 0\n"
        + "17 flock(4</store/lock>, LOCK_UN) = 0\n"
        + "17 close(4</store/lock>) = 0\n"
        + '17 unlink("/store/held") = 0\n'
        + '17 rename("/store/a.new", "/store/a") = 0\n'
        + unlocks
        + "17 close(4</store/lock>) = 0\n",
        "utf-8",
    )
    found = places(log, 0, Path("/store"))
    assert [place.key for place in found if place.parts] == [
        "fcntl-before#1",
        "flock-before#2",
        "close-before#2",
        "unlink-before#1",
    ]
    assert [place.when for place in found if place.name == "fcntl"] == [2, 3]
    assert [place.key for place in found if place.changes] == ["unlink-before#1", "rename-before#1"]


def test_without_strace_the_reason_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert calls.usable() == "strace is not installed"
    (tmp_path / "strace").write_text("#!/bin/sh\necho ptrace: Operation not permitted >&2; exit 1\n", "ascii")
    (tmp_path / "strace").chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert calls.usable() == "strace does not work here: ptrace: Operation not permitted"


@traced
def test_a_store_that_holds_true_is_killed_at_each_of_its_calls_and_recovers(root: Path) -> None:
    aim, scenario = sqlite("--mended"), SCENARIOS["reserve"]
    trial = Trial(aim, scenario, root / "recorded" / "store")
    log = root / "log"
    found = places(log, trial.record(calls.recording(log), log).log_start, trial.directory)
    changing = [place for place in found if place.changes]
    assert {place.name for place in changing} >= {"pwrite64", "unlink"}
    for number, place in enumerate(changing):
        trial = Trial(aim, scenario, root / f"{number}" / "store")
        left = trial.kill(Way(CALL, place.name, place.nth, place))
        assert left is not None, place
        assert left.acknowledged in (0, 1)
        assert trial.recover(left)[0] is None, place


def test_a_store_is_killed_at_random_moments_and_after_its_reply_and_recovers(root: Path) -> None:
    for number, way in enumerate(
        (Way(REPLY, REPLY), Way(MOMENT, MOMENT, delay_s=0.0), Way(MOMENT, MOMENT, delay_s=0.5))
    ):
        trial = Trial(sqlite("--mended"), SCENARIOS["set-max-active-runs"], root / f"{number}" / "store")
        left = trial.kill(way)
        assert left is not None
        # Whether a target has answered by some moment is its own pace; after its reply it has.
        assert left.acknowledged in ((1,) if way.kind == REPLY else (0, 1))
        violation, after = trial.recover(left)
        assert violation is None
        assert [type(action).__name__ for action in after] == ["Open", "Call", "Call"]


@pytest.mark.parametrize("scenario", ["reserve", "genesis", "sweep-to-expired"])
def test_a_process_that_recovers_is_killed_in_its_turn_and_the_next_recovers(
    root: Path, scenario: str
) -> None:
    for number, (first, second) in enumerate(((0.0, 0.0), (0.002, 0.002), (0.5, 0.0))):
        trial = Trial(sqlite("--mended"), SCENARIOS[scenario], root / f"{number}" / "store")
        left = trial.kill(Way(MOMENT, MOMENT, delay_s=first))
        assert left is not None
        again = trial.kill_recovering(left, Way(MOMENT, MOMENT, delay_s=second))
        assert isinstance(again, Left)
        assert [type(action).__name__ for action in again.during] == ["Open"]
        assert trial.recover(again)[0] is None


def test_a_recovery_that_must_not_be_interrupted_is_found_by_interrupting_it(root: Path) -> None:
    for number, interrupted in enumerate((False, True)):
        trial = Trial(Aim(fake("rebuilds")), SCENARIOS["reserve"], root / f"{number}" / "store")
        left: Any = trial.kill(Way(REPLY, REPLY))
        if interrupted:
            left = trial.kill_recovering(left, Way(MOMENT, MOMENT, delay_s=0.3))
        violation, _ = trial.recover(left)
        assert (violation is not None) == interrupted


def test_our_own_store_dies_at_its_marked_points_and_one_that_is_not_passed_kills_nobody(root: Path) -> None:
    aim, scenario = Aim(own_store()), SCENARIOS["sweep-to-expired"]
    trial = Trial(aim, scenario, root / "1" / "store")
    left = trial.kill(Way(POINT, "state-write-torn"))
    assert left is not None
    assert left.acknowledged == 0
    assert trial.recover(left)[0] is None
    assert Trial(aim, scenario, root / "2" / "store").kill(Way(POINT, "identity-fsync-after")) is None


@traced
def test_a_publication_in_two_steps_is_found_and_told_so_that_it_can_be_had_again(root: Path) -> None:
    result = ran(sqlite("--only", "in-two-steps"), "reserve", profile="ci")
    clauses = {failure.clause for failure in result.failures}
    assert "crash-matrix: the state before or the state after, whole" in clauses
    trace: Any = result.failures[0].trace
    assert (trace["kind"], trace["trial"]) == ("kill", "wire")
    again = stories.again(trace, sqlite("--only", "in-two-steps"), root / "again")
    assert again is not None
    assert again.clause == result.failures[0].clause


def told(way: Way) -> Any:
    """The story of such a kill, in which something had been wrong."""
    scenario = SCENARIOS["reserve"]
    kills = (stories.killed(scenario.flight, way),)
    return stories.failure(scenario, kills, (), Violation("some clause", "something")).trace


def test_a_story_of_a_kill_that_does_no_harm_any_more_is_told_again_without_a_finding(root: Path) -> None:
    assert stories.again(told(Way(REPLY, REPLY)), sqlite("--mended"), root) is None


@traced
def test_a_story_whose_call_is_made_no_more_has_drifted(root: Path) -> None:
    with pytest.raises(stories.DriftedError, match="no longer makes system call 999 of fsync"):
        stories.again(told(Way(CALL, "fsync", 999)), sqlite("--mended"), root)


def test_what_is_out_of_reach_here_is_counted_and_no_kill_is_claimed() -> None:
    result = ran(sqlite("--mended"), "reserve", strace="strace is not installed")
    assert result.failures == ()
    assert result.counts["beyond/kills at system calls: strace is not installed"] == 1
    assert result.counts["beyond/kills at marked points of the target's own"] == 1
    assert not any(key == jobs.KINDS[CALL] for key in result.counts)
    assert result.counts[jobs.KINDS[REPLY]] == 1


def test_a_target_that_dies_by_itself_is_told_so_and_not_taken_for_killed() -> None:
    result = ran(Aim(fake("dies")), "reserve", strace="none")
    (failure,) = result.failures
    assert "died" in failure.title
    assert failure.clause.startswith("protocol: ")


def test_a_plan_has_what_the_target_can_be_brought_to_and_a_floor_for_each_way_to_die() -> None:
    aim = Aim(own_store())
    plan = jobs.plan_kills("ci", 0, aim=aim, capabilities=CAPABILITIES, strace=None)
    named = {job.params["scenario"] for job in plan.jobs if "scenario" in job.params}
    assert named < set(SCENARIOS)
    left_out = {name: jobs.beyond(SCENARIOS[name], Reach(CAPABILITIES)) for name in set(SCENARIOS) - named}
    assert set(left_out.values()) == {FILES, "beyond/kills of a host that completes an interrupted genesis"}
    deaths = {name: least for name, least in plan.floors.items() if not name.startswith("race/")}
    assert deaths == dict.fromkeys((*jobs.KINDS.values(), jobs.RECOVERING), 1)
    alone = Capabilities(processes="one")
    least = jobs.plan_kills("quick", 0, aim=aim, capabilities=alone, strace="none")
    assert set(least.floors) == {jobs.KINDS[MOMENT], jobs.KINDS[REPLY], jobs.RECOVERING}


@traced
def test_a_job_reaches_the_floors_of_its_plan() -> None:
    aim = sqlite("--mended")
    can = Capabilities(hosts="one", processes="one")
    plan = jobs.plan_kills("quick", 0, aim=aim, capabilities=can, strace=None)
    job = next(job for job in plan.jobs if job.params.get("scenario") == "commit")
    counts = total([run_job(job)])
    assert {key for key in plan.floors if not counts.get(key)} == set()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"schema_version": 9}, "schema_version"),
        ({"history": [{"do": "dance"}]}, r"history\[0\]"),
        ({"kills": [{"way": {"kind": "magic", "name": "x", "nth": 1, "delayS": 0}}]}, "'magic'"),
        ({"kills": [{}]}, "KeyError"),
    ],
)
def test_a_story_that_makes_no_sense_names_the_place(root: Path, change: dict[str, Any], told: str) -> None:
    scenario = SCENARIOS["genesis"]
    told_before = stories.failure(scenario, (), (), Violation("a", "b")).trace
    assert isinstance(told_before, dict)
    with pytest.raises(ValueError, match=told):
        stories.again({**told_before, **change}, sqlite("--mended"), root)


def test_an_answer_before_the_file_is_written_is_found() -> None:
    program("node")
    words = ["node", str(EXAMPLES / "node" / "target.js"), "{directory}", "--only", "answered-early"]
    result = ran(Aim(Command(shlex.join(words))), "reserve", strace="not asked for")
    assert {failure.clause for failure in result.failures} == {"crash-matrix: acknowledged is for good"}
