"""What others may do while one process is in the middle of a transaction, and what becomes of its lock.

No order of processes is left to chance here: one stands still at a marked point, or is killed or stopped
there, and another is tried. The same promises as `processes`.
"""

import os
import resource
import signal
import sqlite3
from collections.abc import Callable
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

from crash_tests.children import Child, HarnessError, Say, fork
from crash_tests.gated.clients import Place, asked, count, counting, faults, keys, names, opened
from crash_tests.gated.processes import fold_of
from crash_tests.races import SHORT_S, Gate, Race, Said, gate
from impl import disk
from impl.gated import Request

BRIEF_S = 0.03
"""How long another process waits for the lock at each point. It must not get it, so this is time spent."""

AT_ONCE_S = 5.0
"""Far below the time that a waiter is willing to wait, far above what a busy machine needs."""

_RETRY = "SQLITE_MIRROR_FAILED/retry"


def closed_to_others(place: Place) -> list[str]:
    """From taking the lock to giving it up nobody else gets in, though the holder's own process opens and
    closes the database's files all the time, which drops the locks that SQLite has on them."""
    wrong: list[str] = []
    passed: list[str] = []
    opened(place).close()
    with gate() as barrier, Child(partial(_stops_everywhere, place, barrier)) as holder:
        while (point := _next(holder, len(passed))) != "the end":
            passed.append(point)
            with Child(partial(_tries, place), inherits=(holder.reader,)) as other:
                said = Said.parse(other.wait().said)
            if said.code != _RETRY:
                wrong.append(f"while the holder stood at {point}, another process got {said.code}")
            os.write(barrier.writer, b"!")
        if not (end := holder.wait()).finished or Said.parse(end.said).code != "committed":
            wrong.append(f"the holder {end.describe()} and said {end.said!r}")
    if "mirror-commit-after" not in passed:
        wrong.append(f"the holder committed nothing: it stood at {', '.join(passed)}")
    if keys(place) != ["k1"]:
        wrong.append(f"the ledger holds {keys(place)}")
    return wrong + faults(place)


def _tries(place: Place, say: Say) -> None:
    """Opens the store, which takes the lock as well."""
    said = asked(lambda: opened(place, lock_timeout_s=BRIEF_S).close())
    say(said.line())


def _next(holder: Child, number: int) -> str:
    """Where the holder stands now, `number` points after the first."""
    mark = f" #{number}\n"
    return holder.listen(mark.encode()).decode().partition(mark)[0].rpartition("\n")[2]


def _stops_everywhere(place: Place, barrier: Gate, say: Say) -> None:
    """One transaction; at each marked point under the lock it says which, and waits to be let on."""
    inside = False
    number = 0

    def hook(point: disk.CrashPoint) -> None:
        nonlocal inside, number
        inside = (inside or point is disk.CrashPoint.LOCK_ACQUIRE_AFTER) and not point.startswith(
            "lock-release"
        )
        if inside:
            _opens_and_closes(place.store)
            say(f"{point} #{number}\n".encode())
            number += 1
            os.read(barrier.reader, 1)

    with opened(place) as mine:
        mine.state()
        disk.install(hook)
        said = count(mine, "k1")
        disk.install(None)
    say(f"the end #{number}\n".encode() + said.line())


def _opens_and_closes(directory: Path) -> None:
    for name in names(directory):
        os.close(os.open(directory / name, os.O_RDWR))


def killed_with_a_surviving_child(place: Place) -> list[str]:
    """The holder is killed at its append; a child that it had forked lives on, and keeps nothing."""
    opened(place).close()
    wrong: list[str] = []
    with gate() as barrier:

        def holds(say: Say) -> None:
            def hook(point: disk.CrashPoint) -> None:
                if point is disk.CrashPoint.LEDGER_APPEND_TORN:
                    if fork() == 0:
                        barrier.pass_through()
                        os._exit(0)
                    say(b"holding\n")
                    signal.pause()

            with opened(place) as mine:
                disk.install(hook)
                count(mine, "k1")

        with Child(holds) as holder:
            holder.listen(b"holding\n")
            holder.send(signal.SIGKILL)
            os.waitid(os.P_PID, holder.pid, os.WEXITED | os.WNOWAIT)
            with Child(partial(_counts, place, "k2"), inherits=(holder.reader,)) as waiter:
                end = waiter.wait(AT_ONCE_S)
            if end.timed_out or Said.parse(end.said).code != "committed":
                wrong.append(f"the next one {end.describe()} and said {end.said!r}")
            barrier.open()
            if not holder.wait().killed:
                raise HarnessError("the holder was to be killed")
    if keys(place) != ["k2"]:
        wrong.append(f"the ledger holds {keys(place)}")
    return wrong + faults(place)


