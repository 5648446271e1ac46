"""Arguments of every operation that are not what the specification asks for.

Each is refused before the transaction starts: no callback is asked, no lock is taken, no byte changes. The
tables below are crossed inside the tests (several thousand calls on one store), so that a failure names
the operation, the argument and the value.
"""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

import impl
from impl.tests.derive_store import uuid
from impl.tests.nonsense import ABSENT, BAD_ID, GOOD, KINDS, LARGEST, NO_TEXT, OPERATIONS, VALID, Attack
from impl.tests.workbench import (
    Bench,
    Caller,
    at_once,
    refusal,
    workbench,
)


@pytest.fixture
def bench() -> Iterator[Bench]:
    with workbench() as made:
        yield made


@pytest.fixture
def store(bench: Bench) -> impl.Coordinator:
    """Holds one reserved row, number 1."""
    opened = bench.open()
    Caller(opened, bench).reserve(1)
    return opened


def test_a_wrong_value_of_any_argument_is_refused_before_the_transaction(
    bench: Bench, store: impl.Coordinator
) -> None:
    attack = Attack(bench, store)
    for operation, wanted in OPERATIONS.items():
        for name, (kind, _) in wanted.items():
            for value in KINDS.get(kind, []):
                attack.vary(operation, name, value, "COMMAND_FAILED")
    attack.finish()
    assert attack.count > 1_100


def test_two_wrong_arguments_at_once_are_refused_alike(bench: Bench, store: impl.Coordinator) -> None:
    attack = Attack(bench, store)
    for operation, wanted in OPERATIONS.items():
        wrong = {name: KINDS[kind] for name, (kind, _) in wanted.items() if kind in KINDS}
        for first in wrong:
            for second in wrong:
                for one, other in zip(wrong[first][::3], wrong[second][::2], strict=False):
                    arguments = {**VALID[operation], first: one, second: other}
                    kept = {key: value for key, value in arguments.items() if value is not ABSENT}
                    attack(operation, kept, "COMMAND_FAILED")
    attack.finish()
    assert attack.count > 800


def test_an_unknown_name_is_refused_whatever_stands_beside_it(bench: Bench, store: impl.Coordinator) -> None:
    attack = Attack(bench, store)
    unknown: list[Any] = [
        "", " ", "ID", "Id", "id ", "ttlms", "ttl_ms", "state", "slots", "ownerId", "principal", "context",
        "operator", "prepare", "self", "__class__", "__proto__", "coordinatorEpoch",
        "reservedExpiresAt", "\ud800",
        "x" * 5000, "clock", "reservation_id", None, 1, True, 1.5, (), b"id",
    ]  # fmt: skip
    for operation, wanted in OPERATIONS.items():
        others = {name for names in OPERATIONS.values() for name in names} - set(wanted)
        for name in [*unknown, *sorted(others)]:
            for value in (None, VALID["reserve"].get(name, GOOD)):
                attack(operation, {**VALID[operation], name: value}, "COMMAND_FAILED")
    attack.vary("commit", "runId", uuid(7, 3), "COMMAND_FAILED")
    attack.finish()
    assert attack.count > 700


def test_an_unknown_name_comes_before_a_policy_denial(bench: Bench, store: impl.Coordinator) -> None:
    attack = Attack(bench, store)
    attack(
        "forceRelease", {**VALID["forceRelease"], "riskAcknowledgement": False, "extra": 1}, "COMMAND_FAILED"
    )
    attack.finish()


def test_an_unknown_operation_is_refused(bench: Bench, store: impl.Coordinator) -> None:
    attack = Attack(bench, store)
    names: list[Any] = [
        "", "Reserve", "RESERVE", "reserve ", " reserve", "reserve\n", "initialize", "open", "close", "call",
        "mark_orphan_suspect", "set_max_active_runs", "normal_release", "__init__", "_transaction",
        "directory",
        "constructor", "\ud800", None, 1, True, b"reserve", ("reserve",), ["reserve"],
        {"reserve": 1}, object(),
    ]  # fmt: skip
    for name in names:
        attack(name, {}, "COMMAND_FAILED")
        attack(name, VALID["reserve"], "COMMAND_FAILED")
    attack.finish()


def test_arguments_that_are_no_mapping_are_refused(bench: Bench, store: impl.Coordinator) -> None:
    attack = Attack(bench, store)
    for operation in OPERATIONS:
        shapes: list[Any] = [
            None, [], (), "", "id", 0, 1, True, b"", object(), set(), [("id", uuid(1))], (("id",
            uuid(1)),), iter(()),
            {"id"}, dict, Ellipsis, 1.5,
        ]  # fmt: skip
        for shape in shapes:
            attack(operation, shape, "COMMAND_FAILED")
    attack.finish()


