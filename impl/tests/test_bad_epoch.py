"""Reading a store without opening it: the durable epoch, and the audit.

The epoch's reader needs no host and no lock, writes nothing, and answers 0 only where there is no store.
An audit never raises, whatever it is pointed at.
"""

import os
from collections.abc import Iterator
from typing import Any

import pytest

import impl
from impl.tests.authority import meanwhile
from impl.tests.independent import LOCK
from impl.tests.workbench import Bench, Caller, refusal, untouched, workbench

DURABILITY = "DURABILITY_FAILED"


@pytest.fixture
def bench() -> Iterator[Bench]:
    with workbench() as made:
        yield made


def test_the_epoch_of_no_store_is_zero(bench: Bench) -> None:
    assert impl.read_durable_epoch(bench.directory) == 0
    assert impl.read_durable_epoch(bench.root / "not" / "there") == 0
    assert not bench.directory.exists()
    bench.directory.mkdir(mode=0o700)
    assert impl.read_durable_epoch(bench.directory) == 0
    assert list(bench.directory.iterdir()) == []


def test_half_a_store_has_no_epoch(bench: Bench) -> None:
    bench.open().close()
    for path in (bench.state, bench.identity):
        content = path.read_bytes()
        path.unlink()
        refusal(lambda: impl.read_durable_epoch(bench.directory), DURABILITY)
        assert impl.audit_directory(bench.directory).faults != ()
        path.touch(mode=0o600)
        path.write_bytes(content)
    assert impl.read_durable_epoch(bench.directory) == 2


def test_the_epoch_is_read_without_lock_host_or_write(bench: Bench) -> None:
    store = bench.open()
    seen: list[int] = []
    look = meanwhile(lambda: seen.append(impl.read_durable_epoch(bench.directory)))
    bench.authority.interfere("authorize", 1, look)
    Caller(store, bench)("snapshot")
    (bench.directory / LOCK).unlink()
    with untouched(bench.directory):
        assert impl.read_durable_epoch(bench.directory) == 2
        assert impl.audit_directory(bench.directory).faults == ()
    assert seen == [2]


def test_an_audit_never_raises_whatever_the_place_is(bench: Bench) -> None:
    (bench.root / "file").write_text("{}")
    places: list[Any] = [
        bench.root / "nowhere", bench.root / "file", bench.root / "file" / "below", bench.root,
        "/dev/null", "/proc/self/mem",
        os.fsdecode(os.fsencode(bench.root) + b"/\xff"), "x" * 5000,
    ]  # fmt: skip
    for place in places:
        report = impl.audit_directory(place)
        assert report.faults != (), place
        for fault in report.faults:
            assert fault.code in impl.CODES
            assert fault.message


class Unpathlike:
    def __fspath__(self) -> str:
        raise RuntimeError("no path today")


@pytest.mark.parametrize("place", ["\ud800", "a\ud800/b", Unpathlike()], ids=["surrogate", "part", "raising"])
def test_what_can_name_no_directory_is_refused_by_all_who_take_one(bench: Bench, place: Any) -> None:
    for use in (bench.open, impl.read_durable_epoch, impl.audit_directory):
        refusal(lambda use=use: use(place), "COMMAND_FAILED")


def test_a_refusal_can_be_printed_even_if_the_path_can_not(bench: Bench) -> None:
    odd = os.fsdecode(os.fsencode(bench.root) + b"/st\xffre")
    os.mkdir(odd, 0o755)  # noqa: PTH102 -- a path as the system gives it
    refusal(lambda: impl.read_durable_epoch(odd), DURABILITY)


def test_a_store_reached_through_a_symlink_is_no_store_of_that_name(bench: Bench) -> None:
    bench.open().close()
    (bench.root / "link").symlink_to(bench.root)
    through = bench.root / "link" / bench.directory.name
    with untouched(bench.directory):
        assert "symlink" in refusal(lambda: impl.read_durable_epoch(through), DURABILITY).message
        told = [fault.message for fault in impl.audit_directory(through).faults]
    assert any("reached through a symlink" in message for message in told)
    assert impl.audit_directory(bench.directory).faults == ()


def test_an_audit_counts_what_it_found(bench: Bench) -> None:
    call = Caller(bench.open(initial_max_active_runs=7), bench)
    call.reserve(1)
    call.admitted(2)
    report = impl.audit_directory(bench.directory)
    assert report.faults == ()
    assert (report.commit_seq, report.held, report.maximum, report.entries) == (4, 2, 7, 4)
    assert str(report.directory) == str(bench.directory)
