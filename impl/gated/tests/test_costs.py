"""What a transaction and an opening cost in syncs, and the modes that make a commit durable."""

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from impl.gated import Ledger, open_ledger
from impl.gated.tests.bench import (
    adding,
    failing,
    folded,
    refused,
    with_events,
)

MIRROR = "SQLITE_MIRROR_FAILED"


@contextlib.contextmanager
def counting_syncs() -> Iterator[list[int]]:
    """The descriptors that this process itself syncs."""
    real, synced = os.fsync, list[int]()

    def counted(descriptor: int) -> None:
        synced.append(descriptor)
        real(descriptor)

    with mock.patch("os.fsync", counted):
        yield synced


def test_a_committed_transaction_syncs_the_ledger_once_and_nothing_else_does(ledger: Ledger) -> None:
    ledger.transact(adding("k0"))
    with counting_syncs() as synced:
        ledger.transact(adding("k1"))
    assert len(synced) == 1
    with counting_syncs() as synced:
        ledger.transact(adding("k1"))
        ledger.state()
        assert ledger.head[0] == 2
    assert synced == []


def test_a_committed_transaction_is_one_append_one_begin_one_commit(ledger: Ledger) -> None:
    ledger.transact(adding("k0"))
    with failing() as passed:
        ledger.transact(adding("k1"))
    assert passed == [
        "lock-acquire-before",
        "lock-acquire-after",
        "ledger-read-before",
        "ledger-read-after",
        "mirror-begin-before",
        "mirror-begin-after",
        "ledger-append-before",
        "ledger-append-torn",
        "ledger-append-after",
        "ledger-fsync-before",
        "ledger-fsync-after",
        "mirror-insert-before",
        "mirror-insert-after",
        "mirror-commit-before",
        "mirror-commit-after",
        "lock-release-before",
        "lock-release-after",
    ]


def pragmas(ledger: Ledger) -> tuple[str, int]:
    connection = ledger._store.files.mirror.open
    mode: str = connection.execute("PRAGMA journal_mode").fetchone()[0]
    level: int = connection.execute("PRAGMA synchronous").fetchone()[0]
    return mode, level


def test_every_connection_is_in_wal_mode_with_full_sync(directory: Path) -> None:
    full = ("wal", 2)
    with open_ledger(directory) as ledger:
        assert pragmas(ledger) == full, "of a new mirror"
    with open_ledger(directory) as ledger:
        assert pragmas(ledger) == full, "of one that was found"
        ledger.transact(adding("k"))
        with failing("mirror-rollback-before"):
            refused(lambda: ledger.transact(adding("k")), MIRROR, "retry")
        ledger.state()
        assert pragmas(ledger) == full, "of one that was made anew"
    (directory / "mirror.sqlite").unlink()
    with open_ledger(directory) as ledger:
        assert pragmas(ledger) == full, "of one that was built"
    with contextlib.closing(sqlite3.connect(directory / "mirror.sqlite")) as connection:
        assert connection.execute("PRAGMA journal_mode=DELETE").fetchone() == ("delete",)
    with open_ledger(directory) as ledger:
        assert pragmas(ledger) == full, "of one that somebody put into another mode"
        assert ledger.recovery.mirror == "intact"


def test_the_syncs_of_opening(directory: Path) -> None:
    with_events(directory, 2)
    with counting_syncs() as synced:
        open_ledger(directory).close()
    assert synced == [], "nothing was to be done"
    with (directory / "ledger.jsonl").open("ab") as ledger:
        ledger.write(b'{"torn')
    with counting_syncs() as synced:
        open_ledger(directory).close()
    assert len(synced) == 1, "the cut"
    assert folded(directory) == {"count": 1}
