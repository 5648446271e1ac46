"""What differs is told from what is the same, whichever of the two is the greater.

Guarantees: another inode or device, another owner, another hash, another store's id, another sequence, other
texts in a proof: each is refused both where it would sort before what it should be and where after.

Doesn't: list all that may be wrong. `test_bad_files`, `test_bad_clauses` and `test_bad_answers` do.
"""

import os
import stat
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from attrs import evolve

import impl
from impl import disk, lockfile
from impl.directory import Directory
from impl.files import check_directory, check_file
from impl.lock import Held
from impl.publish import remove_leftovers
from impl.tests.authority import answers
from impl.tests.derive_store import uuid
from impl.tests.independent import dump, load
from impl.tests.workbench import Bench, Caller, refusal, untouched, workbench

DURABILITY, BINDING, RECONCILE = "DURABILITY_FAILED", "ADMISSION_BINDING_CONFLICT", "RECONCILE_REQUIRED"
ASIDE = {
    "a smaller inode": (0, -1),
    "a greater inode": (0, 1),
    "a smaller device": (-1, 0),
    "a greater one": (1, 0),
}
aside = pytest.mark.parametrize("away", ASIDE.values(), ids=ASIDE)
LOW_AND_HIGH = ("00000000-0000-4000-8000-000000000000", "ffffffff-ffff-4fff-bfff-ffffffffffff")


@pytest.fixture
def bench() -> Iterator[Bench]:
    with workbench() as made:
        yield made


def elsewhere(found: os.stat_result, away: tuple[int, int]) -> os.stat_result:
    """The same look, at another file."""
    fields = list(found)
    fields[stat.ST_DEV] += away[0]
    fields[stat.ST_INO] += away[1]
    return os.stat_result(fields)


@aside
def test_another_directory_or_lock_file_is_noticed(bench: Bench, away: tuple[int, int]) -> None:
    bench.open()
    found = bench.directory.stat()
    here = Directory(str(bench.directory), found.st_dev, found.st_ino)
    here.check()
    other = evolve(here, dev=here.dev + away[0], ino=here.ino + away[1])
    assert "another directory" in refusal(other.check, DURABILITY).message
    descriptor = lockfile.open_lock(here.lock_path)
    try:
        held = Held(here, descriptor)
        held.check()
        device, inode = held._file
        held._file = (device + away[0], inode + away[1])
        assert "another file" in refusal(held.check, DURABILITY).message
    finally:
        lockfile.close_lock(descriptor)


@aside
@pytest.mark.parametrize("what", ["the directory", "coordinator.json", "coordinator.identity.json"])
def test_what_is_replaced_while_the_epoch_is_read_is_noticed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, what: str, away: tuple[int, int]
) -> None:
    bench.open().close()
    path = str(bench.directory / what) if what.startswith("coord") else str(bench.directory)
    looks: list[str] = []
    lstat = disk.lstat

    def second_look_elsewhere(asked: str) -> os.stat_result | None:
        found = lstat(asked)
        looks.append(asked)
        again = asked == path and looks.count(path) > 1
        return elsewhere(found, away) if again and found is not None else found

    monkeypatch.setattr(disk, "lstat", second_look_elsewhere)
    assert "was replaced" in refusal(lambda: impl.read_durable_epoch(bench.directory), DURABILITY).message
    assert looks.count(path) == 2


@aside
@pytest.mark.parametrize("name", ["coordinator.json", "coordinator.identity.json"])
def test_the_epochs_reader_opens_the_file_that_it_has_looked_at(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, name: str, away: tuple[int, int]
) -> None:
    bench.open().close()
    inode = (bench.directory / name).stat().st_ino
    fstat = os.fstat

    def opened(descriptor: int) -> os.stat_result:
        found = fstat(descriptor)
        return elsewhere(found, away) if found.st_ino == inode else found

    monkeypatch.setattr(os, "fstat", opened)
    assert "was replaced" in refusal(lambda: impl.read_durable_epoch(bench.directory), DURABILITY).message


@pytest.mark.parametrize("own", [-1, 1], ids=["a greater user's", "a smaller user's"])
def test_what_is_not_ones_own_is_neither_trusted_nor_removed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, own: int
) -> None:
    bench.open().close()
    leftover = bench.directory / f"coordinator.json.{'0' * 32}.tmp"
    leftover.touch(0o600)
    found = bench.directory.stat()
    here = Directory(str(bench.directory), found.st_dev, found.st_ino)
    monkeypatch.setattr(disk, "own_uid", lambda: found.st_uid + own)
    told = f"belongs to user {found.st_uid}"
    state = bench.state.stat()
    assert told in refusal(lambda: check_file(str(bench.state), state), DURABILITY).message
    assert told in refusal(lambda: check_directory(here.path, found), DURABILITY).message
    assert {told in fault.message for fault in impl.audit_directory(bench.directory).faults} == {True}
    remove_leftovers(here)
    assert leftover.exists()
    monkeypatch.undo()
    remove_leftovers(here)
    assert not leftover.exists()


