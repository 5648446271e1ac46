"""Something is wrong with the store's files as files: kind, links, mode, owner, inode, absence.

State, identity and lock must be regular files of this user, private, with one link. Anything else is
refused with DURABILITY_FAILED, at once (nothing waits for a FIFO's other end, or for the lock's timeout),
and nothing is written. Once the fault is gone the next call works.
"""

import os
import shutil
import signal
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import impl
from impl import disk
from impl.tests.authority import meanwhile
from impl.tests.damages import (
    DAMAGES,
    FILES,
    ROOT_DAMAGES,
    Damage,
    as_fifo,
    as_hard_link,
    as_symlink,
    as_symlink_within,
    replaced,
)
from impl.tests.derive_store import uuid
from impl.tests.independent import LOCK
from impl.tests.workbench import (
    Bench,
    Caller,
    at_once,
    photograph,
    refusal,
    remove,
    reserving,
    untouched,
    workbench,
)

DURABILITY = "DURABILITY_FAILED"
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away or make a device")


@pytest.fixture
def bench() -> Iterator[Bench]:
    with workbench() as made:
        yield made


@pytest.fixture
def store(bench: Bench) -> impl.Coordinator:
    opened = bench.open()
    Caller(opened, bench).reserve(1)
    return opened


def every_operation(call: Caller) -> list[Callable[[], Any]]:
    force = {"commandId": uuid(1, 9), "riskAcknowledgement": True, "reason": "because"}
    return [
        lambda: call("reserve", **reserving(5)),
        lambda: call("commit", id=uuid(1), projectAdmitCommitSeq=1),
        lambda: call("renew", id=uuid(1), ttlMs=1),
        lambda: call("markOrphanSuspect", id=uuid(1)),
        lambda: call("normalRelease", id=uuid(1)),
        lambda: call("forceRelease", "root", id=uuid(1), **force),
        lambda: call("setMaxActiveRuns", "root", commandId=uuid(1, 9), maxActiveRuns=9),
        lambda: call("readReservation", id=uuid(1)),
        lambda: call("readCommand", id=uuid(1, 9)),
        lambda: call("snapshot"),
        lambda: call("dispatch", id=uuid(1), prepare=lambda _row: lambda: 1),
    ]


def attack(bench: Bench, store: impl.Coordinator, name: str, damage: Damage) -> None:
    """One kind of damage to one file: everything that reads it refuses; mended, all works again."""
    path = bench.directory / name
    content = path.read_bytes()
    damage(path)
    call = Caller(store, bench)
    with at_once(), untouched(bench.directory):
        for operation in every_operation(call):
            refusal(operation, DURABILITY)
            assert not bench.authority.log, "the authority was asked about a store that can't be trusted"
        refusal(lambda: bench.open(), DURABILITY)
        report = impl.audit_directory(bench.directory)
        if name == LOCK:
            assert impl.read_durable_epoch(bench.directory) == 2
        else:
            refusal(lambda: impl.read_durable_epoch(bench.directory), DURABILITY)
            assert DURABILITY in {fault.code for fault in report.faults}
    remove(path)
    for leftover in (
        *bench.directory.glob("moved-*"),
        *bench.root.glob("second-link"),
        *bench.root.glob("aside-*"),
    ):
        remove(leftover)
    path.touch(mode=0o600)
    path.write_bytes(content)
    assert call("readReservation", id=uuid(1))["reservation"]["state"] == "reserved"


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_not_regular_private_and_single_is_refused(
    bench: Bench, store: impl.Coordinator, name: str
) -> None:
    for told, damage in DAMAGES.items():
        try:
            attack(bench, store, name, damage)
        except BaseException as error:
            raise AssertionError(f"{told}: {error}") from error


@root_only
@pytest.mark.parametrize("damage", ROOT_DAMAGES)
@pytest.mark.parametrize("name", FILES)
def test_a_file_of_another_owner_or_a_device_is_refused(
    bench: Bench, store: impl.Coordinator, name: str, damage: str
) -> None:
    attack(bench, store, name, ROOT_DAMAGES[damage])


@pytest.mark.parametrize("name", FILES[:2])
def test_a_missing_file_is_refused_and_never_made_anew(
    bench: Bench, store: impl.Coordinator, name: str
) -> None:
    attack(bench, store, name, Path.unlink)