def test_a_force_release_is_checked_in_the_order_that_the_specification_gives(
    bench: Bench, store: impl.Coordinator
) -> None:
    attack = Attack(bench, store)
    unacknowledged: list[Any] = [
        False, None, 1, 1.0, 0, "true", "", b"1", [], [True], {}, object(), 10**400, float("nan"), ABSENT,
    ]  # fmt: skip
    reasonless: list[Any] = [*NO_TEXT, "", " ", "\t\n\r", "\u00a0\u3000", "\u2028", " " * 5000, None, ABSENT]
    for value in unacknowledged:
        attack.vary("forceRelease", "riskAcknowledgement", value, "POLICY_DENIED")
    for value in reasonless:
        attack.vary("forceRelease", "reason", value, "POLICY_DENIED")
    for first in ("id", "commandId"):
        for value in BAD_ID:
            for name, wrong in (("riskAcknowledgement", False), ("reason", ""), ("reason", "x" * 4097)):
                arguments = {**VALID["forceRelease"], first: value, name: wrong}
                attack("forceRelease", arguments, "COMMAND_FAILED")
    for value in KINDS["reason too long"]:
        arguments = {**VALID["forceRelease"], "riskAcknowledgement": False, "reason": value}
        attack("forceRelease", arguments, "POLICY_DENIED")
    attack.finish()


def test_the_greatest_and_least_allowed_values_are_accepted(bench: Bench) -> None:
    call = Caller(bench.open(initial_max_active_runs=LARGEST), bench)
    assert call.reserve(1, ttlMs=1)["reservation"]["reservedExpiresAt"] == bench.clock.now + 1
    row = call.reserve(2, ttlMs=86_400_000)
    assert row["reservation"]["reservedExpiresAt"] == bench.clock.now + 86_400_000
    bench.authority.admit(row["reservation"], sequence=LARGEST, version=LARGEST)
    handle = "\U0001f600" * 4096
    assert (
        call.commit(2, sequence=LARGEST, providerJobHandle=handle)["reservation"]["providerJobHandle"]
        == handle
    )
    assert call("setMaxActiveRuns", "root", commandId=uuid(1, 9), maxActiveRuns=LARGEST) == LARGEST
    assert call("setMaxActiveRuns", "root", commandId=uuid(2, 9), maxActiveRuns=2) == 2
    force = {"id": uuid(1), "commandId": uuid(3, 9), "riskAcknowledgement": True}
    reason = "\x00" + "x" * 4095
    assert call("forceRelease", "root", reason=reason, **force)["releaseKind"] == "force"
    assert call("readCommand", "root", id=uuid(3, 9))["request"]["reason"] == reason


def test_none_is_the_same_as_leaving_an_optional_argument_out(bench: Bench) -> None:
    call = Caller(bench.open(), bench)
    assert call.reserve(1, reservationId=None)["reservation"]["reservationId"] != uuid(1)
    row = call.reserve(2)
    bench.authority.admit(row["reservation"])
    committed = call.commit(2, attemptId=None, providerJobHandle=None)
    assert not {"attemptId", "providerJobHandle"} & set(committed["reservation"])
    assert call("renew", id=uuid(2), ttlMs=None)["reservation"]["renewedAt"] == bench.clock.now


def test_arguments_are_checked_even_on_a_closed_store(bench: Bench, store: impl.Coordinator) -> None:
    store.close()
    attack = Attack(bench, store)
    for operation, arguments in VALID.items():
        attack(operation, {**arguments, "extra": 1}, "COMMAND_FAILED")
        attack(operation, arguments, "DURABILITY_FAILED")
    attack.finish()


def test_arguments_are_checked_without_waiting_for_the_lock(bench: Bench, store: impl.Coordinator) -> None:
    inside, leave = threading.Event(), threading.Event()

    def hold(truth: Any) -> Any:
        inside.set()
        leave.wait(10)
        return truth()

    bench.authority.interfere("authorize", 1, hold)
    holder = threading.Thread(target=Caller(store, bench), args=("snapshot", "root"))
    holder.start()
    try:
        assert inside.wait(10)
        other = impl.Coordinator.call
        with at_once():
            for operation, arguments in VALID.items():
                refusal(
                    lambda o=operation, a=arguments: other(store, o, {**a, "x": 1}, "root"), "COMMAND_FAILED"
                )
    finally:
        leave.set()
        holder.join()
