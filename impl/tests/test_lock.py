"""The mutex over threads, store objects and processes (C7).

Guarantees: real forks, real signals, the kernel's own lock; every wait has a deadline.

Doesn't: race for slots. The crash tests do, with 32 processes.
"""

import inspect
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest

from impl import CoordinatorError, disk
from impl.tests.authority import meanwhile
from impl.tests.derive_store import uuid
from impl.tests.workbench import Bench, Caller, at_once, lock_is_free, refusal, untouched, workbench


def refused(call: Callable[[], object]) -> str:
    """The message of a refusal by the fence."""
    return refusal(call, "DURABILITY_FAILED").message


@pytest.fixture
def bench() -> Iterator[Bench]:
    with workbench() as made:
        yield made


def forked(work: Callable[[], object]) -> int:
    """The id of a forked child that runs `work` and exits 0, or 1 if that raises."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return pid


@contextmanager
def child(work: Callable[[], object]) -> Iterator[int]:
    """A forked child, killed and reaped afterwards."""
    pid = forked(work)
    try:
        yield pid
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def exit_code(pid: int) -> int:
    """What a child ended with; it is left to be reaped."""
    ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert ended is not None
    return ended.si_status


def holding(bench: Bench, call: Caller, announce: int) -> Callable[[], object]:
    """Work for a child: tells that it is inside, and stays there."""

    def stay() -> None:
        os.write(announce, b".")
        signal.pause()

    def work() -> None:
        bench.authority.interfere("authorize", 1, meanwhile(stay))
        call("snapshot")

    return work


def test_a_stopped_holder_times_the_others_out_and_nothing_is_lost_when_it_wakes(bench: Bench) -> None:
    call = Caller(bench.open(lock_timeout_s=0.05), bench)
    call.reserve(1)
    inside, announce = os.pipe()
    go, send = os.pipe()

    def stay() -> None:
        os.write(announce, b".")
        os.read(go, 1)

    def work() -> None:
        bench.authority.interfere("authorize", 1, meanwhile(stay))
        call.reserve(2)

    with child(work) as pid:
        os.read(inside, 1)
        os.kill(pid, signal.SIGSTOP)
        os.waitpid(pid, os.WUNTRACED)
        with untouched(bench.directory), at_once():
            message = refused(lambda: call.reserve(3))
        assert "writer fence failed" in message
        assert "stopped" in message
        os.kill(pid, signal.SIGCONT)
        os.write(send, b".")
        assert exit_code(pid) == 0
    assert list(bench.read_state()["reservations"]) == [uuid(1), uuid(2)]
    for descriptor in (inside, announce, go, send):
        os.close(descriptor)


def test_a_waiter_goes_on_at_once_when_the_holder_is_killed_even_while_it_is_a_zombie(bench: Bench) -> None:
    call = Caller(bench.open(lock_timeout_s=20.0), bench)
    inside, announce = os.pipe()
    with child(holding(bench, call, announce)) as pid:
        os.read(inside, 1)
        os.kill(pid, signal.SIGKILL)
        exit_code(pid)
        with at_once(5.0):
            call.reserve(1)
    os.close(inside)
    os.close(announce)


def test_a_forked_child_of_the_holder_neither_holds_nor_releases_the_lock(bench: Bench) -> None:
    call = Caller(bench.open(), bench)
    rival = Caller(bench.open(lock_timeout_s=0.0), bench)
    found: list[str] = []

    def fork_and_look() -> None:
        os.waitpid(forked(lambda: None), 0)  # its copies of everything go with it
        thread = threading.Thread(target=lambda: found.append(refused(lambda: rival.reserve(9))))
        thread.start()
        thread.join()

    bench.authority.interfere("authorize", 1, meanwhile(fork_and_look))
    assert call.store.call("snapshot", {}, "alice") is not None
    assert "writer fence failed" in found[0], "the child's exit must not have released the parent's lock"
    lock_is_free(bench)


def test_a_surviving_child_does_not_keep_the_lock_of_a_dead_holder(bench: Bench) -> None:
    call = Caller(bench.open(lock_timeout_s=20.0), bench)
    told, tell = os.pipe()

    def fork_and_die() -> None:
        pid = forked(signal.pause)
        os.write(tell, pid.to_bytes(4, "big"))
        os.kill(os.getpid(), signal.SIGKILL)

    def work() -> None:
        bench.authority.interfere("authorize", 1, meanwhile(fork_and_die))
        call("snapshot")

    with child(work):
        survivor = int.from_bytes(os.read(told, 4), "big")
        try:
            with at_once(5.0):
                call.reserve(1)
        finally:
            os.kill(survivor, signal.SIGKILL)
    os.close(told)
    os.close(tell)


def test_the_childs_half_of_a_transaction_fails_and_writes_nothing(bench: Bench) -> None:
    """A callback that forks returns twice. Only the parent may publish."""
    call = Caller(bench.open(), bench)
    told, tell = os.pipe()
    pids: list[int] = []

    def reserve() -> bytes:
        try:
            call.reserve(1)
        except CoordinatorError as error:
            return error.message.encode()
        return b"accepted"

    bench.authority.interfere("authorize", 1, meanwhile(lambda: pids.append(os.fork())))
    outcome = b"crashed"
    try:
        outcome = reserve()
    finally:
        if pids[0] == 0:
            os.write(tell, outcome)
            os._exit(0)
    os.waitpid(pids[0], 0)
    os.close(tell)
    with os.fdopen(told, "rb") as pipe:
        assert b"forked" in pipe.read()
    assert outcome == b"accepted"
    assert bench.read_state()["commitSeq"] == 2
    assert not list(bench.directory.glob("*.tmp"))
    lock_is_free(bench)


def test_a_child_forked_between_calls_may_use_the_store(bench: Bench) -> None:
    call = Caller(bench.open(), bench)
    call.reserve(1)
    with child(lambda: call.reserve(2)) as pid:
        assert exit_code(pid) == 0
    assert len(call("snapshot")["reservations"]) == 2


def test_a_lock_file_replaced_while_someone_waits_never_makes_two_holders(bench: Bench) -> None:
    call = Caller(bench.open(), bench)
    waiter = Caller(bench.open(), bench)
    lock = bench.directory / "writer.lock"
    waiting = threading.Event()
    found: list[Any] = []

    def wait() -> None:
        found.append(refused(lambda: waiter.store.call("snapshot", {}, "alice")))

    def replace() -> None:
        thread.start()
        assert waiting.wait(10)
        lock.unlink()
        lock.touch(0o600)

    def notice(point: disk.CrashPoint) -> None:
        if point is disk.CrashPoint.LOCK_ACQUIRE_BEFORE and threading.current_thread() is thread:
            waiting.set()

    thread = threading.Thread(target=wait)
    bench.authority.interfere("authorize", 1, meanwhile(replace))
    former = disk.install(notice)
    try:
        error = refusal(lambda: call.store.call("snapshot", {}, "alice"), "DURABILITY_FAILED")
    finally:
        disk.install(former)
    thread.join(10)
    assert "another file" in error.message
    assert "another file" in found[0]
    call.reserve(1)


def test_the_lock_file_is_never_removed_and_keeps_its_inode(bench: Bench) -> None:
    call = Caller(bench.open(), bench)
    before = (bench.directory / "writer.lock").stat().st_ino
    call.reserve(1)
    refusal(lambda: call("snapshot", "nobody"), "AUTHORITY_REVOKED")
    assert (bench.directory / "writer.lock").stat().st_ino == before


class Struck(BaseException):
    """What a signal handler may raise: like KeyboardInterrupt, no `Exception`."""


def _strike_at(nth: int) -> Callable[[Any, str, Any], None]:
    """Raises where Python would run a signal handler: on entering a function, and after a call into C.

    Not on entering a generator: closing one goes to its `finally` without looking for signals.
    """
    left = nth

    def strike(frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal left
        code = frame.f_code
        entered = event == "call" and not code.co_flags & inspect.CO_GENERATOR
        if (entered or event == "c_return") and code.co_filename.endswith(STRUCK_FILES):
            left -= 1
            if left == 0:
                raise Struck

    return strike


STRUCK_FILES = (
    "impl/lock.py",
    "impl/transaction.py",
    "impl/disk.py",
    "impl/lockfile.py",
    "impl/publish.py",
    "contextlib.py",
)


def test_an_exception_of_a_signal_handler_leaves_the_lock_free_wherever_it_strikes(bench: Bench) -> None:
    call = Caller(bench.open(lock_timeout_s=0.0), bench)
    number = strikes = 0
    while True:
        number += 1
        call("setMaxActiveRuns", "root", commandId=uuid(number, 9), maxActiveRuns=number)
        sys.setprofile(_strike_at(number))
        try:
            call.reserve(number)
        except Struck:  # held on to while this block runs, with all that its frames hold
            sys.setprofile(None)
            strikes += 1
            lock_is_free(bench)
            assert call("snapshot") is not None
            assert not list(bench.directory.glob("*.tmp"))
        else:
            sys.setprofile(None)
            break
    assert strikes > 100
