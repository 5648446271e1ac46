"""What others may and may not do while a transaction stands at one of its marked points.

No order of processes is left to chance here: one stands still at a point, and another is tried. Races find
by luck what these find for certain. The same promises as `processes`.
"""

import os
import signal
import time
from collections.abc import Callable
from functools import partial

import impl
from crash_tests.children import Child, Say, fork
from crash_tests.holders import AT_ONCE_S
from crash_tests.project import ProjectAuthority
from crash_tests.races import LONG_S, Gate, Place, Race, Said, admitted, ask, commit, gate, host, reserve
from crash_tests.scenarios import TTL_MS, uuid_of
from impl import disk

BRIEF_S = 0.03
"""How long another process waits for the mutex at each point. It must not get it, so this is time spent."""

LEASE_MS = 2 * TTL_MS


def closed_to_others(place: Place) -> list[str]:
    """From taking the mutex to giving it up, nobody else gets in, at whichever marked point the holder is."""
    wrong: list[str] = []
    passed: list[str] = []
    with (
        host(place, lock_timeout_s=BRIEF_S) as other,
        gate() as barrier,
        Child(partial(_stops_everywhere, place, barrier)) as holder,
    ):
        while (point := _next(holder, len(passed))) != "the end":
            passed.append(point)
            said = reserve(other, 100 + len(passed))
            if (said.code, said.side_effects) != ("DURABILITY_FAILED", "none"):
                wrong.append(f"while the holder stood at {point}, another process got {said.code}")
            os.write(barrier.writer, b"!")
        if not (end := holder.wait()).finished or Said.parse(end.said).code != "ok":
            wrong.append(f"the holder {end.describe()} and said {end.said!r}")
    if disk.CrashPoint.STATE_RENAME_AFTER not in passed:
        wrong.append(f"the holder published nothing: it stood at {', '.join(passed)}")
    if set(place.rows()) != {uuid_of(1)}:
        wrong.append(f"the rows are {place.rows()}")
    return wrong + place.faults()


def _next(holder: Child, number: int) -> str:
    """Where the holder stands now, `number` points after the first."""
    mark = f" #{number}\n"
    return holder.listen(mark.encode()).decode().partition(mark)[0].rpartition("\n")[2]


def _stops_everywhere(place: Place, barrier: Gate, say: Say) -> None:
    """Reserves number 1; at each marked point under the mutex it says which, and waits to be let on."""
    inside = False
    number = 0

    def hook(point: disk.CrashPoint) -> None:
        nonlocal inside, number
        inside = (inside or point is disk.CrashPoint.LOCK_ACQUIRE_AFTER) and not point.startswith(
            "lock-release"
        )
        if inside:
            say(f"{point} #{number}\n".encode())
            number += 1
            os.read(barrier.reader, 1)

    with host(place) as mine:
        disk.install(hook)
        said = reserve(mine, 1)
        disk.install(None)
    say(f"the end #{number}\n".encode() + said.line())


def surviving_child(place: Place) -> list[str]:
    """The holder is killed while a child that it has forked lives on: the mutex is free at once."""
    wrong = []
    with (
        host(place, lock_timeout_s=AT_ONCE_S) as other,
        gate() as end_of_child,
        Child(partial(_forks_and_stays, place, end_of_child)) as holder,
    ):
        holder.listen(b"holding\n")
        holder.send(signal.SIGKILL)
        os.waitid(os.P_PID, holder.pid, os.WEXITED | os.WNOWAIT)
        if (said := reserve(other, 2)).code != "ok":
            wrong.append(f"the child of the killed holder keeps the mutex: {said}")
        end_of_child.open()
        holder.wait()
    if not wrong and place.rows() != {uuid_of(2): "reserved"}:
        wrong.append(f"the rows are {place.rows()}")
    return wrong + place.faults()


def _forks_and_stays(place: Place, end_of_child: Gate, say: Say) -> None:
    """Reserves number 1; under the mutex it forks a child that does nothing, and waits like it."""
    born = False

    def during(moment: str) -> None:
        nonlocal born
        if moment != "authorize" or born:
            return
        born = True
        if fork() == 0:
            end_of_child.pass_through()
            os._exit(0)
        say(b"holding\n")
        end_of_child.pass_through()

    with host(place, during=during) as mine:
        say(reserve(mine, 1).line())


def replaced_while_writing(place: Place) -> list[str]:
    """The lock file is replaced while a state is being written: who got in by the new one loses nothing."""
    with (
        host(place) as other,
        gate() as barrier,
        Child(partial(_stops_at, place, barrier, disk.CrashPoint.STATE_FSYNC_AFTER)) as holder,
    ):
        holder.listen(b"writing\n")
        lock = place.store / "writer.lock"
        fresh = lock.with_suffix(".fresh")
        fresh.touch(mode=0o600)
        fresh.replace(lock)
        second = reserve(other, 2)
        barrier.open()
        first = Said.parse(holder.wait().said)
    wrong = [] if second.code == "ok" else [f"under the new lock file: {second}"]
    if (first.code, first.side_effects) != ("DURABILITY_FAILED", "none"):
        wrong.append(f"who was writing under the old lock file got {first}")
    if set(place.rows()) != {uuid_of(2)}:
        wrong.append(f"the rows are {place.rows()}")
    return wrong + place.faults()


