"""What others do to a store that one process has open: lock its mirror, fill its disk, build its mirror anew.

The same promises as `processes`. Processes that are to open the store, or its mirror, are forked before this
one opens it (see `holders`).
"""

import resource
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Self

from crash_tests.children import Child, Say
from crash_tests.gated.clients import Place, count, counting, faults, keys, names, opened
from crash_tests.gated.holders import counts, race
from crash_tests.gated.processes import fold_of
from crash_tests.races import SHORT_S, Race, Said, gate
from impl.gated import Request

_RETRY = "SQLITE_MIRROR_FAILED/retry"


def database_is_locked(place: Place) -> list[str]:
    """Another program holds SQLite's write lock on the mirror: `retry`, nothing done; then it works."""
    opened(place).close()
    wrong = []
    with ExitStack() as stack:
        writer = stack.enter_context(_Locker(place, "BEGIN IMMEDIATE"))
        reader = stack.enter_context(_Locker(place, "BEGIN"))
        mine = stack.enter_context(opened(place, lock_timeout_s=SHORT_S))
        count(mine, "k1")
        with writer.locking():
            for _ in range(2):
                if (said := count(mine, "k2")).code != _RETRY:
                    wrong.append(f"with the mirror locked a transaction got {said}")
            if keys(place) != ["k1"]:
                wrong.append(f"with the mirror locked the ledger got {keys(place)}")
        with reader.locking():
            if (said := count(mine, "k2")).code != "committed":
                wrong.append(f"with somebody reading the mirror a transaction got {said}")
    if keys(place) != ["k1", "k2"]:
        wrong.append(f"the ledger holds {keys(place)}")
    return wrong + faults(place)


class _Locker:
    """A process of its own that holds a transaction of SQLite's on the mirror for as long as it is told."""

    def __init__(self, place: Place, begin: str) -> None:
        self._stack = ExitStack()
        self._on, self._off = (self._stack.enter_context(gate()) for _ in range(2))

        def work(say: Say) -> None:
            self._on.pass_through()
            with closing(sqlite3.connect(place.store / "mirror.sqlite", isolation_level=None)) as connection:
                connection.execute(begin)
                connection.execute("SELECT count(*) FROM rows").fetchall()
                say(b"locked\n")
                self._off.pass_through()
                connection.execute("ROLLBACK")

        self._child = self._stack.enter_context(Child(work))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @contextmanager
    def locking(self) -> Iterator[None]:
        """The transaction is open meanwhile. Once."""
        self._on.open()
        self._child.listen(b"locked\n")
        try:
            yield
        finally:
            self._off.open()
            self._child.wait()


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
    opened(place).close()
    wrong = []
    with gate() as barrier:

        def builds(say: Say) -> None:
            barrier.pass_through()
            counts(place, "k2", say)

        with Child(builds) as other, opened(place) as mine:
            count(mine, "k1")
            for name in names(place.store):
                if name.startswith("mirror"):
                    (place.store / name).unlink()
            barrier.open()
            end = other.wait()
            if Said.parse(end.said).code != "committed":
                wrong.append(f"the one that built it anew {end.describe()} and said {end.said!r}")
            for key, told in (("k2", "noop"), ("k3", "committed")):
                if (said := count(mine, key)).code != told:
                    wrong.append(f"the one that had it open got {said} for {key}")
    if keys(place) != ["k1", "k2", "k3"]:
        wrong.append(f"the ledger holds {keys(place)}")
    return wrong + faults(place)


INTRUDERS: tuple[Race, ...] = (
    race(
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
    race(
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
    race(
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
