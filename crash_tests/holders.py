"""What becomes of the mutex when its holder is killed, stopped, forked, or has its lock file replaced.

The same promises as `processes`: each race answers what was wrong, and leaves nothing running.
"""

import os
import signal
from collections.abc import Callable

from crash_tests.children import Child, HarnessError, Say, fork, in_child
from crash_tests.races import (
    LONG_S,
    SHORT_S,
    Gate,
    Place,
    Race,
    Said,
    announcing,
    gate,
    host,
    pausing,
    reserve,
)
from crash_tests.scenarios import uuid_of
from impl import disk

AT_ONCE_S = 5.0
"""Far below the time that a waiter is willing to wait, far above what a busy machine needs."""


def _holder(place: Place, barrier: Gate) -> Callable[[Say], None]:
    """Reserves number 1, pausing under the mutex."""

    def run(say: Say) -> None:
        with host(place, during=pausing(say, barrier)) as mine:
            say(reserve(mine, 1).line())

    return run


def _waiter(place: Place, number: int, *, lock_timeout_s: float = LONG_S) -> Callable[[Say], None]:
    """Reserves `number`, and says `waiting` when it goes for the mutex. The store is opened already."""
    mine = host(place, lock_timeout_s=lock_timeout_s)

    def run(say: Say) -> None:
        announcing(say, disk.CrashPoint.LOCK_ACQUIRE_BEFORE, b"waiting\n")
        say(reserve(mine, number).line())

    return run


def killed_holder(place: Place) -> list[str]:
    """The holder is killed and stays a zombie; the next waiter goes on at once."""
    wrong = []
    waits = _waiter(place, 2)
    with gate() as barrier, Child(_holder(place, barrier)) as holder:
        holder.listen(b"holding\n")
        with Child(waits, inherits=(holder.reader,)) as waiter:
            waiter.listen(b"waiting\n")
            holder.send(signal.SIGKILL)
            os.waitid(os.P_PID, holder.pid, os.WEXITED | os.WNOWAIT)
            end = waiter.wait(AT_ONCE_S)
            if end.timed_out or Said.parse(end.said).code != "ok":
                wrong.append(f"the waiter {end.describe()} and said {end.said!r}")
            if not holder.wait().killed:
                raise HarnessError("the holder was to be killed")
    if place.rows() != {uuid_of(2): "reserved"}:
        wrong.append(f"the rows are {place.rows()}")
    return wrong + place.faults()


def stopped_holder(place: Place) -> list[str]:
    """The holder is stopped: others time out clearly; nothing is lost when it wakes."""
    wrong = []
    with (
        host(place, lock_timeout_s=SHORT_S) as other,
        gate() as barrier,
        Child(_holder(place, barrier)) as holder,
    ):
        holder.listen(b"holding\n")
        holder.send(signal.SIGSTOP)
        os.waitid(os.P_PID, holder.pid, os.WSTOPPED | os.WNOWAIT)
        barrier.open()
        said = reserve(other, 2)
        if (said.code, said.side_effects) != ("DURABILITY_FAILED", "none"):
            wrong.append(f"while the holder was stopped another process got {said}")
        holder.send(signal.SIGCONT)
        end = holder.wait()
        if not end.finished or Said.parse(end.said).code != "ok":
            wrong.append(f"the woken holder {end.describe()} and said {end.said!r}")
        if (said := reserve(other, 3)).code != "ok":
            wrong.append(f"after the holder woke another process got {said}")
    if set(place.rows()) != {uuid_of(1), uuid_of(3)}:
        wrong.append(f"the rows are {place.rows()}")
    return wrong + place.faults()


def forked_holder(place: Place) -> list[str]:
    """A holder forks inside its transaction: the child neither holds nor releases the mutex."""
    wrong = []
    with (
        host(place, lock_timeout_s=SHORT_S) as other,
        gate() as go_on,
        gate() as end_of_child,
        Child(_forking(place, go_on, end_of_child)) as holder,
    ):
        said = holder.listen(b"child:")
        said = holder.listen(b"\n", LONG_S) if not said.endswith(b"\n") else said
        if not said.startswith(b"child:DURABILITY_FAILED"):
            wrong.append(f"the transaction that the child found itself in: {said!r}")
        if (refused := reserve(other, 2)).code != "DURABILITY_FAILED":
            wrong.append(f"the child's end of the transaction released the mutex: {refused}")
        go_on.open()
        holder.listen(b"holder:ok")
        if (free := reserve(other, 3)).code != "ok":
            wrong.append(f"the surviving child keeps the mutex: {free}")
        end_of_child.open()
        if not (end := holder.wait()).finished:
            wrong.append(f"the holder {end.describe()}")
    if set(place.rows()) != {uuid_of(1), uuid_of(3)}:
        wrong.append(f"the rows are {place.rows()}")
    return wrong + place.faults()


