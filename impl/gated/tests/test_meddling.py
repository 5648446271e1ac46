"""What others do to the files while a store is open."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import impl
from impl.gated import (
    ApplyRequest,
    Ledger,
    Step,
    open_ledger,
)
from impl.gated.tests.bench import (
    HASH,
    adding,
    failing,
    hooked,
    mirrored,
    photograph,
    refused,
    reopened,
    with_events,
)
from impl.points import CrashPoint

ROOT = Path(impl.__file__).parent.parent
INTEGRITY = "LEDGER_INTEGRITY_FAILED"


def test_events_of_a_writer_that_died_before_mirroring_are_synced_and_caught_up(directory: Path) -> None:
    with_events(directory, 2)
    readable, writable = os.pipe()

    def kill_at_append(point: CrashPoint) -> None:
        if point is CrashPoint.LEDGER_APPEND_AFTER:
            os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if child == 0:
        try:
            os.read(readable, 1)
            with open_ledger(directory) as mine, hooked(kill_at_append):
                mine.transact(adding("theirs", 5))
        finally:
            os._exit(1)
    with open_ledger(directory) as here:  # only after the fork, so that the child may open it as well
        here.transact(adding("mine"))
        os.write(writable, b"x")
        assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
        with failing() as passed:
            assert here.state() == {"count": 7}
        assert passed.index("ledger-renew-fsync-after") < passed.index("mirror-replay-before")
        assert here.transact(adding("theirs", 5)).status == "noop"
    os.close(readable)
    os.close(writable)
    assert mirrored(directory) == (4, {"count": 7})


def append(directory: Path, data: bytes) -> None:
    with (directory / "ledger.jsonl").open("ab") as file:
        file.write(data)


def test_a_torn_tail_is_cut_before_the_next_append(ledger: Ledger, directory: Path) -> None:
    ledger.transact(adding("k1"))
    append(directory, b'{"change":{"remo')
    with failing() as passed:
        assert ledger.transact(adding("k2")).state == {"count": 2}
    assert passed.index("ledger-cut-fsync-after") < passed.index("ledger-append-before")
    ledger.close()
    assert reopened(directory)[1] == {"count": 2}


def test_a_whole_line_that_is_none_is_cut_if_it_is_the_very_next(ledger: Ledger, directory: Path) -> None:
    ledger.transact(adding("k1"))
    append(directory, bytes(100) + b"\n")
    assert ledger.state() == {"count": 1}
    append(directory, bytes(100) + b"\n" + bytes(3))
    before = photograph(directory)["ledger.jsonl"]
    refused(ledger.state, INTEGRITY, "operator")
    assert photograph(directory)["ledger.jsonl"] == before


@pytest.mark.parametrize("call", ["transact", "state", "steps"])
@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-1],
        lambda data: data[:0],
        lambda data: data[: data.index(b"\n") + 1],
        lambda data: data.replace(b'"node"', b'"nude"'),
        lambda data: data + data,
        lambda data: data + data[: data.index(b"\n") + 1],
        lambda data: bytes(len(data)),
        lambda data: data[:-1] + b" ",
    ],
)
def test_a_ledger_whose_end_is_not_what_the_mirror_has_seen_is_refused(
    ledger: Ledger, directory: Path, damage: Callable[[bytes], bytes], call: str
) -> None:
    ledger.transact(adding("k1"))
    ledger.transact(adding("k2"))
    path = directory / "ledger.jsonl"
    good = path.read_bytes()
    bad = damage(good)
    path.write_bytes(bad)
    step = Step("a", "r", 1, True, HASH, HASH, lambda: None)
    calls: dict[str, Callable[[], object]] = {
        "transact": lambda: ledger.transact(adding("k3")),
        "state": ledger.state,
        "steps": lambda: ledger.apply_steps(ApplyRequest("run", "node", "op", [step])),
    }
    refused(calls[call], INTEGRITY, "operator")
    assert path.read_bytes() == bad
    path.write_bytes(good)
    assert ledger.transact(adding("k3")).state == {"count": 3}


@pytest.mark.parametrize("name", ["ledger.jsonl", "ledger.lock"])
def test_a_file_that_is_gone_or_another_is_refused(ledger: Ledger, directory: Path, name: str) -> None:
    ledger.transact(adding("k1"))
    (directory / name).rename(directory / "moved")
    if name == "ledger.jsonl":
        refused(ledger.state, INTEGRITY, "operator")
    (directory / name).write_bytes((directory / "moved").read_bytes())
    (directory / name).chmod(0o600)
    if name == "ledger.jsonl":
        refused(ledger.state, INTEGRITY, "operator")
    else:
        assert ledger.state() == {"count": 1}


def test_a_directory_that_is_gone_is_refused(ledger: Ledger, directory: Path) -> None:
    directory.rename(directory.parent / "moved")
    refused(ledger.state, INTEGRITY, "operator")
    assert not directory.exists()


def test_a_mirror_that_is_gone_or_replaced_while_open_is_recovered_by_the_next_call(
    ledger: Ledger, directory: Path
) -> None:
    ledger.transact(adding("k1"))
    for side in ("", "-wal", "-shm"):
        (directory / f"mirror.sqlite{side}").unlink()
    assert ledger.transact(adding("k2")).state == {"count": 2}
    (directory / "mirror.sqlite").rename(directory / "moved")
    (directory / "mirror.sqlite").write_bytes(b"no database" * 100)
    (directory / "mirror.sqlite").chmod(0o600)
    assert ledger.transact(adding("k3")).state == {"count": 3}
    assert list(directory.glob("mirror.sqlite.aside-*"))


def test_a_mirror_that_shows_damage_while_open_is_recovered_by_the_next_call(
    ledger: Ledger, directory: Path
) -> None:
    ledger.transact(adding("k1"))
    with contextlib.closing(sqlite3.connect(directory / "mirror.sqlite")) as foreign, foreign:
        foreign.execute("UPDATE head SET hash = 'x'")
    refused(ledger.state, "SQLITE_MIRROR_FAILED", "in_doubt")
    assert ledger.state() == {"count": 1}
    with contextlib.closing(sqlite3.connect(directory / "mirror.sqlite")) as foreign, foreign:
        foreign.execute("DROP TABLE rows")
    refused(lambda: ledger.transact(adding("k2")), "SQLITE_MIRROR_FAILED", "retry")
    assert ledger.transact(adding("k2")).state == {"count": 2}


def test_an_interpreter_that_ends_without_closing_leaves_a_sound_store(directory: Path) -> None:
    program = (
        "import sys; from impl.gated import open_ledger; from impl.gated.tests.bench import adding\n"
        "ledger = open_ledger(sys.argv[1]); ledger.transact(adding('k'))\n"
    )
    subprocess.run(
        [sys.executable, "-W", "error", "-c", program, str(directory)], cwd=ROOT, check=True, timeout=60
    )
    assert reopened(directory)[1] == {"count": 1}