def _counts(place: Place, key: str, say: Say) -> None:
    with opened(place) as mine:
        say(count(mine, key).line())


def stopped_holder(place: Place) -> list[str]:
    """The holder is stopped: others time out with `retry`; nothing is lost when it wakes."""
    opened(place).close()
    wrong = []
    told, tell = os.pipe()

    def holds(say: Say) -> None:
        def hook(point: disk.CrashPoint) -> None:
            if point is disk.CrashPoint.LEDGER_APPEND_AFTER:
                say(b"holding\n")
                os.kill(os.getpid(), signal.SIGSTOP)

        with opened(place) as mine:
            say(b"open\n")
            os.read(told, 1)
            disk.install(hook)
            said = count(mine, "k1")
            disk.install(None)
            say(said.line())

    # The holder is there first: who is forked from one that has the store open can't open it.
    with ExitStack() as stack:
        stack.callback(os.close, told)
        stack.callback(os.close, tell)
        holder = stack.enter_context(Child(holds))
        holder.listen(b"open\n")
        other = stack.enter_context(opened(place, lock_timeout_s=SHORT_S))
        os.write(tell, b"!")
        holder.listen(b"holding\n")
        if (said := count(other, "k2")).code != _RETRY:
            wrong.append(f"while the holder was stopped another got {said}")
        holder.send(signal.SIGCONT)
        if Said.parse(holder.wait().said).code != "committed":
            wrong.append("the holder lost its transaction")
        if (said := count(other, "k2")).code != "committed":
            wrong.append(f"afterwards the other got {said}")
    if keys(place) != ["k1", "k2"]:
        wrong.append(f"the ledger holds {keys(place)}")
    return wrong + faults(place)


def forked_child(place: Place) -> list[str]:
    """A forked child can't use its parent's ledger, and takes nothing from it."""
    wrong = []
    with opened(place) as mine:
        count(mine, "k1")

        def child(say: Say) -> None:
            said = count(mine, "k2")
            mine.close()
            say(said.line())

        with Child(child) as forked:
            end = forked.wait()
        if Said.parse(end.said).code != "LEDGER_APPEND_REQUIRED_FAILED/operator":
            wrong.append(f"a forked child {end.describe()} and said {end.said!r}")
        if (said := count(mine, "k3")).code != "committed":
            wrong.append(f"its parent then got {said}")
    if keys(place) != ["k1", "k3"]:
        wrong.append(f"the ledger holds {keys(place)}")
    return wrong + faults(place)


def database_is_locked(place: Place) -> list[str]:
    """Another program holds SQLite's write lock on the mirror: `retry`, nothing done; then it works."""
    wrong = []
    with opened(place, lock_timeout_s=SHORT_S) as mine:
        count(mine, "k1")
        with gate() as barrier, Child(partial(_locks, place, barrier, "BEGIN IMMEDIATE")) as other:
            other.listen(b"locked\n")
            for _ in range(2):
                if (said := count(mine, "k2")).code != _RETRY:
                    wrong.append(f"with the mirror locked a transaction got {said}")
            if keys(place) != ["k1"]:
                wrong.append(f"with the mirror locked the ledger got {keys(place)}")
            barrier.open()
            other.wait()
        with gate() as barrier, Child(partial(_locks, place, barrier, "BEGIN")) as reader:
            reader.listen(b"locked\n")
            if (said := count(mine, "k2")).code != "committed":
                wrong.append(f"with somebody reading the mirror a transaction got {said}")
            barrier.open()
            reader.wait()
    if keys(place) != ["k1", "k2"]:
        wrong.append(f"the ledger holds {keys(place)}")
    return wrong + faults(place)


def _locks(place: Place, barrier: Gate, begin: str, say: Say) -> None:
    with closing(sqlite3.connect(place.store / "mirror.sqlite", isolation_level=None)) as connection:
        connection.execute(begin)
        connection.execute("SELECT count(*) FROM rows").fetchall()
        say(b"locked\n")
        barrier.pass_through()
        connection.execute("ROLLBACK")