def _forking(place: Place, go_on: Gate, end_of_child: Gate) -> Callable[[Say], None]:
    """Reserves number 1 and forks under the mutex; the forked child comes out of the same call first."""

    def run(say: Say) -> None:
        born: list[int] = []

        def during(moment: str) -> None:
            if moment == "authorize" and not born:
                born.append(fork())
                if born[0]:
                    go_on.pass_through()

        with host(place, during=during) as mine:
            said = reserve(mine, 1)
            if born[0] == 0:
                say(f"child:{said.code}\n".encode())
                end_of_child.pass_through()
                os._exit(0)
        say(f"holder:{said.code}\n".encode())
        end_of_child.pass_through()
        os.waitpid(born[0], 0)

    return run


def replaced_lock(place: Place) -> list[str]:
    """The lock file is replaced while one holds it and another waits: never two who publish."""
    wrong = []
    waits = _waiter(place, 2)
    lock = place.store / "writer.lock"
    with host(place) as other, gate() as barrier, Child(_holder(place, barrier)) as holder:
        holder.listen(b"holding\n")
        with Child(waits, inherits=(holder.reader,)) as waiter:
            waiter.listen(b"waiting\n")
            fresh = lock.with_suffix(".fresh")
            fresh.touch(mode=0o600)
            fresh.replace(lock)
            third = reserve(other, 3)
            if third.code != "ok":
                wrong.append(f"under the new lock file: {third}")
            barrier.open()
            first, second = (Said.parse(child.wait().said) for child in (holder, waiter))
    if first.code != "DURABILITY_FAILED":
        wrong.append(f"the holder of the old lock file got {first}")
    if second.code not in {"ok", "DURABILITY_FAILED"}:
        wrong.append(f"the waiter got {second}")
    granted = {uuid_of(n) for n, said in ((1, first), (2, second), (3, third)) if said.code == "ok"}
    if set(place.rows()) != granted:
        wrong.append(f"granted {sorted(granted)}, stored {sorted(place.rows())}")
    return wrong + place.faults()


def killed_by_environment(place: Place) -> list[str]:
    """`HOLDTRUE_CRASH_AT` kills any process at the n-th arrival; a store opened afterwards is whole."""
    wrong = []

    def opens(_: Say) -> None:
        os.environ[disk.CRASH_ENV] = "state-rename-after:1"
        host(place).close()

    if not (end := in_child(opens)).killed:
        wrong.append(f"a process with {disk.CRASH_ENV} {end.describe()}")
    host(place, lock_timeout_s=AT_ONCE_S).close()
    if place.actions() != ["initialize"]:
        wrong.append(f"the chain says {place.actions()}")
    return wrong + place.faults()


_HELD = ("open a", "open b", "a: reserve 1, standing still under the mutex")

HOLDERS: tuple[Race, ...] = (
    Race(
        "killed-holder",
        "a waiter goes on, past a zombie",
        "C7",
        killed_holder,
        (*_HELD, "b: reserve 2, waiting", "kill a"),
    ),
    Race(
        "stopped-holder",
        "others time out, nothing is lost",
        "C7",
        stopped_holder,
        (*_HELD, "stop a", "b: reserve 2", "wake a", "b: reserve 3"),
    ),
    Race(
        "forked-holder",
        "a forked child neither holds nor releases",
        "C7",
        forked_holder,
        (*_HELD, "a forks; the child comes out of the call", "b: reserve 2", "a goes on", "b: reserve 3"),
    ),
    Race(
        "replaced-lock",
        "never two holders who publish",
        "C7",
        replaced_lock,
        (*_HELD, "b: reserve 2, waiting", "the lock file is replaced", "open c", "c: reserve 3", "a goes on"),
    ),
    Race(
        "killed-by-environment",
        "the kill hook of any process",
        "crash-matrix",
        killed_by_environment,
        ("process 1: open, killed by its environment", "open"),
    ),
)