def test_both_files_missing_under_an_open_store_are_refused(bench: Bench, store: impl.Coordinator) -> None:
    """The open store has seen a state, so this is no empty directory to it."""
    for name in FILES[:2]:
        (bench.directory / name).unlink()
    with untouched(bench.directory):
        for operation in every_operation(Caller(store, bench)):
            refusal(operation, DURABILITY)
    assert impl.read_durable_epoch(bench.directory) == 0


def test_a_missing_lock_file_is_made_again(bench: Bench, store: impl.Coordinator) -> None:
    (bench.directory / LOCK).unlink()
    Caller(store, bench).reserve(2)
    seen = (bench.directory / LOCK).lstat()
    assert stat.S_IMODE(seen.st_mode) == 0o600
    assert stat.S_ISREG(seen.st_mode)


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("strangely", [as_symlink, as_fifo, as_hard_link, lambda path: path.chmod(0o666)])
def test_an_audit_looks_at_the_lock_file_too(bench: Bench, strangely: Callable[[Path], object]) -> None:
    assert impl.audit_directory(bench.directory).faults == ()
    strangely(bench.directory / LOCK)
    assert {fault.where for fault in impl.audit_directory(bench.directory).faults} == {LOCK}


def test_what_the_lock_file_holds_does_not_matter_and_stays(bench: Bench, store: impl.Coordinator) -> None:
    lock = bench.directory / LOCK
    lock.write_bytes(b'{"pid":1,"token":"x"}\n\0')
    before = photograph(bench.directory)[LOCK]
    Caller(store, bench).reserve(2)
    assert photograph(bench.directory)[LOCK] == before


def test_files_may_be_read_only_for_their_owner(bench: Bench, store: impl.Coordinator) -> None:
    bench.state.chmod(0o400)
    bench.identity.chmod(0o400)
    assert Caller(store, bench)("snapshot")["commitSeq"] == 2
    assert impl.read_durable_epoch(bench.directory) == 2
    assert impl.audit_directory(bench.directory).faults == ()


def test_files_that_others_replace_all_the_time_are_looked_at_as_they_stand(bench: Bench) -> None:
    """A file that is replaced between the kernel's finding it and its look at it has no name any more."""
    path, fresh = bench.root / "replaced", bench.root / "fresh"
    path.touch()
    replacer = os.fork()
    if replacer == 0:
        while True:
            fresh.touch()
            fresh.rename(path)
    try:
        seen = Counter(found and found.st_nlink for found in (disk.lstat(str(path)) for _ in range(50_000)))
    finally:
        os.kill(replacer, signal.SIGKILL)
        os.waitpid(replacer, 0)
    assert seen == {1: 50_000}


def test_a_file_system_that_never_tells_of_links_hangs_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = os.stat_result((0o100600, 1, 1, 0, 0, 0, 0, 0, 0, 0))
    monkeypatch.setattr(os, "lstat", lambda _path: bare)
    assert disk.lstat("anything") is bare


def test_a_file_removed_while_it_is_looked_at_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = iter([os.stat_result((0o100600, 1, 1, 0, 0, 0, 0, 0, 0, 0))])

    def look(path: str) -> os.stat_result:
        for found in looks:
            return found
        raise FileNotFoundError(path)

    monkeypatch.setattr(os, "lstat", look)
    assert disk.lstat("anything") is None


def test_the_same_bytes_under_another_inode_are_the_same_store(bench: Bench, store: impl.Coordinator) -> None:
    """Each publication gives the state a new inode, so its number proves nothing; a restored copy is fine."""
    for path in (bench.state, bench.identity):
        content = path.read_bytes()
        path.rename(path.with_suffix(".former"))
        path.touch(mode=0o600)
        path.write_bytes(content)
    assert Caller(store, bench)("snapshot")["commitSeq"] == 2
    bench.open().close()


MOMENTS = [("read_lease", 1), ("authorize", 1), ("authorize", 2), ("read_lease", 2)]
MEANWHILE: dict[str, tuple[str, Damage]] = {
    "the lock is another inode": (LOCK, replaced),
    "the lock is gone": (LOCK, Path.unlink),
    "the lock is a symlink": (LOCK, as_symlink),
    "the lock is a symlink to itself": (LOCK, as_symlink_within),
    "the state is a symlink": ("coordinator.json", as_symlink),
    "the identity is a symlink": ("coordinator.identity.json", as_symlink),
    "the directory is gone": (".", shutil.rmtree),
    "the directory is moved": (".", lambda path: path.rename(path.with_name("elsewhere"))),
}


