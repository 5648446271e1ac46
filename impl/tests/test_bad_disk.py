"""The disk fails: full, short writes, EIO at any step, an fsync that fails.

Each marked point at which a step begins is made to fail as the system call would. The call is refused with
DURABILITY_FAILED and side effects unknown; what can be read is the old state or, once it was renamed, the
new one, whole; no temporary file stays (unless it is the removal that fails); and the next call works.
"""

import errno
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import impl
from impl import disk
from impl.disk import CrashPoint
from impl.tests.derive_store import uuid
from impl.tests.independent import IDENTITY, LOCK, STATE, store_faults
from impl.tests.workbench import Bench, Caller, at_once, force, refusal, workbench

DURABILITY = "DURABILITY_FAILED"
ERRORS = (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EROFS, errno.EINTR, errno.EMFILE)
FAILING = tuple(point for point in disk.COORDINATOR_POINTS if point.endswith(("-before", "-torn")))
AFTER_RENAME = (CrashPoint.STATE_DIRSYNC_BEFORE, CrashPoint.IDENTITY_DIRSYNC_BEFORE)


@pytest.fixture
def bench() -> Iterator[Bench]:
    with workbench() as made:
        yield made


@contextmanager
def failing(point: CrashPoint, number: int, *, times: int = 1) -> Iterator[list[CrashPoint]]:
    """The first arrivals at `point` fail; answers those that did, in order."""
    struck: list[CrashPoint] = []

    def hook(arrived: CrashPoint) -> None:
        if arrived is point and len(struck) < times:
            struck.append(arrived)
            raise OSError(number, f"injected at {point}")

    former = disk.install(hook)
    try:
        yield struck
    finally:
        disk.install(former)


def temporary(bench: Bench) -> list[str]:
    return [path.name for path in bench.directory.iterdir() if path.name.endswith(".tmp")]


def publish(call: Caller, number: int) -> Any:
    return call("setMaxActiveRuns", "root", commandId=uuid(number, 9), maxActiveRuns=number)


@pytest.mark.parametrize("number", ERRORS, ids=lambda number: errno.errorcode[number])
def test_a_step_that_fails_leaves_the_state_before_or_after_and_the_next_call_works(
    bench: Bench, number: int
) -> None:
    call = Caller(bench.open(), bench)
    reached, count = set(), 10
    for point in FAILING:
        count += 1
        before = bench.state.read_bytes()
        with failing(point, number) as struck:
            try:
                publish(call, count)
            except impl.CoordinatorError as caught:
                error = caught
                assert struck, point
                assert (error.code, error.side_effects) == (DURABILITY, "unknown"), (point, error)
        if not struck:
            continue
        reached.add(point)
        assert temporary(bench) == [], point
        assert store_faults(bench.directory) == []
        changed = bench.state.read_bytes() != before
        assert changed == (point in AFTER_RENAME or "release" in point), point
        assert publish(call, count) == count
        assert bench.read_state()["maxActiveRuns"] == count
    assert reached >= {
        "lock-acquire-before", "identity-read-before", "state-read-before", "state-create-before",
        "state-write-before",
        "state-write-torn", "state-fsync-before", "state-rename-before", "state-dirsync-before",
    }  # fmt: skip


def test_a_failed_fsync_of_the_directory_is_made_good_before_the_next_answer(bench: Bench) -> None:
    """The new state is visible, but not yet durable: whoever answers from it must sync first."""
    call = Caller(bench.open(), bench)
    with failing(CrashPoint.STATE_DIRSYNC_BEFORE, errno.EIO):
        refusal(lambda: publish(call, 9), DURABILITY, side_effects="unknown")
    passed: list[CrashPoint] = []
    former = disk.install(passed.append)
    try:
        assert call("snapshot")["capacity"]["maxActiveRuns"] == 9
        assert CrashPoint.FOREIGN_DIRSYNC_AFTER in passed
        passed.clear()
        call("snapshot")
        assert not [point for point in passed if "sync" in point]
    finally:
        disk.install(former)


def test_an_answer_that_can_not_be_made_durable_is_not_given(bench: Bench) -> None:
    bench.open().close()
    call = Caller(bench.open(), bench)
    other = Caller(bench.open(), bench)
    publish(other, 9)
    with failing(CrashPoint.FOREIGN_DIRSYNC_BEFORE, errno.EIO, times=2) as struck:
        refusal(lambda: call("snapshot"), DURABILITY, side_effects="unknown")
        refusal(lambda: call("readReservation", id=uuid(1)), DURABILITY, side_effects="unknown")
    assert len(struck) == 2
    assert call("snapshot")["capacity"]["maxActiveRuns"] == 9


GENESIS: dict[str, Callable[[Bench], Any]] = {
    "a new directory": lambda bench: bench.directory,
    "a deep new directory": lambda bench: bench.root / "a" / "b" / "store",
}