@pytest.mark.parametrize("instance", LOW_AND_HIGH)
def test_an_identity_of_another_store_is_refused_by_all_who_read_it(bench: Bench, instance: str) -> None:
    call = Caller(bench.open(), bench)
    good = bench.identity.read_bytes()
    bench.identity.write_bytes(dump({**load(bench.identity), "instanceId": instance}))
    with untouched(bench.directory):
        for use in (lambda: call("snapshot"), bench.open, lambda: impl.read_durable_epoch(bench.directory)):
            assert "instanceId" in refusal(use, DURABILITY).message
        (fault,) = impl.audit_directory(bench.directory).faults
        assert "instanceId" in fault.message
    bench.identity.write_bytes(good)
    assert call("snapshot")["commitSeq"] == 1


@pytest.mark.parametrize("spoil", [lambda raw: b"!" + raw, lambda raw: b"~" + raw], ids=["before", "after"])
def test_an_identity_that_has_changed_is_read_anew(bench: Bench, spoil: Callable[[bytes], bytes]) -> None:
    call = Caller(bench.open(), bench)
    good = bench.identity.read_bytes()
    bench.identity.write_bytes(spoil(good))
    assert "no identity" in refusal(lambda: call("snapshot"), DURABILITY).message
    bench.identity.write_bytes(good)
    call("snapshot")


def test_a_retried_commit_names_the_very_sequence(bench: Bench) -> None:
    call = Caller(bench.open(), bench)
    bench.authority.admit(call.reserve(1)["reservation"], sequence=7)
    row = call.commit(1, sequence=7)
    with untouched(bench.directory):
        for sequence in (1, 6, 8, 2**53 - 1):
            refusal(lambda s=sequence: call.commit(1, sequence=s), BINDING)
        assert call.commit(1, sequence=7) == row


def neighbours(text: str) -> list[str]:
    """Texts that sort just before and just after."""
    return [text[:-1], text[:-1] + chr(ord(text[-1]) - 1), text[:-1] + chr(ord(text[-1]) + 1), text + "\0"]


NAMES = ("reservationId", "projectId", "projectControlDomainId", "runId")


@pytest.mark.parametrize("name", NAMES)
def test_a_proof_is_of_the_very_reservation_and_binding(bench: Bench, name: str) -> None:
    call = Caller(bench.open(), bench)
    committed = call.admitted(2)["reservation"]
    release = bench.authority.finish(committed)
    reserved = call.reserve(1, ttlMs=10)["reservation"]
    admission = bench.authority.admit(reserved)
    abandonment = bench.authority.abandon(reserved)
    with untouched(bench.directory):
        for other in neighbours(admission[name]):
            bench.authority.interfere("read_admission", 1, answers({**admission, name: other}))
            refusal(lambda: call.commit(1), BINDING)
        for other in neighbours(release[name]):
            bench.authority.interfere("read_release", 1, answers({**release, name: other}))
            refusal(lambda: call("normalRelease", id=uuid(2)), RECONCILE)
        bench.clock.advance(10)
        for proof in (admission, abandonment):
            for other in neighbours(proof[name]):
                bench.authority.interfere("read_admission", 1, answers({**proof, name: other}))
                assert call("snapshot")["capacity"]["reserved"] == 1
    assert call("snapshot")["capacity"]["reserved"] == 0


@pytest.mark.parametrize("status", neighbours("abandoned"))
def test_only_abandoned_is_an_abandonment(bench: Bench, status: str) -> None:
    call = Caller(bench.open(), bench)
    proof = bench.authority.abandon(call.reserve(1, ttlMs=10)["reservation"])
    bench.clock.advance(10)
    with untouched(bench.directory):
        bench.authority.interfere("read_admission", 1, answers({**proof, "status": status}))
        assert call("snapshot")["capacity"]["reserved"] == 1


@pytest.mark.parametrize("version", [0, 1, 7])
def test_a_release_is_proven_at_the_version_of_its_admission_or_later(bench: Bench, version: int) -> None:
    call = Caller(bench.open(), bench)
    row: Any = call.admitted(1, version=version)
    assert row["admitRunVersion"] == version
    proof = bench.authority.finish(row["reservation"])
    if version:
        bench.authority.releases[uuid(1)] = {**proof, "runVersion": version - 1}
        refusal(lambda: call("normalRelease", id=uuid(1)), RECONCILE)
    bench.authority.releases[uuid(1)] = {**proof, "runVersion": version}
    assert call("normalRelease", id=uuid(1))["reservation"]["state"] == "released"