def short_write_by_the_system(place: Place) -> list[str]:
    """The system itself takes part of a line and refuses the rest (a limit on the size of files)."""
    wrong: list[str] = []
    with opened(place) as mine:
        for number in range(12):
            mine.transact(_large(number))
    size = (place.store / "ledger.jsonl").stat().st_size

    def client(say: Say) -> None:
        with opened(place) as mine:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, resource.RLIM_INFINITY))
            first = count(mine, "k1")
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            say(Said(f"{first.code} {count(mine, 'k1').code}").line())

    with Child(client) as child:
        end = child.wait()
    if Said.parse(end.said).code != "LEDGER_APPEND_REQUIRED_FAILED/rollback committed":
        wrong.append(f"a client on a full disk {end.describe()} and said {end.said!r}")
    if keys(place)[12:] != ["k1"] or fold_of(place).get("n") != 1:
        wrong.append(f"the ledger ends with {keys(place)[12:]}")
    return wrong + faults(place)


def _large(number: int) -> Request:
    """A row of 64 KiB, the same each time: so the ledger outgrows the mirror."""
    request = counting(f"large-{number}")

    def mutate(state: dict[str, object]) -> dict[str, object]:
        return {**state, "text": f"{number:02}" + "x" * 65536}

    return Request(
        operation_id=request.operation_id,
        run_id=request.run_id,
        node_id=request.node_id,
        event_type=request.event_type,
        phase=request.phase,
        idempotency_key=request.idempotency_key,
        intent=number,
        mutate=mutate,
    )


def mirror_replaced(place: Place) -> list[str]:
    """The mirror is deleted and built anew by another process while one has it open: nothing goes astray."""
    wrong = []
    with opened(place) as mine:
        count(mine, "k1")
        for name in names(place.store):
            if name.startswith("mirror"):
                (place.store / name).unlink()
        with Child(partial(_counts, place, "k2")) as other:
            end = other.wait()
        if Said.parse(end.said).code != "committed":
            wrong.append(f"the one that built it anew {end.describe()} and said {end.said!r}")
        for key, told in (("k2", "noop"), ("k3", "committed")):
            if (said := count(mine, key)).code != told:
                wrong.append(f"the one that had it open got {said} for {key}")
    if keys(place) != ["k1", "k2", "k3"]:
        wrong.append(f"the ledger holds {keys(place)}")
    return wrong + faults(place)


def _race(name: str, why: str, clause: str, run: Callable[[Place], list[str]], *steps: str) -> Race:
    return Race(f"ledger-{name}", why, clause, run, ("open", *steps))


HOLDERS: tuple[Race, ...] = (
    _race(
        "closed-to-others",
        "others try at each marked point, the database's files being opened and closed meanwhile",
        "Opening and closing the database file from outside doesn't drop the store's lock",
        closed_to_others,
        "process 1: transact, standing still at each marked point",
        "process 2: open",
    ),
    _race(
        "killed-with-a-surviving-child",
        "the holder is killed, a child of it lives on",
        "the holder is killed: the next waiter goes on at once",
        killed_with_a_surviving_child,
        "process 1: transact, killed at its append",
        "process 2: transact",
    ),
    _race(
        "stopped-holder",
        "the holder is stopped",
        "a stopped holder: others time out, and nothing is lost when it wakes",
        stopped_holder,
        "process 1: transact, stopped after its append",
        "process 2: transact",
    ),
    _race(
        "forked-child",
        "a forked child uses its parent's ledger",
        "a forked child of the holder neither holds nor releases the lock",
        forked_child,
        "transact",
        "forked child: transact",
        "transact",
    ),
    _race(
        "database-is-locked",
        "another program has the mirror locked",
        "Lock or BEGIN not had in time: SQLITE_MIRROR_FAILED, retry, nothing done",
        database_is_locked,
        "transact",
        "process 2: BEGIN IMMEDIATE",
        "transact",
        "process 2: ROLLBACK",
        "transact",
    ),
    _race(
        "short-write-by-the-system",
        "the system takes part of a line",
        "A write can be short. A full disk is an ordinary refusal, with nothing changed",
        short_write_by_the_system,
        "transact",
        "the disk is full",
        "transact",
        "the disk is not full any more",
        "transact",
    ),
    _race(
        "mirror-replaced",
        "another process builds the mirror anew",
        "After recovery, mirror state = the fold of the whole ledger",
        mirror_replaced,
        "transact",
        "the mirror is deleted",
        "process 2: open",
        "process 2: transact",
        "transact",
    ),
)