@pytest.mark.parametrize("told", GENESIS)
def test_a_genesis_that_fails_at_any_step_can_be_tried_again(told: str) -> None:
    reached = set()
    for point in FAILING:
        with workbench() as bench:
            directory = GENESIS[told](bench)
            with failing(point, errno.ENOSPC) as struck:
                try:
                    bench.open(directory)
                except impl.CoordinatorError as caught:
                    error = caught
                    assert (error.code, error.side_effects) == (DURABILITY, "unknown"), (point, error)
            reached.update(struck)
            call = Caller(bench.open(directory), bench)
            assert call("snapshot")["commitSeq"] == 1
            assert store_faults(directory) == []
            assert sorted(path.name for path in directory.iterdir()) == sorted((STATE, IDENTITY, LOCK))
    assert {
        point for point in FAILING if point.startswith(("mkdir", "identity-write", "lock-create"))
    } <= reached


def test_a_temporary_file_that_can_not_be_removed_is_removed_by_a_later_call(bench: Bench) -> None:
    """Twice the disk fails: the write, and the removal of what it left."""
    call = Caller(bench.open(), bench)

    def hook(arrived: CrashPoint) -> None:
        if arrived in (CrashPoint.STATE_WRITE_TORN, CrashPoint.TEMP_UNLINK_BEFORE):
            raise OSError(errno.EIO, "injected")

    former = disk.install(hook)
    try:
        refusal(lambda: publish(call, 9), DURABILITY, side_effects="unknown")
    finally:
        disk.install(former)
    assert len(temporary(bench)) == 1
    assert call("snapshot")["capacity"]["maxActiveRuns"] == 4
    assert temporary(bench) == []


def test_a_leftover_that_can_not_be_removed_refuses_the_call_and_changes_nothing(bench: Bench) -> None:
    call = Caller(bench.open(), bench)
    (bench.directory / f"{STATE}.{'ab' * 16}.tmp").write_bytes(b"{")
    before = bench.state.read_bytes()
    with failing(CrashPoint.TEMP_UNLINK_BEFORE, errno.EACCES):
        refusal(lambda: publish(call, 9), DURABILITY, side_effects=None)
    assert bench.state.read_bytes() == before
    assert publish(call, 9) == 9
    assert temporary(bench) == []


def test_a_full_disk_refuses_every_write_and_still_answers_every_read(bench: Bench) -> None:
    call = Caller(bench.open(), bench)
    call.reserve(1)
    with failing(CrashPoint.STATE_WRITE_TORN, errno.ENOSPC, times=10**6) as struck:
        for number in range(5):
            refusal(lambda n=number: call.reserve(20 + n), DURABILITY, side_effects="unknown")
            refusal(
                lambda n=number: call("forceRelease", "root", id=uuid(1), **force(n)),
                DURABILITY,
                side_effects="unknown",
            )
            assert call("readReservation", id=uuid(1))["reservation"]["state"] == "reserved"
            assert temporary(bench) == []
    assert len(struck) == 10
    assert call.reserve(20)["reservation"]["state"] == "reserved"


ONCE_DURABLE = ("state-dirsync-after", "lock-release-before", "lock-release-after")


@pytest.mark.parametrize("point", disk.COORDINATOR_POINTS, ids=str)
def test_a_directory_that_vanishes_at_any_step_ends_the_call_at_once(point: CrashPoint) -> None:
    with workbench() as bench:
        call = Caller(bench.open(), bench)
        other = Caller(bench.open(), bench)
        publish(other, 5)  # so that this store has a state of others to sync
        (bench.directory / LOCK).unlink()  # so that it is made again
        (bench.directory / f"{STATE}.{'ab' * 16}.tmp").touch()  # so that there is one to remove
        struck: list[CrashPoint] = []

        def vanish(arrived: CrashPoint) -> None:
            if arrived is point and not struck:
                struck.append(arrived)
                shutil.rmtree(bench.directory)

        former = disk.install(vanish)
        try:
            with at_once():
                try:
                    answer = publish(call, 9)
                except impl.CoordinatorError as caught:
                    answer = caught.code
        finally:
            disk.install(former)
        assert answer == (9 if not struck or point in ONCE_DURABLE else DURABILITY), point
        if struck:
            refusal(lambda: publish(call, 9), DURABILITY)
            assert not bench.directory.exists()


def test_no_activation_runs_after_a_publication_that_failed(bench: Bench) -> None:
    """A dispatch publishes only when its sweep or a new epoch changed something; here a sweep does."""
    call = Caller(bench.open(), bench)
    call.admitted(1)
    row = call.reserve(2, ttlMs=10)
    bench.authority.abandon(row["reservation"])
    bench.clock.advance(10)
    launched: list[str] = []
    for point in (
        CrashPoint.STATE_WRITE_TORN,
        CrashPoint.STATE_RENAME_BEFORE,
        CrashPoint.STATE_DIRSYNC_BEFORE,
    ):
        with failing(point, errno.EIO) as struck:
            prepare: Callable[[Any], Any] = lambda _row: lambda: launched.append("launched")  # noqa: E731 -- short
            refusal(
                lambda p=prepare: call("dispatch", id=uuid(1), prepare=p), DURABILITY, side_effects="unknown"
            )
        assert struck
        assert launched == []
