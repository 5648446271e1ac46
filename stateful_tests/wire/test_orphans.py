"""No process outlives its checker: not when a target misbehaves, nor when the checker itself is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from model.actions import Call
from stateful_tests.wire import warden
from stateful_tests.wire.faults import TargetFaultError
from stateful_tests.wire.process import TargetProcess
from stateful_tests.wire.target import Command, Session

ROOT = Path(__file__).resolve().parents[2]
BEARS = f"{sys.executable} -m stateful_tests.wire.fakes bears {{directory}}"

CHECKER = """
import sys
from pathlib import Path
from model.actions import Call
from stateful_tests.wire.target import Command, Session
target = Session(Command(sys.argv[1], 60.0)).target(Path(sys.argv[2]))
target.apply(Call("a", "alice", "snapshot"))
"""


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def until_gone(*pids: int) -> None:
    deadline = time.monotonic() + 20
    while any(map(running, pids)):
        assert time.monotonic() < deadline, f"one of {pids} still runs"
        os.sched_yield()


def pids_in(place: Path, deadline_s: float = 30) -> list[int]:
    deadline = time.monotonic() + deadline_s
    while not place.exists():
        assert time.monotonic() < deadline, "the fake never told of its child"
        os.sched_yield()
    return [int(word) for word in place.read_text("ascii").split()]


@pytest.fixture
def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the fake tells its own pid and its child's."""
    monkeypatch.setenv("HOLDTRUE_FAKE_CHILD", str(tmp_path / "pids"))
    monkeypatch.chdir(ROOT)
    return tmp_path / "pids"


def test_a_target_that_hangs_is_ended_with_its_children(tmp_path: Path, child: Path) -> None:
    target = Session(Command(BEARS, 5.0)).target(tmp_path / "store")
    result = target.apply(Call("a", "alice", "snapshot"))
    assert result.to_json()["crashed"] == f"hung: {target.broke.text}"  # type: ignore[union-attr]  # it broke
    until_gone(*pids_in(child))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_checker_that_is_killed_leaves_no_target_and_no_child(
    tmp_path: Path, child: Path, number: signal.Signals
) -> None:
    checker = subprocess.Popen(
        [sys.executable, "-c", CHECKER, BEARS, str(tmp_path / "store")], cwd=ROOT, start_new_session=True
    )
    pids = pids_in(child)
    assert all(map(running, pids))
    os.kill(checker.pid, number)
    checker.wait()
    until_gone(*pids)


def test_a_killed_checkers_group_takes_its_targets_along(tmp_path: Path, child: Path) -> None:
    """As a pool of workers ends one: its whole group at once, in which the targets are not."""
    checker = subprocess.Popen(
        [sys.executable, "-c", CHECKER, BEARS, str(tmp_path / "store")], cwd=ROOT, start_new_session=True
    )
    pids = pids_in(child)
    os.killpg(checker.pid, signal.SIGKILL)
    checker.wait()
    until_gone(*pids)


def test_the_warden_goes_when_its_checker_has_ended() -> None:
    told = subprocess.run(
        [
            sys.executable,
            "-c",
            "from stateful_tests.wire import warden; warden.ready(); print(warden._WARDEN[0].pid)",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    until_gone(int(told.stdout))


def test_a_target_that_has_ended_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its number may soon be somebody else's, whom the warden must not end."""
    told: list[tuple[str, int]] = []
    monkeypatch.setattr(warden, "watch", lambda group: told.append(("watch", group)))
    monkeypatch.setattr(warden, "forget", lambda group: told.append(("forget", group)))
    process = TargetProcess([sys.executable, "-c", "input()"], reply_limit_s=1.0)
    process.end()
    assert told == [("watch", process.pid), ("forget", process.pid)]


@pytest.mark.parametrize("ended_by", ["kill", "kill_after", "end", "its own death"])
def test_a_daemon_does_not_outlive_its_target(tmp_path: Path, ended_by: str) -> None:
    """Otherwise a store that a daemon keeps in memory would pass for durable."""
    place = tmp_path / "daemon"
    code = f"""
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    with open({str(place) + ".new"!r}, "w") as told:
        told.write(str(os.getpid()))
    os.rename({str(place) + ".new"!r}, {str(place)!r})
    for stream in (0, 1, 2):
        os.close(stream)
    while True:
        signal.pause()
os.wait()
sys.stdin.readline()
"""
    process = TargetProcess([sys.executable, "-I", "-S", "-c", code], reply_limit_s=30.0)
    (daemon,) = pids_in(place)
    assert running(daemon)
    if ended_by == "its own death":
        due = process.send(b"{}")
        with pytest.raises(TargetFaultError):
            process.receive(due)
    elif ended_by == "kill_after":
        process.kill_after(0.0)
    else:
        getattr(process, ended_by)()
    until_gone(daemon)


def test_a_process_of_another_target_is_let_be() -> None:
    first, second = (
        TargetProcess([sys.executable, "-I", "-S", "-c", "input()"], reply_limit_s=30.0) for _ in range(2)
    )
    first.kill()
    assert running(second.pid)
    second.kill()
