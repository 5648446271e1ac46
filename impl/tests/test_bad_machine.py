"""The machine around the store is odd: umask, working directory, limits of the process, special places.

Real limits, no injected ones: a write beyond RLIMIT_FSIZE is first taken in part and then refused by the
kernel, and at RLIMIT_NOFILE no file can be opened.
"""

import os
import resource
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import impl
from impl.tests.derive_store import uuid
from impl.tests.independent import dump, store_faults
from impl.tests.workbench import Bench, Caller, at_once, force, photograph, refusal, untouched, workbench

DURABILITY = "DURABILITY_FAILED"


@pytest.fixture
def bench() -> Iterator[Bench]:
    with workbench() as made:
        yield made


@contextmanager
def limit(which: int, soft: int) -> Iterator[None]:
    former = resource.getrlimit(which)
    resource.setrlimit(which, (soft, former[1]))
    try:
        yield
    finally:
        resource.setrlimit(which, former)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o277, 0o777])
def test_the_umask_neither_opens_nor_closes_what_is_made(bench: Bench, umask: int) -> None:
    former = os.umask(umask)
    try:
        Caller(bench.open(bench.root / "a" / "store"), bench).reserve(1)
    finally:
        os.umask(former)
    directory = bench.root / "a" / "store"
    for path in (bench.root / "a", directory):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in directory.iterdir()} == {0o600}
    assert store_faults(directory) == []


def test_a_relative_path_below_a_removed_working_directory_is_refused(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = bench.root / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    refusal(lambda: bench.open("store"), DURABILITY, "COMMAND_FAILED", side_effects=None)
    refusal(lambda: impl.read_durable_epoch("store"), DURABILITY, "COMMAND_FAILED", side_effects=None)
    assert Caller(bench.open(), bench)("snapshot")["commitSeq"] == 1


def test_a_process_without_file_descriptors_gets_an_error_and_goes_on_when_it_has_some(bench: Bench) -> None:
    call = Caller(bench.open(), bench)
    before = bench.state.read_bytes()
    outcomes = []
    base = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 -- numbers, not paths
    for spare in range(-3, 5):
        with limit(resource.RLIMIT_NOFILE, max(base + spare, 3)):
            try:
                call.reserve(1)
            except impl.CoordinatorError as caught:
                outcomes.append((caught.code, caught.side_effects))
        if outcomes and bench.state.read_bytes() != before:
            break
    assert set(outcomes) == {(DURABILITY, "unknown")}
    assert call.reserve(1)["reservation"]["state"] == "reserved"
    assert store_faults(bench.directory) == []
    assert sorted(path.suffix for path in bench.directory.iterdir()) == [".json", ".json", ".lock"]


def test_a_file_system_that_takes_a_part_of_a_write_changes_nothing(bench: Bench) -> None:
    call = Caller(bench.open(), bench)
    call.reserve(1)
    size = bench.state.stat().st_size
    for most in (0, 1, size // 2, size, size + 1):
        before = bench.state.read_bytes()
        with limit(resource.RLIMIT_FSIZE, most):
            refusal(
                lambda: call("forceRelease", "root", id=uuid(1), **force(1)),
                DURABILITY,
                side_effects="unknown",
            )
            assert call("readReservation", id=uuid(1))["reservation"]["state"] == "reserved"
        assert bench.state.read_bytes() == before
        assert len(list(bench.directory.iterdir())) == 3
    assert call("forceRelease", "root", id=uuid(1), **force(1))["reservation"]["state"] == "released"


def test_a_genesis_for_which_there_is_no_room_can_be_tried_again(bench: Bench) -> None:
    with limit(resource.RLIMIT_FSIZE, 10):
        refusal(lambda: bench.open(), DURABILITY, side_effects="unknown")
    assert not bench.state.exists()
    assert not bench.identity.exists()
    bench.open()
    assert store_faults(bench.directory) == []


def test_places_that_can_hold_no_store_are_refused_at_once(bench: Bench) -> None:
    with at_once():
        for place in (
            "/",
            "/proc",
            "/proc/holdtrue",
            "/proc/self/fd",
            "/dev/null",
            "/dev/null/store",
            "/dev/full",
        ):
            refusal(lambda p=place: bench.open(p), DURABILITY, side_effects=None)
    assert not Path("/coordinator.json").exists()
    assert not Path("/writer.lock").exists()


def test_a_path_that_is_none_is_refused(bench: Bench) -> None:
    nothing: list[Any] = [
        "",
        None,
        1,
        1.5,
        True,
        b"store",
        bytearray(b"store"),
        ["store"],
        object(),
        "st\0re",
    ]
    for wrong in nothing:
        if wrong is not None:  # which `Bench.open` takes for its own directory
            refusal(lambda w=wrong: bench.open(w), "COMMAND_FAILED", DURABILITY, side_effects=None)
        refusal(lambda w=wrong: impl.read_durable_epoch(w), "COMMAND_FAILED", DURABILITY, side_effects=None)
    assert not bench.directory.exists()


def test_a_waiting_time_of_nothing_is_enough_where_nobody_holds_the_lock(bench: Bench) -> None:
    call = Caller(bench.open(lock_timeout_s=0), bench)
    assert call.reserve(1)["reservation"]["state"] == "reserved"
    rival = bench.open(lock_timeout_s=0)
    bench.authority.interfere(
        "authorize",
        1,
        lambda truth: refusal(lambda: rival.call("snapshot", {}, "alice"), DURABILITY) and truth(),
    )
    with at_once():
        assert call("snapshot")["commitSeq"] == 2


def test_a_waiting_time_that_is_none_is_refused(bench: Bench) -> None:
    no_time: list[Any] = [None, -1, -0.5, float("nan"), float("inf"), "30", True, 10**400, []]
    for wrong in no_time:
        refusal(lambda w=wrong: bench.open(lock_timeout_s=w), "COMMAND_FAILED")
    assert not bench.directory.exists()


def test_a_huge_file_with_its_fault_at_the_end_is_refused_without_delay(bench: Bench) -> None:
    """Telling where the fault is must not take longer than finding it, however many keys there are."""
    store = bench.open()
    good = bench.read_state()
    keys = [f"{number:036x}" for number in range(30_000)]
    many = ",".join(f'"{key}":1' for key in keys)
    row: dict[str, Any] = {"reservation": {}, "ownerId": 1}
    contents = [
        ("{" + many + f',"{keys[-1]}":2' + "}\n").encode(),
        dump({**good, "reservations": dict.fromkeys(keys[:1000], row)}),
        dump({**good, "audit": [good["audit"][0]] * 1_000}),
    ]
    for content in contents:
        bench.state.write_bytes(content)
        with at_once(), untouched(bench.directory):
            refusal(lambda: store.call("snapshot", {}, "alice"), DURABILITY)
        with at_once():
            assert impl.audit_directory(bench.directory).faults != ()


def test_a_directory_full_of_other_files_is_only_listed(bench: Bench) -> None:
    call = Caller(bench.open(), bench)
    for number in range(300):
        (bench.directory / f"coordinator.json.{number:031x}.tmp").touch()  # one digit short of ours
        (bench.directory / f"coordinator.json.{number:032x}.tmp").touch()
    call("snapshot")
    left = [name for name in photograph(bench.directory) if name.endswith(".tmp")]
    assert len(left) == 300
    assert {len(name) for name in left} == {len("coordinator.json..tmp") + 31}
