"""The making of a store: killed anywhere, raced, completed by a later host (C1).

Guarantees: real processes are killed at every marked point of an opening; afterwards one store opens, with
one identity and no leftovers.

Doesn't: cut the power. Only the order of the steps is looked at here.
"""

import json
import os
import signal
from collections.abc import Iterator

import pytest

from impl import disk
from impl.disk import COORDINATOR_POINTS, CrashPoint
from impl.tests.derive_store import uuid
from impl.tests.independent import store_faults
from impl.tests.workbench import EPOCH, Bench, Caller, refusal, workbench

PASSED_BY_GENESIS = [
    point for point in COORDINATOR_POINTS if not point.startswith(("temp-unlink", "foreign-dirsync"))
]


@pytest.fixture
def bench() -> Iterator[Bench]:
    with workbench() as made:
        yield made


def opened_by_a_child_killed_at(bench: Bench, point: CrashPoint) -> None:
    pid = os.fork()
    if pid == 0:
        try:
            disk.install(disk.kill_at(point))
            bench.open()
        finally:
            os._exit(1)
    assert os.WTERMSIG(os.waitpid(pid, 0)[1]) == signal.SIGKILL, f"{point} was not reached"


@pytest.mark.parametrize("point", PASSED_BY_GENESIS)
def test_a_store_opens_after_a_kill_at_any_point_of_its_making(bench: Bench, point: CrashPoint) -> None:
    opened_by_a_child_killed_at(bench, point)
    seen: set[CrashPoint] = set()
    former = disk.install(seen.add)
    try:
        call = Caller(bench.open(), bench)
    finally:
        disk.install(former)
    assert store_faults(bench.directory) == []
    assert not list(bench.directory.glob("*.tmp"))
    if point is not CrashPoint.MKDIR_BEFORE and CrashPoint.STATE_CREATE_BEFORE in seen:
        assert CrashPoint.MKDIR_DIRSYNC_AFTER in seen, "genesis in a directory that may be lost"
    call.reserve(1)
    assert bench.read_state()["commitSeq"] == 2


def test_a_directory_made_by_a_killed_opening_is_synced_before_what_is_made_in_it(bench: Bench) -> None:
    """mkdir a; killed before the sync: the next opening syncs a's parent, then makes a/b."""
    steps: list[str] = []
    deep = bench.root / "a" / "b"
    (bench.root / "a").mkdir(mode=0o700)
    former = disk.install(lambda point: steps.append(str(point)))
    try:
        bench.open(deep)
    finally:
        disk.install(former)
    places = [step for step in steps if step.startswith("mkdir")]
    assert places == [
        "mkdir-dirsync-before", "mkdir-dirsync-after",
        "mkdir-before", "mkdir-after", "mkdir-dirsync-before", "mkdir-dirsync-after",
    ]  # fmt: skip


def test_a_reopened_store_syncs_no_directory_above_it(bench: Bench) -> None:
    bench.open()
    steps: list[str] = []
    former = disk.install(lambda point: steps.append(str(point)))
    try:
        bench.open()
    finally:
        disk.install(former)
    assert not [step for step in steps if step.startswith("mkdir")]


def interrupted(bench: Bench) -> bytes:
    """A store whose identity was never written. Answers its state."""
    bench.open()
    bench.identity.unlink()
    return bench.state.read_bytes()


def test_a_newer_host_writes_the_identity_before_anything_else_is_published(bench: Bench) -> None:
    first = interrupted(bench)
    bench.authority.lease["fencingEpoch"] = EPOCH + 1
    steps: list[CrashPoint] = []
    states: list[bytes] = []

    def look(point: CrashPoint) -> None:
        steps.append(point)
        if point is CrashPoint.IDENTITY_DIRSYNC_AFTER:
            states.append(bench.state.read_bytes())

    former = disk.install(look)
    try:
        bench.open(epoch=EPOCH + 1)
    finally:
        disk.install(former)
    assert states == [first]
    assert steps.index(CrashPoint.IDENTITY_DIRSYNC_AFTER) < steps.index(CrashPoint.STATE_RENAME_BEFORE)
    assert bench.read_state()["fencingEpoch"] == EPOCH + 1
    assert store_faults(bench.directory) == []


@pytest.mark.parametrize("epoch", [EPOCH, EPOCH + 1])
def test_a_completion_whose_lease_ends_just_before_it_writes_neither_file(bench: Bench, epoch: int) -> None:
    first = interrupted(bench)
    bench.authority.lease.update(fencingEpoch=epoch, expiresAt=bench.clock.now + 5)

    def pass_by(point: CrashPoint) -> None:
        if point is CrashPoint.IDENTITY_FSYNC_AFTER:
            bench.clock.advance(5)

    former = disk.install(pass_by)
    try:
        refusal(lambda: bench.open(epoch=epoch), "AUTHORITY_REVOKED")
    finally:
        disk.install(former)
    assert bench.state.read_bytes() == first
    assert not bench.identity.exists()
    assert not list(bench.directory.glob("*.tmp"))


def test_a_genesis_whose_lease_ends_after_the_state_was_published_is_finished(bench: Bench) -> None:
    bench.authority.lease["expiresAt"] = bench.clock.now + 5

    def pass_by(point: CrashPoint) -> None:
        if point is CrashPoint.STATE_RENAME_AFTER:
            bench.clock.advance(5)

    former = disk.install(pass_by)
    try:
        bench.open()
    finally:
        disk.install(former)
    assert store_faults(bench.directory) == []


def test_racing_first_openings_make_exactly_one_store(bench: Bench) -> None:
    go, start = os.pipe()
    pids = []
    for _ in range(8):
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                os.close(start)
                os.read(go, 1)  # returns when the parent closes its end
                bench.open(lock_timeout_s=60.0)
                code = 0
            finally:
                os._exit(code)
        pids.append(pid)
    os.close(start)
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
    os.close(go)
    assert codes == [0] * 8
    assert bench.read_state()["commitSeq"] == 1
    assert json.loads(bench.identity.read_bytes())["instanceId"] == bench.read_state()["instanceId"]
    assert store_faults(bench.directory) == []


def test_a_reservation_without_an_id_gets_a_random_one(bench: Bench) -> None:
    store = bench.open()
    rows = [
        store.reserve(
            "alice", project_id=uuid(1), project_control_domain_id=uuid(2), run_id=uuid(n), ttl_ms=1_000
        )
        for n in range(3, 6)
    ]
    ids = {row.reservation.reservation_id for row in rows}
    assert len(ids) == 3
    assert {found[14] for found in ids} == {"4"}
    assert {found[19] for found in ids} <= set("89ab")
    assert store_faults(bench.directory) == []
