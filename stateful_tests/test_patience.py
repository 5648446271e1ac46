"""A store that hangs is a violation, seen within seconds, and not the end of the check."""

import os
import signal
import threading
from pathlib import Path

import pytest

from model.actions import Call, Damage, Open, SetLease
from model.values import JSON
from stateful_tests.patience import HungError, at_most
from stateful_tests.target import Answered, Crashed, Refusal, StoreTarget

LEASE: JSON = {"holderId": "h1", "fencingEpoch": 1, "endpoint": "unix:1", "expiresAt": 1_800_000_000_000}


def test_what_hangs_in_a_system_call_is_broken_off(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")

    def hangs() -> None:
        try:
            (tmp_path / "fifo").read_bytes()
        except Exception:  # noqa: BLE001 - what hangs must not be able to swallow it
            pytest.fail("swallowed")

    with pytest.raises(HungError, match=r"it hung for 0\.05 s"), at_most(0.05):
        hangs()


def test_what_is_in_time_leaves_neither_timer_nor_handler_behind() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with at_most(60):
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) is before


def test_in_another_thread_nothing_is_broken_off_and_nothing_fails() -> None:
    ran: list[int] = []

    def work() -> None:
        with at_most(0.0001):
            ran.append(1)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ran == [1]


def test_a_store_that_hangs_on_damaged_files_has_crashed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stateful_tests.target.HUNG_S", 0.05)
    with StoreTarget(tmp_path / "store") as target:
        target.apply(SetLease(LEASE))
        assert target.apply(Open("h1", "h1", 1, 2)) == Answered(None)
        target.observe()
        snapshot = Call("h1", "alice", "snapshot")
        target.apply(Damage("state-fifo"))
        assert target.apply(snapshot) == Refusal("DURABILITY_FAILED")
        fifo = target.files.directory / "coordinator.json"
        monkeypatch.setattr(target.hosts["h1"], "call", lambda *_, **__: fifo.read_bytes())
        seen = target.apply(snapshot)
        assert isinstance(seen, Crashed)
        assert seen.text.startswith("HungError: it hung for 0.05 s")
