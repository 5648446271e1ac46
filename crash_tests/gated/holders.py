"""What others may do while one process is in the middle of a transaction, and what becomes of its lock.

No order of processes is left to chance here: one stands still at a marked point, or is killed or stopped
there, and another is tried. The same promises as `processes`.

Processes that are to open the store are forked before this one opens it: SQLite remembers its locks per
process, and a child would inherit the memory without the locks.
"""

import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path

from crash_tests.children import Child, HarnessError, Say, fork
from crash_tests.gated.clients import Place, asked, count, faults, keys, names, opened
from crash_tests.races import SHORT_S, Gate, Race, Said, gate
from impl import disk

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
            with Child(partial(counts, place, "k2"), inherits=(holder.reader,)) as waiter:
                end = waiter.wait(AT_ONCE_S)
            if end.timed_out or Said.parse(end.said).code != "committed":
                wrong.append(f"the next one {end.describe()} and said {end.said!r}")
            barrier.open()
            if not holder.wait().killed:
                raise HarnessError("the holder was to be killed")
    if keys(place) != ["k2"]:
        wrong.append(f"the ledger holds {keys(place)}")
    return wrong + faults(place)


def counts(place: Place, key: str, say: Say) -> None:
    with opened(place) as mine:
        say(count(mine, key).line())


def stopped_holder(place: Place) -> list[str]:
    """The holder is stopped: others time out with `retry`; nothing is lost when it wakes."""
    opened(place).close()
    wrong = []
    with gate() as barrier:

        def holds(say: Say) -> None:
            def hook(point: disk.CrashPoint) -> None:
                if point is disk.CrashPoint.LEDGER_APPEND_AFTER:
                    say(b"holding\n")
                    os.kill(os.getpid(), signal.SIGSTOP)

            barrier.pass_through()
            with opened(place) as mine:
                disk.install(hook)
                said = count(mine, "k1")
                disk.install(None)
                say(said.line())

        with Child(holds) as holder, opened(place, lock_timeout_s=SHORT_S) as other:
            barrier.open()
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


def race(name: str, why: str, clause: str, run: Callable[[Place], list[str]], *steps: str) -> Race:
    return Race(f"ledger-{name}", why, clause, run, ("open", *steps))


HOLDERS: tuple[Race, ...] = (
    race(
        "closed-to-others",
        "others try at each marked point, the database's files being opened and closed meanwhile",
        "Opening and closing the database file from outside doesn't drop the store's lock",
        closed_to_others,
        "process 1: transact, standing still at each marked point",
        "process 2: open",
    ),
    race(
        "killed-with-a-surviving-child",
        "the holder is killed, a child of it lives on",
        "the holder is killed: the next waiter goes on at once",
        killed_with_a_surviving_child,
        "process 1: transact, killed at its append",
        "process 2: transact",
    ),
    race(
        "stopped-holder",
        "the holder is stopped",
        "a stopped holder: others time out, and nothing is lost when it wakes",
        stopped_holder,
        "process 1: transact, stopped after its append",
        "process 2: transact",
    ),
    race(
        "forked-child",
        "a forked child uses its parent's ledger",
        "a forked child of the holder neither holds nor releases the lock",
        forked_child,
        "transact",
        "forked child: transact",
        "transact",
    ),
)
