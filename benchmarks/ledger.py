"""What a committed transaction costs as its ledger grows, and what opening a long ledger costs.

    python -m benchmarks.ledger [--directory DIR] [--events 100 20000] [--opened 100000]

A transaction (on a state of constant size) is timed in turn with one raw append + fsync of as many bytes and
one raw insert into a SQLite database in WAL mode with synchronous=FULL, in one process, on one directory.
Opening is timed in turn with one `json.loads` and two SHA-256 for each line of the same ledger, in processor
time. Each figure is a ratio of medians or, for opening, of the best of several rounds: noise only ever adds.

Building a history doesn't wait for the disk: only what is measured afterwards has to be real.
"""

import argparse
import hashlib
import json
import os
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from unittest import mock

from attrs import frozen

from benchmarks.growth import file_system
from impl.gated import Change, Ledger, Request, open_ledger
from impl.gated.lines import Draft, Position, make_line
from impl.gated.records import make_record

ROWS = 20


def request(number: int) -> Request:
    """One of many requests that leave the state at 20 rows."""
    return Request(
        operation_id=f"operation-{number}",
        run_id="run-1",
        node_id=f"node-{number % 7}",
        event_type="scheduler.node.state",
        phase="apply",
        idempotency_key=f"key-{number}",
        intent={"to": number},
        mutate=lambda state: {**state, f"row-{number % ROWS}": {"status": "running", "attempt": number}},
    )


def write_history(path: Path, events: int) -> None:
    """A ledger of that many events, written at once: what a store would have appended one by one."""
    at, before = Position(), hashlib.sha256(b"{}").hexdigest()
    path.touch(mode=0o600, exist_ok=False)
    with path.open("wb") as ledger:
        for number in range(events):
            after = hashlib.sha256(b"%d" % number).hexdigest()
            asked = request(number)
            record = make_record(asked, asked.idempotency_key, before, after)
            change = Change({f"row-{number % ROWS}": {"status": "running", "attempt": number}}, ())
            line, raw = make_line(Draft(record, after, change), at)
            ledger.write(raw)
            at, before = line.end, after


@frozen
class Cost:
    """At `events` events of history: medians in seconds."""

    events: int
    transaction_s: float
    raw_s: float

    @property
    def ratio(self) -> float:
        return self.transaction_s / self.raw_s


class Raw:
    """One append + fsync and one insert, with nothing around them."""

    def __init__(self, directory: Path) -> None:
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND
        self._file = os.open(directory / "raw.jsonl", flags, 0o600)
        self._database = sqlite3.connect(directory / "raw.sqlite", isolation_level=None)
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute("PRAGMA synchronous=FULL")
        self._database.execute("CREATE TABLE events (sequence INTEGER PRIMARY KEY, line TEXT NOT NULL)")

    def write(self, line: str) -> None:
        os.write(self._file, line.encode())
        os.fsync(self._file)
        self._database.execute("BEGIN IMMEDIATE")
        self._database.execute("INSERT INTO events (line) VALUES (?)", (line,))
        self._database.execute("COMMIT")

    def close(self) -> None:
        os.close(self._file)
        self._database.close()


def measure(ledger: Ledger, raw: Raw, line: str, rounds: int) -> Cost:
    """Times transactions and raw writes in turn."""
    events = ledger.head[0]
    transactions, writes = [], []
    for number in range(events, events + rounds):
        asked = request(number)
        start = time.perf_counter()
        ledger.transact(asked)
        transactions.append(time.perf_counter() - start)
        start = time.perf_counter()
        raw.write(line)
        writes.append(time.perf_counter() - start)
    return Cost(events, statistics.median(transactions), statistics.median(writes))


def costs(parent: Path, sizes: Sequence[int], rounds: int = 81) -> list[Cost]:
    """Measures at each size, on ledgers in new directories under `parent` that are removed again."""
    figures = []
    with tempfile.TemporaryDirectory(dir=parent, prefix="holdtrue-ledger-") as folder:
        root = Path(folder)
        with closing(Raw(root)) as raw:
            for size in sizes:
                store = root / f"store-{size}"
                store.mkdir(mode=0o700)
                write_history(store / "ledger.jsonl", size)
                with mock.patch("os.fsync"):
                    open_ledger(store).close()
                with open_ledger(store) as ledger:
                    line = (store / "ledger.jsonl").read_text().partition("\n")[0] + "\n"
                    figures.append(measure(ledger, raw, line, rounds))
    return figures


@frozen
class Opening:
    """Processor time in seconds of opening a ledger of `events` events, and of looking at its lines."""

    events: int
    open_s: float
    look_s: float

    @property
    def ratio(self) -> float:
        return self.open_s / self.look_s


def opening(parent: Path, events: int, rounds: int = 3) -> Opening:
    """Measures opening; `parent` may well be in memory, since no disk is waited for."""
    with tempfile.TemporaryDirectory(dir=parent, prefix="holdtrue-ledger-") as folder:
        ledger = Path(folder) / "ledger.jsonl"
        write_history(ledger, events)
        with mock.patch("os.fsync"):
            open_ledger(folder).close()
        opened, looked = [], []
        for _ in range(rounds):
            looked.append(_processor_time(lambda: _look(ledger)))
            opened.append(_processor_time(lambda: open_ledger(folder).close()))
    return Opening(events, min(opened), min(looked))


def _look(path: Path) -> None:
    with path.open("rb") as ledger:
        for line in ledger:
            json.loads(line)
            hashlib.sha256(line).hexdigest()
            hashlib.sha256(line).hexdigest()


def _processor_time(work: Callable[[], None]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ledger", description=__doc__.split("\n")[0])
    parser.add_argument("--directory", type=Path, default=Path.cwd(), help="a directory on a disk")
    parser.add_argument("--events", type=int, nargs="+", default=[100, 20_000], metavar="N")
    parser.add_argument("--opened", type=int, default=100_000, metavar="N")
    chosen = parser.parse_args(arguments)
    where = chosen.directory.resolve()
    print(f"file system: {file_system(where)} ({where})")
    print(f"{'events':>8} {'transaction ms':>15} {'raw ms':>8} {'ratio':>6}")
    for cost in costs(where, chosen.events):
        print(
            f"{cost.events:>8} {cost.transaction_s * 1e3:>15.3f} {cost.raw_s * 1e3:>8.3f} {cost.ratio:>6.2f}"
        )
    found = opening(where, chosen.opened)
    print(
        f"opening {found.events}: {found.open_s:.3f} s, looking {found.look_s:.3f} s, ratio {found.ratio:.2f}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