def _stops_at(place: Place, barrier: Gate, point: disk.CrashPoint, say: Say) -> None:
    """Reserves number 1, standing still at `point`."""

    def hook(arrived: disk.CrashPoint) -> None:
        if arrived is point:
            say(b"writing\n")
            barrier.pass_through()

    with host(place) as mine:
        disk.install(hook)
        said = reserve(mine, 1)
        disk.install(None)
    say(said.line())


def published_while_looked_at(place: Place) -> list[str]:
    """A state is published between the kernel's finding the old file and its look at it: none is refused.

    A call looks at the files once before it has the mutex, so others may be publishing just then.
    """
    with host(place) as other, gate() as barrier, Child(partial(_looks_long, place, barrier)) as looker:
        looker.listen(b"looking\n")
        second = reserve(other, 2)
        barrier.open()
        first = Said.parse(looker.wait().said)
    wrong = [
        f"{who} got {said.code}: {said.value}"
        for who, said in (("who published", second), ("who was looking", first))
        if said.code != "ok"
    ]
    if not wrong and set(place.rows()) != {uuid_of(1), uuid_of(2)}:
        wrong.append(f"the rows are {place.rows()}")
    return wrong + place.faults()


def _looks_long(place: Place, barrier: Gate, say: Say) -> None:
    """Reserves number 1; its first look at the state takes as long as the barrier stands."""
    state = str(place.store / "coordinator.json")
    look = os.lstat
    looked = False

    def slowly(path: str) -> os.stat_result:
        nonlocal looked
        if looked or path != state:
            return look(path)
        looked = True
        found = os.open(path, os.O_PATH | os.O_NOFOLLOW)
        say(b"looking\n")
        barrier.pass_through()
        try:
            return os.fstat(found)
        finally:
            os.close(found)

    with host(place) as mine:
        os.lstat = slowly  # type: ignore[assignment]  # in this child, which ends soon
        said = reserve(mine, 1)
    say(said.line())


def lease_ends_before_the_launch(place: Place) -> list[str]:
    """The lease ends between the publication of a dispatch's sweep and its launch: nothing is launched."""
    now = time.time_ns() // 1_000_000
    clock = [now]
    authority = ProjectAuthority(place.project, expires_at=now + LEASE_MS)
    launched: list[str] = []

    def prepare(_row: object) -> Callable[[], None]:
        return lambda: launched.append("launched")

    with impl.open_coordinator(
        place.store,
        initial_max_active_runs=3,
        epoch=1,
        holder_id=authority.holder_id,
        authority=authority,
        clock=lambda: clock[0],
        lock_timeout_s=LONG_S,
    ) as store:
        admitted(place, store, 1)
        assert commit(store, 1).code == "ok"
        admitted(place, store, 2)
        clock[0] += LEASE_MS - 1

        def hook(point: disk.CrashPoint) -> None:
            if point is disk.CrashPoint.STATE_DIRSYNC_AFTER:
                clock[0] = now + LEASE_MS

        previous = disk.install(hook)
        try:
            said = ask(store, "dispatch", {"id": uuid_of(1)}, prepare=prepare)
        finally:
            disk.install(previous)
    wrong = [] if said.code == "AUTHORITY_REVOKED" else [f"the dispatch got {said}"]
    if launched:
        wrong.append("a run was launched after the lease had ended")
    return wrong + place.faults()


MOMENTS: tuple[Race, ...] = (
    Race(
        "closed-to-others",
        "one stands still at each marked point, another tries to get in",
        "C7",
        closed_to_others,
        ("open a", "open b", "a: reserve 1, standing still at each point", "b: reserve 2 meanwhile"),
    ),
    Race(
        "surviving-child",
        "the holder is killed, a child that it forked lives on",
        "C7",
        surviving_child,
        ("open a", "open b", "b: reserve 1, forking a child", "kill b", "a: reserve 2"),
    ),
    Race(
        "replaced-while-writing",
        "the lock file is replaced while a state is written",
        "C7",
        replaced_while_writing,
        (
            "open a",
            "open b",
            "b: reserve 1, standing still before the rename",
            "the lock file is replaced",
            "a: reserve 2",
            "b goes on",
        ),
    ),
    Race(
        "published-while-looked-at",
        "one looks at the files, another publishes meanwhile",
        "C12",
        published_while_looked_at,
        (
            "open a",
            "open b",
            "b: reserve 1, its first look at the state lasting",
            "a: reserve 2",
            "b goes on",
        ),
    ),
    Race(
        "lease-ends-before-the-launch",
        "a lease ends between publication and launch",
        "dispatch",
        lease_ends_before_the_launch,
        (
            "open",
            "reserve 1",
            "admit 1",
            "commit 1",
            "reserve 2",
            "admit 2",
            "the time of 2 passes",
            "dispatch 1; the lease ends once its sweep is published",
        ),
    ),
)
