"""Accepted behaviours of losing authority: lease, epoch, clock, closing, and older states put back."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import impl
from impl.tests.authority import Authority, meanwhile
from impl.tests.crafting import seal
from impl.tests.derive_store import uuid
from impl.tests.independent import dump, faults
from impl.tests.workbench import Bench, Caller, force, refusal, untouched, workbench

REVOKED, BINDING, DURABILITY = "AUTHORITY_REVOKED", "ADMISSION_BINDING_CONFLICT", "DURABILITY_FAILED"


@pytest.fixture
def bench() -> Iterator[Bench]:
    with workbench() as made:
        yield made


@pytest.fixture
def call(bench: Bench) -> Caller:
    """With row 1 committed."""
    made = Caller(bench.open(initial_max_active_runs=2), bench)
    made.admitted(1, version=3)
    return made


def revoke(bench: Bench, _store: impl.Coordinator) -> None:
    bench.authority.people["alice"] = None


def new_epoch(bench: Bench, _store: impl.Coordinator) -> None:
    bench.authority.lease["fencingEpoch"] = 3


def new_holder(bench: Bench, _store: impl.Coordinator) -> None:
    bench.authority.lease["holderId"] = "host-2"


def lease_passes(bench: Bench, _store: impl.Coordinator) -> None:
    bench.clock.now = bench.authority.lease["expiresAt"]


def lease_gone(bench: Bench, _store: impl.Coordinator) -> None:
    bench.authority.lease = None


def clock_falls(bench: Bench, _store: impl.Coordinator) -> None:
    bench.clock.advance(-1)


def closed(_bench: Bench, store: impl.Coordinator) -> None:
    store.close()


LOSSES: list[tuple[Callable[[Bench, impl.Coordinator], None], str]] = [
    (new_epoch, REVOKED), (new_holder, REVOKED), (lease_passes, REVOKED), (lease_gone, REVOKED),
    (clock_falls, REVOKED),
    (revoke, REVOKED), (closed, DURABILITY),
]  # fmt: skip


MOMENTS = [("read_lease", 1), ("authorize", 1), ("read_admission", 1), ("authorize", 2), ("read_lease", 2)]


LATE = {("revoke", "read_lease", 2), ("closed", "read_lease", 2)}
"""What the last read of the lease comes too late to see: both were looked at just before."""


@pytest.mark.parametrize(("loss", "code"), LOSSES, ids=lambda value: getattr(value, "__name__", value))
def test_authority_lost_while_a_callback_is_awaited_aborts_before_publication(
    loss: Callable[[Bench, impl.Coordinator], None], code: str
) -> None:
    for callback, nth in MOMENTS:
        if (loss.__name__, callback, nth) in LATE:
            continue
        with workbench() as bench:
            call = Caller(bench.open(), bench)
            row = call.reserve(1)
            bench.authority.admit(row["reservation"])
            bench.authority.lease["expiresAt"] = bench.clock.now + 1_000  # well before the row's time is over
            with untouched(bench.directory):
                event = meanwhile(lambda b=bench, c=call: loss(b, c.store))
                bench.authority.interfere(callback, nth, event)
                refusal(lambda c=call: c.commit(1), code)


@pytest.mark.parametrize(
    ("loss", "code"), LOSSES[:5] + LOSSES[6:], ids=lambda value: getattr(value, "__name__", value)
)
def test_a_dispatch_is_denied_by_each_loss_also_during_the_last_read_of_the_lease(
    loss: Callable[[Bench, impl.Coordinator], None], code: str
) -> None:
    for callback, nth in [("read_lease", 1), ("authorize", 1), ("authorize", 2), ("read_lease", 2)]:
        with workbench() as bench:
            call = Caller(bench.open(), bench)
            call.admitted(1)
            launched: list[str] = []
            with untouched(bench.directory):
                event = meanwhile(lambda b=bench, c=call: loss(b, c.store))
                bench.authority.interfere(callback, nth, event)
                prepare = lambda _row, done=launched: lambda: done.append("launched")  # noqa: E731 -- one line of a table
                refusal(lambda c=call, p=prepare: c("dispatch", id=uuid(1), prepare=p), code)
            assert launched == []


def test_a_dispatch_is_denied_by_each_loss_during_its_preparation() -> None:
    for loss, code in LOSSES:
        with workbench() as bench:
            call = Caller(bench.open(), bench)
            call.admitted(1)
            launched: list[str] = []

            def prepare(
                _row: Any,
                loss: Any = loss,
                bench: Bench = bench,
                call: Caller = call,
                launched: list[str] = launched,
            ) -> Any:
                loss(bench, call.store)
                return lambda: launched.append("launched")

            with untouched(bench.directory):
                refusal(lambda c=call, p=prepare: c("dispatch", id=uuid(1), prepare=p), code)
            assert launched == []


def test_a_dispatch_holds_the_fence_until_its_activation_has_returned(bench: Bench, call: Caller) -> None:
    other = Authority(bench.clock)
    rival = impl.open_coordinator(
        bench.directory, initial_max_active_runs=2, epoch=2, holder_id="host-1", authority=other,
        clock=bench.clock,
        lock_timeout_s=0.02,
    )  # fmt: skip
    seen: list[str] = []

    def intrude(step: str) -> None:
        seen.append(step)
        refusal(lambda: rival.call("forceRelease", {"id": uuid(1), **force(1)}, "root"), DURABILITY)
        refusal(lambda: rival.call("snapshot", {}, "alice"), DURABILITY)

    def prepare(row: Any) -> Callable[[], str]:
        intrude("prepare")
        assert row.reservation.reservation_id == uuid(1)

        def activate() -> str:
            intrude("activate")
            return "launched"

        return activate

    with untouched(bench.directory):
        assert call("dispatch", id=uuid(1), prepare=prepare) == "launched"
    assert seen == ["prepare", "activate"]
    assert rival.call("forceRelease", {"id": uuid(1), **force(1)}, "root") is not None
    refusal(lambda: call("dispatch", id=uuid(1), prepare=prepare), BINDING)


def test_a_dispatch_needs_a_committed_row_and_a_callable_activation(bench: Bench, call: Caller) -> None:
    call.reserve(2)
    with untouched(bench.directory):
        refusal(lambda: call("dispatch", id=uuid(2), prepare=lambda _row: lambda: 1), BINDING)
        refusal(lambda: call("dispatch", id=uuid(9), prepare=lambda _row: lambda: 1), BINDING)
        no_function: list[Any] = [None, 1, "launch", [], {}]
        for wrong in no_function:
            refusal(lambda w=wrong: call("dispatch", id=uuid(1), prepare=lambda _row: w), "COMMAND_FAILED")
    call("markOrphanSuspect", id=uuid(1))
    refusal(lambda: call("dispatch", id=uuid(1), prepare=lambda _row: lambda: 1), BINDING)


def test_a_lease_that_expires_while_it_is_read_is_refused(bench: Bench, call: Caller) -> None:
    def slow(truth: Any) -> Any:
        lease = truth()
        bench.clock.now = lease["expiresAt"]
        return lease

    bench.authority.interfere("read_lease", 1, slow)
    with untouched(bench.directory):
        refusal(lambda: call("snapshot"), REVOKED)


def test_a_newer_stored_epoch_fences_an_older_host_that_still_lives(bench: Bench, call: Caller) -> None:
    newer = Authority(bench.clock, holder="host-2", epoch=3)
    older, bench.authority = bench.authority, newer
    bench.open(holder_id="host-2", epoch=3).close()
    bench.authority = older
    with untouched(bench.directory):
        refusal(lambda: call.reserve(2), REVOKED)
        refusal(lambda: bench.open(), REVOKED)
    assert impl.read_durable_epoch(bench.directory) == 3


def test_a_wall_clock_that_went_backwards_is_refused_while_open_and_on_reopening(
    bench: Bench, call: Caller
) -> None:
    bench.clock.advance(5)
    call("snapshot")
    bench.clock.advance(-1)
    with untouched(bench.directory):
        refusal(lambda: call("snapshot"), REVOKED)
    bench.clock.advance(-5)
    with untouched(bench.directory):
        refusal(lambda: call("snapshot"), REVOKED)
        refusal(lambda: bench.open(), REVOKED)
    bench.clock.advance(1)
    assert Caller(bench.open(), bench)("snapshot")["commitSeq"] == 3


def test_a_missing_state_with_an_identity_can_not_be_bootstrapped_over(bench: Bench, call: Caller) -> None:
    call.store.close()
    bench.state.unlink()
    with untouched(bench.directory):
        refusal(lambda: bench.open(), DURABILITY)


def test_an_older_state_put_back_under_an_open_store_is_refused(bench: Bench, call: Caller) -> None:
    older = bench.state.read_bytes()
    call.reserve(2)
    newer = bench.state.read_bytes()
    bench.state.write_bytes(older)
    with untouched(bench.directory):
        refusal(lambda: call.reserve(3), DURABILITY)
        refusal(lambda: call("snapshot"), DURABILITY)
    bench.state.write_bytes(newer)
    assert call("snapshot")["capacity"]["active"] == 2


def test_another_state_of_the_same_or_a_later_commit_put_in_place_is_refused(
    bench: Bench, call: Caller
) -> None:
    """Two futures grow from one state; a store that has seen one of them refuses the other."""
    base = bench.state.read_bytes()
    other = Caller(bench.open(), bench)
    other.reserve(2)
    other.reserve(2)
    forked = [bench.state.read_bytes()]
    other("renew", id=uuid(2), ttlMs=5)
    forked.append(bench.state.read_bytes())
    bench.state.write_bytes(base)
    call("snapshot")
    call.reserve(3)
    kept = bench.state.read_bytes()
    for content in forked:
        bench.state.write_bytes(content)
        with untouched(bench.directory):
            refusal(lambda: call("snapshot"), DURABILITY)
    bench.state.write_bytes(kept)
    assert call("snapshot")["capacity"]["active"] == 2


def test_a_closed_store_refuses_all_and_can_be_closed_again(bench: Bench) -> None:
    with bench.open() as store:
        assert store.closed is False
    assert store.closed is True
    store.close()
    with untouched(bench.directory):
        refusal(lambda: Caller(store, bench)("snapshot"), DURABILITY)
    assert not bench.authority.log


def test_a_state_of_the_same_commit_that_differs_in_its_last_wall_time_is_refused(
    bench: Bench, call: Caller
) -> None:
    """Its audit is the very same; only the state's own hash tells the two apart."""
    state = bench.read_state()
    state["lastWallTime"] += 1
    bench.clock.advance(5)
    bench.state.write_bytes(dump(seal(state)))
    assert faults(state) == []
    with untouched(bench.directory):
        refusal(lambda: call("snapshot"), DURABILITY)
