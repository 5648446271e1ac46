"""Turns within one process: threads wait for each other, callbacks are refused at once.

Guarantees: every wait has a deadline; nothing here forks.

Doesn't: look at other processes. `test_lock` does.
"""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from impl.tests.authority import meanwhile
from impl.tests.workbench import (
    Bench,
    Caller,
    at_once,
    lock_is_free,
    refusal,
    reserving,
    untouched,
    workbench,
)


@pytest.fixture
def bench() -> Iterator[Bench]:
    with workbench() as made:
        yield made


def refused(call: Callable[[], object]) -> str:
    """The message of a refusal by the fence."""
    return refusal(call, "DURABILITY_FAILED").message


def test_a_call_from_inside_a_callback_is_refused_at_once(bench: Bench) -> None:
    call = Caller(bench.open(lock_timeout_s=30.0), bench)
    found: list[str] = []

    def reenter() -> None:
        found.append(refused(lambda: call.store.call("snapshot", {}, "alice")))

    bench.authority.interfere("read_lease", 1, meanwhile(reenter))
    with at_once(5.0):
        call.reserve(1)
    assert "callback" in found[0]


def test_another_store_object_over_the_same_directory_is_no_way_around_that(bench: Bench) -> None:
    call = Caller(bench.open(lock_timeout_s=30.0), bench)
    other = bench.open(lock_timeout_s=30.0)
    found: list[str] = []

    def reenter() -> None:
        found.append(refused(lambda: other.call("snapshot", {}, "alice")))

    bench.authority.interfere("authorize", 2, meanwhile(reenter))
    with at_once(5.0):
        call.reserve(1)
    assert "callback" in found[0]


def test_an_inner_refusal_that_the_callback_passes_on_refuses_the_outer_call(bench: Bench) -> None:
    call = Caller(bench.open(), bench)
    bench.authority.interfere("authorize", 1, meanwhile(lambda: call.store.call("snapshot", {}, "alice")))
    with untouched(bench.directory):
        refusal(lambda: call.reserve(1), "DURABILITY_FAILED")


def test_another_threads_call_waits_its_turn_and_is_no_re_entry(bench: Bench) -> None:
    call = Caller(bench.open(lock_timeout_s=20.0), bench)
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(call.store.call("snapshot", {}, "alice")))

    def start() -> None:
        thread.start()
        deadline = time.monotonic() + 0.05
        while time.monotonic() < deadline:
            assert not answers

    bench.authority.interfere("authorize", 1, meanwhile(start))
    call.store.call("reserve", reserving(1), "alice")
    thread.join(10)
    assert len(answers[0].reservations) == 1


def test_another_threads_call_times_out_while_a_callback_is_awaited(bench: Bench) -> None:
    call = Caller(bench.open(lock_timeout_s=0.02), bench)
    found: list[str] = []

    def wait() -> None:
        found.append(refused(lambda: call.store.call("snapshot", {}, "alice")))

    def start_and_join() -> None:
        thread = threading.Thread(target=wait)
        thread.start()
        thread.join(10)

    bench.authority.interfere("authorize", 1, meanwhile(start_and_join))
    call.store.call("reserve", reserving(1), "alice")
    assert "writer fence failed" in found[0]


def test_a_closed_store_is_refused_at_once_even_while_a_callback_is_awaited(bench: Bench) -> None:
    call = Caller(bench.open(lock_timeout_s=30.0), bench)
    found: list[str] = []

    def close_and_call_from_elsewhere() -> None:
        call.store.close()
        thread = threading.Thread(
            target=lambda: found.append(refused(lambda: call.store.call("snapshot", {}, "alice")))
        )
        thread.start()
        thread.join(10)

    bench.authority.interfere("authorize", 1, meanwhile(close_and_call_from_elsewhere))
    with untouched(bench.directory):
        refused(lambda: call.reserve(1))
    assert "closed" in found[0]


def test_many_threads_over_one_store_lose_nothing(bench: Bench) -> None:
    call = Caller(bench.open(initial_max_active_runs=50, lock_timeout_s=30.0), bench)
    threads = [
        threading.Thread(target=lambda n=n: call.store.call("reserve", reserving(n), "alice"))
        for n in range(1, 21)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(call("snapshot")["reservations"]) == 20


def test_the_lock_is_free_again_whatever_a_callback_raises(bench: Bench) -> None:
    call = Caller(bench.open(), bench)

    def interrupt() -> None:
        raise KeyboardInterrupt

    bench.authority.interfere("authorize", 2, meanwhile(interrupt))
    with pytest.raises(KeyboardInterrupt):
        call.reserve(1)
    lock_is_free(bench)
    call.reserve(1)
