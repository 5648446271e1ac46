"""What the tests of ledger-gated transactions need: a store in memory, requests, and steps made to fail.

Doesn't: check anything by itself.
"""

import contextlib
import errno
import hashlib
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from impl import disk
from impl.disk import CrashPoint
from impl.gated import Ledger, LedgerError, Request, open_ledger

MEMORY = Path("/dev/shm")
HASH = "ab" * 32


@contextlib.contextmanager
def a_directory() -> Iterator[Path]:
    """A directory, in memory where there is such a place: for a store that isn't there yet."""
    root = Path(tempfile.mkdtemp(dir=MEMORY if MEMORY.is_dir() else None, prefix="holdtrue-ledger-"))
    try:
        yield root.resolve() / "store"
    finally:
        shutil.rmtree(root)


def adding(key: str, by: int = 1, row: str = "count", **changed: Any) -> Request:
    """A request that adds to a row."""
    fields: dict[str, Any] = {
        "operation_id": "op",
        "run_id": "run",
        "node_id": "node",
        "event_type": "counter.added",
        "phase": "apply",
        "idempotency_key": key,
        "intent": {"add": by, "row": row},
        "mutate": lambda state: {**state, row: state.get(row, 0) + by},
    }
    return Request(**(fields | changed))


def ledger_lines(directory: Path) -> list[dict[str, Any]]:
    """The lines of a ledger, parsed."""
    return [json.loads(line) for line in (directory / "ledger.jsonl").read_bytes().splitlines()]


def mirrored(directory: Path) -> tuple[int, dict[str, Any]]:
    """What the mirror has: how many events, and the state. Not while this process has it open."""
    with contextlib.closing(sqlite3.connect(directory / "mirror.sqlite")) as connection:
        rows = {name: json.loads(value) for name, value in connection.execute("SELECT * FROM rows")}
        return connection.execute("SELECT sequence FROM head").fetchone()[0], rows


def folded(directory: Path) -> dict[str, Any]:
    """What the ledger's lines come to."""
    state: dict[str, Any] = {}
    for line in ledger_lines(directory):
        state.update(line["change"]["set"])
        for name in line["change"]["remove"]:
            del state[name]
    return state


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def plain_text(value: object) -> str:
    """Canonical JSON of values with ASCII keys, told without the store's code."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def refused(call: Callable[[], object], code: str, recoverability: str) -> LedgerError:
    """The error that `call` raises, which must be this one."""
    with pytest.raises(LedgerError) as caught:
        call()
    assert (caught.value.code, caught.value.recoverability) == (code, recoverability), caught.value
    return caught.value


@contextlib.contextmanager
def hooked(hook: disk.Hook) -> Iterator[None]:
    former = disk.install(hook)
    try:
        yield
    finally:
        disk.install(former)


@contextlib.contextmanager
def failing(*points: str, times: int = 1, number: int = errno.EIO) -> Iterator[list[str]]:
    """The first arrivals at each of these points fail; answers the points passed, in order."""
    left = {CrashPoint(point): times for point in points}
    passed: list[str] = []

    def hook(point: CrashPoint) -> None:
        passed.append(point.value)
        if left.get(point, 0) > 0:
            left[point] -= 1
            if point.startswith("mirror-") and not point.startswith(("mirror-aside", "mirror-build")):
                raise sqlite3.OperationalError(f"injected at {point}")
            raise OSError(number, f"injected at {point}")

    with hooked(hook):
        yield passed
    assert not any(left.values()), f"never reached: {left}"


def photograph(directory: Path) -> dict[str, bytes]:
    """Each file's bytes."""
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir())}


def with_events(directory: Path, count: int) -> None:
    """A store with that many events, closed again."""
    with open_ledger(directory) as ledger:
        for number in range(count):
            ledger.transact(adding(f"k{number}", number))


def reopened(directory: Path) -> tuple[Ledger, dict[str, Any]]:
    """The store, opened and closed again, with the state it had: the mirror's and the fold's."""
    with open_ledger(directory) as ledger:
        state = ledger.state()
    assert state == folded(directory)
    return ledger, state