@pytest.mark.parametrize("told", MEANWHILE)
def test_a_file_exchanged_while_a_callback_is_awaited_aborts_before_publication(told: str) -> None:
    """At the last read of the lease too the lock counts, but the step's other checks come before it."""
    name, damage = MEANWHILE[told]
    for callback, nth in MOMENTS[:3]:
        with workbench() as bench:
            call = Caller(bench.open(), bench)
            call.reserve(1)
            content = bench.state.read_bytes()
            path = bench.directory if name == "." else bench.directory / name
            bench.authority.interfere(callback, nth, meanwhile(lambda d=damage, p=path: d(p)))
            with at_once():
                refusal(lambda c=call: c.reserve(2), DURABILITY)
            if bench.state.exists():
                assert bench.state.read_bytes() == content
            assert not list(bench.root.rglob("*.tmp"))


def test_an_exchanged_lock_file_is_used_from_the_next_call_on(bench: Bench, store: impl.Coordinator) -> None:
    call = Caller(store, bench)
    bench.authority.interfere("authorize", 1, meanwhile(lambda: replaced(bench.directory / LOCK)))
    refusal(lambda: call.reserve(2), DURABILITY)
    assert call.reserve(2)["reservation"]["state"] == "reserved"


def test_a_directory_removed_under_an_open_store_is_refused_and_not_made_again(
    bench: Bench, store: impl.Coordinator
) -> None:
    shutil.rmtree(bench.directory)
    with at_once():
        for operation in every_operation(Caller(store, bench)):
            refusal(operation, DURABILITY)
    assert not bench.directory.exists()
    assert impl.read_durable_epoch(bench.directory) == 0


def test_a_directory_replaced_under_an_open_store_is_refused(bench: Bench, store: impl.Coordinator) -> None:
    moved = bench.directory.rename(bench.root / "moved")
    bench.directory.mkdir(mode=0o700)
    refusal(lambda: Caller(store, bench)("snapshot"), DURABILITY)
    assert list(bench.directory.iterdir()) == []
    for name in FILES:
        shutil.copy2(moved / name, bench.directory / name)
    with untouched(bench.directory), untouched(moved):
        refusal(lambda: Caller(store, bench)("snapshot"), DURABILITY)
    shutil.rmtree(bench.directory)
    bench.directory.symlink_to(moved)
    refusal(lambda: Caller(store, bench)("snapshot"), DURABILITY)
    bench.directory.unlink()
    moved.rename(bench.directory)
    assert Caller(store, bench)("snapshot")["commitSeq"] == 2


def test_a_moved_or_copied_store_is_refused_where_it_now_stands(
    bench: Bench, store: impl.Coordinator
) -> None:
    copied, moved = bench.root / "copied", bench.root / "moved"
    shutil.copytree(bench.directory, copied, copy_function=shutil.copy2)
    store.close()
    bench.directory.rename(moved)
    for directory in (copied, moved):
        with untouched(directory):
            refusal(lambda d=directory: bench.open(d), DURABILITY)
            refusal(lambda d=directory: impl.read_durable_epoch(d), DURABILITY)
            assert impl.audit_directory(directory).faults != ()


def test_other_entries_of_the_directory_are_nobodys_business(bench: Bench, store: impl.Coordinator) -> None:
    """Files of other names stay as they are, those that look like temporary ones of others too."""
    names = [
        "notes.txt",
        "coordinator.json.tmp",
        "coordinator.json.0.tmp",
        "x.coordinator.json.tmp",
        "coordinator.json~",
    ]
    for name in names:
        (bench.directory / name).write_text("mine")
    (bench.directory / ("coordinator.json." + "0" * 32 + ".tmp")).mkdir()
    (bench.directory / ("coordinator.json." + "1" * 32 + ".tmp")).symlink_to("notes.txt")
    before = photograph(bench.directory)
    Caller(store, bench).reserve(2)
    after = photograph(bench.directory)
    kept = [name for name in before if name != "coordinator.json"]
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}


def test_a_killed_writers_temporary_file_is_removed_by_the_next_transaction(
    bench: Bench, store: impl.Coordinator
) -> None:
    for name in FILES[:2]:
        (bench.directory / f"{name}.{'0f' * 16}.tmp").write_bytes(b"{half")
    refusal(lambda: Caller(store, bench)("readReservation", "eve", id=uuid(1)), "AUTHORITY_REVOKED")
    assert sorted(path.name for path in bench.directory.iterdir()) == sorted(FILES)
