"""The cost of a transaction, in disk steps.

Guarantees: what is published costs two fsyncs and one rename; what is only read costs none and writes
nothing, unless the state is another process's and not known to be durable; leftovers are tidied up.

Doesn't: strike at the steps. `test_bad_disk` and the crash tests do.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from impl import CODES, disk
from impl.tests.derive_store import uuid
from impl.tests.workbench import (
    Bench,
    Caller,
    force,
    refusal,
    untouched,
    workbench,
)
from impl.values import Reservation


@contextmanager
def steps() -> Iterator[list[str]]:
    """Every marked point that is passed."""
    seen: list[str] = []
    former = disk.install(lambda point: seen.append(str(point)))
    try:
        yield seen
    finally:
        disk.install(former)


def cost(seen: list[str]) -> tuple[int, int]:
    """How many fsyncs and renames were done."""
    done = Counter(
        point.removesuffix("-after").partition("-")[2] for point in seen if point.endswith("-after")
    )
    return done["fsync"] + done["dirsync"], done["rename"]


@pytest.fixture
def bench() -> Iterator[Bench]:
    with workbench() as made:
        yield made


@pytest.fixture
def call(bench: Bench) -> Caller:
    return Caller(bench.open(), bench)


def test_every_mutating_operation_costs_two_fsyncs_and_one_rename(bench: Bench, call: Caller) -> None:
    call.admitted(1)
    bench.authority.admit(call.reserve(2)["reservation"])
    bench.authority.finish(call("readReservation", id=uuid(1))["reservation"])
    mutations: list[Callable[[], object]] = [
        lambda: call.reserve(3),
        lambda: call.commit(2),
        lambda: call("renew", id=uuid(3), ttlMs=90_000),
        lambda: call("markOrphanSuspect", id=uuid(1)),
        lambda: call("normalRelease", id=uuid(1)),
        lambda: call("forceRelease", "root", id=uuid(2), **force(1)),
        lambda: call("setMaxActiveRuns", "root", commandId=uuid(2, 9), maxActiveRuns=9),
    ]
    for mutate in mutations:
        bench.clock.advance(1)
        with steps() as seen:
            mutate()
        assert cost(seen) == (2, 1)


def test_a_publication_is_create_write_fsync_rename_and_fsync_of_the_directory(call: Caller) -> None:
    with steps() as seen:
        call.reserve(1)
    published = [point for point in seen if point.startswith("state-") and "read" not in point]
    assert published == [
        "state-create-before",
        "state-create-after",
        "state-write-before",
        "state-write-torn",
        "state-write-after",
        "state-fsync-before",
        "state-fsync-after",
        "state-rename-before",
        "state-rename-after",
        "state-dirsync-before",
        "state-dirsync-after",
    ]


def test_reading_a_state_already_seen_costs_no_fsync_and_writes_nothing(bench: Bench, call: Caller) -> None:
    call.admitted(1)
    with untouched(bench.directory), steps() as seen:
        call("snapshot")
        call("readReservation", id=uuid(1))
        call("readCommand", id=uuid(1, 9))
        call.commit(1)
        assert call("dispatch", id=uuid(1), prepare=lambda _row: lambda: 7) == 7
    assert cost(seen) == (0, 0)


def test_a_refusal_over_a_state_already_seen_costs_no_fsync(bench: Bench, call: Caller) -> None:
    call.reserve(1)
    with untouched(bench.directory), steps() as seen:
        refusal(lambda: call("markOrphanSuspect", id=uuid(1)), "ADMISSION_BINDING_CONFLICT")
    assert cost(seen) == (0, 0)


def test_a_state_of_another_process_is_synced_once_before_the_first_answer(
    bench: Bench, call: Caller
) -> None:
    reader = Caller(bench.open(), bench)
    call.reserve(1)
    with steps() as seen:
        reader("snapshot")
    assert cost(seen) == (1, 0)
    assert "foreign-dirsync-after" in seen
    with steps() as seen:
        reader("snapshot")
    assert cost(seen) == (0, 0)


def test_a_refusal_of_any_code_is_answered_only_over_a_durable_state(bench: Bench, call: Caller) -> None:
    call("setMaxActiveRuns", "root", commandId=uuid(1, 9), maxActiveRuns=2)
    call.admitted(1)
    call.reserve(2)
    reader = Caller(bench.open(), bench)
    refusals: dict[str, Callable[[], object]] = {
        "CAPACITY_EXCEEDED": lambda: reader.reserve(3),
        "ADMISSION_BINDING_CONFLICT": lambda: reader("markOrphanSuspect", id=uuid(2)),
        "AUTHORITY_REVOKED": lambda: reader("snapshot", "nobody"),
        "POLICY_DENIED": lambda: reader("setMaxActiveRuns", commandId=uuid(2, 9), maxActiveRuns=3),
        "COMMAND_FAILED": lambda: reader("renew", id=uuid(2)),
        "RECONCILE_REQUIRED": lambda: reader("normalRelease", id=uuid(1)),
        "IDEMPOTENCY_CONFLICT": lambda: reader(
            "setMaxActiveRuns", "root", commandId=uuid(1, 9), maxActiveRuns=3
        ),
        "CROSS_PRINCIPAL_COMMAND": lambda: reader("readCommand", "boss", id=uuid(1, 9)),
    }
    assert {*refusals, "DURABILITY_FAILED"} == set(CODES)
    for code, refused in refusals.items():
        bench.clock.advance(1)
        call("renew", id=uuid(2), ttlMs=60_000)  # a state that the reader hasn't made durable
        for fsyncs in (1, 0):
            with steps() as seen:
                refusal(refused, code)
            assert cost(seen) == (fsyncs, 0), code


def test_a_mutation_over_a_foreign_state_syncs_the_directory_only_once(bench: Bench, call: Caller) -> None:
    writer = Caller(bench.open(), bench)
    call.reserve(1)
    with steps() as seen:
        writer.reserve(2)
    assert cost(seen) == (2, 1)
    assert "foreign-dirsync-after" not in seen


def test_a_foreign_state_is_durable_before_a_dispatch_launches(bench: Bench, call: Caller) -> None:
    launcher = Caller(bench.open(), bench)
    call.admitted(1)
    with steps() as seen:
        launcher("dispatch", id=uuid(1), prepare=lambda _row: lambda: seen.append("launched"))
    assert seen.index("foreign-dirsync-after") < seen.index("launched") < seen.index("lock-release-before")


def test_genesis_publishes_the_state_before_the_identity(bench: Bench) -> None:
    with steps() as seen:
        bench.open()
    wanted = ["mkdir-dirsync-after", "state-rename-after", "state-dirsync-after", "identity-create-before"]
    places = [seen.index(point) for point in wanted]
    assert places == sorted(places)


def test_a_row_that_comes_out_equal_is_not_published_again(bench: Bench, call: Caller) -> None:
    call.admitted(1)
    bench.clock.advance(1)
    call("renew", id=uuid(1))
    with untouched(bench.directory):
        call("renew", id=uuid(1))


def test_a_sweep_looks_at_each_binding_a_few_times_only(
    bench: Bench, call: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    due = 100
    call("setMaxActiveRuns", "root", commandId=uuid(1, 9), maxActiveRuns=due)
    for number in range(due):
        bench.authority.admit(call.reserve(number, ttlMs=1_000)["reservation"])
    bench.clock.advance(1_000)
    asked = 0
    former = Reservation.binding.__get__

    def counted(self: Reservation) -> tuple[str, str, str]:
        nonlocal asked
        asked += 1
        binding: tuple[str, str, str] = former(self)
        return binding

    monkeypatch.setattr(Reservation, "binding", property(counted))
    assert call("snapshot")["capacity"]["committed"] == due
    assert asked < 10 * due, "a sweep of 10,000 rows would take a minute"


def test_leftovers_of_killed_writers_go_with_the_next_call_and_nothing_else_does(
    bench: Bench, call: Caller
) -> None:
    ours = [f"coordinator.json.{'0a' * 16}.tmp", f"coordinator.identity.json.{'f' * 32}.tmp"]
    others = [
        f"coordinator.json.{'0A' * 16}.tmp",
        f"coordinator.json.{'0' * 31}.tmp",
        f"coordinator.json.{'0' * 32}.tmp~",
        f"xcoordinator.json.{'0' * 32}.tmp",
        "writer.lock.queue",
    ]
    for name in ours + others:
        (bench.directory / name).write_bytes(b"{")
    folder = bench.directory / f"coordinator.json.{'b' * 32}.tmp"
    folder.mkdir()
    link = bench.directory / f"coordinator.json.{'c' * 32}.tmp"
    link.symlink_to("elsewhere")
    call("snapshot")
    left = {path.name for path in bench.directory.iterdir()}
    assert not left & set(ours)
    assert left >= {*others, folder.name, link.name}


def test_a_refused_call_tidies_up_as_well(bench: Bench, call: Caller) -> None:
    leftover = bench.directory / f"coordinator.json.{'0' * 32}.tmp"
    leftover.write_bytes(b"")
    refusal(lambda: call("snapshot", "nobody"), "AUTHORITY_REVOKED")
    assert not leftover.exists()
