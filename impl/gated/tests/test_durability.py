"""What is durable when a step fails: append, cut, mirror, commit; full disks, lying syncs; what it costs."""

import contextlib
import errno
import os
import sqlite3
from pathlib import Path
from unittest import mock

import pytest

from impl.gated import ApplyRequest, CompensationRequest, CompensationStep, Ledger, Step, open_ledger
from impl.gated.tests.bench import (
    HASH,
    adding,
    failing,
    hooked,
    ledger_lines,
    mirrored,
    refused,
    reopened,
)
from impl.points import CrashPoint

APPEND = "LEDGER_APPEND_REQUIRED_FAILED"
MIRROR = "SQLITE_MIRROR_FAILED"
COMMIT = "SQLITE_COMMIT_AFTER_LEDGER_FAILED"


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
@pytest.mark.parametrize("point", ["ledger-append-before", "ledger-append-torn", "ledger-fsync-before"])
def test_an_append_that_fails_leaves_the_same_bytes_and_the_store_goes_on(
    ledger: Ledger, directory: Path, point: str, number: int
) -> None:
    ledger.transact(adding("k1"))
    before = (directory / "ledger.jsonl").read_bytes()
    with failing(point, number=number) as passed:
        error = refused(lambda: ledger.transact(adding("k2")), APPEND, "rollback")
    assert isinstance(error.cause, OSError)
    assert error.cause.errno == number
    assert passed[passed.index(point) + 1 :][:4] == [
        "ledger-cut-before",
        "ledger-cut-after",
        "ledger-cut-fsync-before",
        "ledger-cut-fsync-after",
    ]
    assert (directory / "ledger.jsonl").read_bytes() == before
    assert ledger.state() == {"count": 1}
    assert ledger.transact(adding("k2")).status == "committed"
    ledger.close()
    assert reopened(directory)[1] == {"count": 2}


@pytest.mark.parametrize("taken", [0, 1, 100, 300])
def test_a_file_system_that_takes_some_of_a_write_and_then_is_full(
    ledger: Ledger, directory: Path, taken: int
) -> None:
    before = (directory / "ledger.jsonl").read_bytes()
    real = os.pwrite
    calls: list[int] = []

    def full(descriptor: int, data: bytes, offset: int) -> int:
        calls.append(offset)
        if len(calls) == 1 and taken:
            return real(descriptor, data[:taken], offset)
        raise OSError(errno.ENOSPC, "no space left")

    with mock.patch("os.pwrite", full):
        refused(lambda: ledger.transact(adding("k")), APPEND, "rollback")
    assert (directory / "ledger.jsonl").read_bytes() == before
    assert ledger.transact(adding("k")).status == "committed"


def test_short_writes_are_gone_on_with(ledger: Ledger, directory: Path) -> None:
    real = os.pwrite
    with mock.patch("os.pwrite", lambda descriptor, data, offset: real(descriptor, data[:7], offset)):
        ledger.transact(adding("k"))
    ledger.close()
    assert reopened(directory)[1] == {"count": 1}


def test_a_sync_that_failed_is_not_tried_again_and_believed(ledger: Ledger, directory: Path) -> None:
    before = (directory / "ledger.jsonl").read_bytes()
    sizes: list[int] = []
    real = os.fsync

    def once(descriptor: int) -> None:
        sizes.append(os.fstat(descriptor).st_size)
        if len(sizes) == 1:
            raise OSError(errno.EIO, "lost")
        real(descriptor)

    with mock.patch("os.fsync", once):
        refused(lambda: ledger.transact(adding("k")), APPEND, "rollback")
    assert sizes[0] > 0
    assert sizes[1:] == [0], "only the cut may be synced after a sync has failed"
    assert (directory / "ledger.jsonl").read_bytes() == before
    ledger.transact(adding("k"))


@pytest.mark.parametrize("point", ["ledger-cut-before", "ledger-cut-fsync-before"])
def test_a_cut_that_fails_as_well_poisons_the_store_until_it_is_opened_anew(
    ledger: Ledger, directory: Path, point: str
) -> None:
    ledger.transact(adding("k1"))
    with failing("ledger-fsync-before", point):
        error = refused(lambda: ledger.transact(adding("k2")), APPEND, "in_doubt")
    assert "injected at ledger-fsync-before" in error.message
    assert f"injected at {point}" in error.message
    step = Step("a", "r", 1, True, HASH, HASH, lambda: None)
    undo = CompensationStep("a", 1, False, True, lambda: None)
    for call in (
        lambda: ledger.transact(adding("k2")),
        lambda: ledger.transact(adding("k1")),
        lambda: ledger.apply_steps(ApplyRequest("run", "node", "op", [step])),
        lambda: ledger.apply_steps(ApplyRequest("run", "node", "op", [])),
        lambda: ledger.compensate(CompensationRequest("run", "node", "op", "u", HASH, HASH, [undo])),
        ledger.state,
        lambda: ledger.head,
    ):
        assert "Open the store anew" in refused(call, APPEND, "operator").message
    ledger.close()
    survived = point == "ledger-cut-before"
    with open_ledger(directory) as anew:
        assert anew.recovery.replayed_events == survived
        assert anew.transact(adding("k2")).status == ("noop" if survived else "committed")
        assert anew.state() == {"count": 2}


def test_what_a_poisoned_store_left_half_written_is_cut_by_another_one(directory: Path) -> None:
    with open_ledger(directory) as one, open_ledger(directory) as two:
        with failing("ledger-append-torn", "ledger-cut-before"):
            refused(lambda: one.transact(adding("k1")), APPEND, "in_doubt")
        assert (directory / "ledger.jsonl").stat().st_size > 0
        two.transact(adding("k2"))
        refused(one.state, APPEND, "operator")
    assert len(ledger_lines(directory)) == 1
    assert reopened(directory)[1] == {"count": 1}


def test_a_torn_tail_that_another_one_left_and_that_can_t_be_cut_poisons(directory: Path) -> None:
    with open_ledger(directory) as one, open_ledger(directory) as two:
        with failing("ledger-append-torn", "ledger-cut-before"):
            refused(lambda: one.transact(adding("k1")), APPEND, "in_doubt")
        with failing("ledger-cut-fsync-before"):
            refused(lambda: two.transact(adding("k2")), APPEND, "in_doubt")
        refused(lambda: two.transact(adding("k2")), APPEND, "operator")


def test_a_mirror_that_fails_leaves_the_event_and_the_next_call_catches_up(
    ledger: Ledger, directory: Path
) -> None:
    ledger.transact(adding("k1"))
    with failing("mirror-insert-before") as passed:
        error = refused(lambda: ledger.transact(adding("k2", 5)), MIRROR, "in_doubt")
    assert isinstance(error.cause, sqlite3.OperationalError)
    assert passed.count("mirror-rollback-before") == 1
    assert len(ledger_lines(directory)) == 2
    assert ledger.transact(adding("k2", 5)).status == "noop"
    assert ledger.state() == {"count": 6}
    ledger.close()
    assert mirrored(directory) == (2, {"count": 6})


def test_a_commit_that_fails_leaves_the_event_and_the_next_operation_builds_on_it(
    ledger: Ledger, directory: Path
) -> None:
    with failing("mirror-commit-before") as passed:
        refused(lambda: ledger.transact(adding("k1", 5)), COMMIT, "in_doubt")
    assert passed.count("mirror-rollback-before") == 1
    assert ledger.transact(adding("k2", 1)).state == {"count": 6}
    assert ledger.transact(adding("k1", 5)).status == "noop"
    ledger.close()
    assert reopened(directory)[1] == {"count": 6}


@pytest.mark.parametrize("point", ["mirror-replay-before", "mirror-replay-commit-before"])
def test_a_catch_up_that_fails_appends_nothing(ledger: Ledger, directory: Path, point: str) -> None:
    with failing("mirror-commit-before"):
        refused(lambda: ledger.transact(adding("k1")), COMMIT, "in_doubt")
    with failing(point) as passed:
        refused(lambda: ledger.transact(adding("k2")), MIRROR, "in_doubt")
        assert "mirror-begin-before" not in passed
    with failing(point):
        refused(ledger.state, MIRROR, "in_doubt")
    assert len(ledger_lines(directory)) == 1
    assert ledger.transact(adding("k2")).state == {"count": 2}


def test_begin_not_had_is_told_and_nothing_done(ledger: Ledger, directory: Path) -> None:
    with failing("mirror-begin-before") as passed:
        refused(lambda: ledger.transact(adding("k")), MIRROR, "retry")
    assert "mirror-rollback-before" not in passed
    assert ledger_lines(directory) == []


def test_a_foreign_writer_of_the_mirror_keeps_begin_from_being_had(directory: Path) -> None:
    with open_ledger(directory, lock_timeout_s=0.05) as ledger:
        foreign = sqlite3.connect(directory / "mirror.sqlite", isolation_level=None)
        with contextlib.closing(foreign):
            foreign.execute("BEGIN IMMEDIATE")
            refused(lambda: ledger.transact(adding("k")), MIRROR, "retry")
            foreign.execute("ROLLBACK")
        assert ledger.transact(adding("k")).status == "committed"


@pytest.mark.parametrize("first", ["mirror-insert-before", "mirror-commit-before", "ledger-fsync-before"])
def test_a_rollback_that_fails_is_attached_and_the_connection_is_made_anew(
    ledger: Ledger, directory: Path, first: str
) -> None:
    with failing(first, "mirror-rollback-before") as passed:
        with pytest.raises(Exception, match=f"injected at {first}") as caught:
            ledger.transact(adding("k1"))
        assert passed.count("mirror-rollback-before") == 1
    assert "injected at mirror-rollback-before" in str(caught.value.rollback_error)  # type: ignore[attr-defined]  # a LedgerError
    assert ledger.transact(adding("k1")).state == {"count": 1}
    ledger.close()
    assert reopened(directory)[1] == {"count": 1}


def test_a_noop_whose_rollback_fails_may_be_asked_again(ledger: Ledger) -> None:
    ledger.transact(adding("k"))
    with failing("mirror-rollback-before"):
        refused(lambda: ledger.transact(adding("k")), MIRROR, "retry")
    assert ledger.transact(adding("k")).status == "noop"


def test_receipts_that_could_not_be_mirrored_are_durable_all_the_same(ledger: Ledger) -> None:
    ran: list[int] = []
    step = Step("a", "r", 1, True, HASH, HASH, lambda: ran.append(1))
    request = ApplyRequest("run", "node", "op", [step])
    with failing("mirror-commit-before"):
        assert ledger.apply_steps(request).status == "completed"
    assert ledger.apply_steps(request).skipped_step_ids == ("a",)
    assert ran == [1]


def test_receipts_that_could_not_be_appended_are_in_doubt_and_the_step_runs_again_if_it_may(
    ledger: Ledger,
) -> None:
    ran: list[str] = []
    again = Step("a", "ra", 1, True, HASH, HASH, lambda: ran.append("a"))
    once = Step("b", "rb", 2, False, HASH, HASH, lambda: ran.append("b"))
    with failing("ledger-fsync-before"):
        result = ledger.apply_steps(ApplyRequest("run", "node", "op", [again, once]))
    assert (result.status, result.stopped_at_step_id, ran) == ("in_doubt", "a", ["a"])
    strike = iter((CrashPoint.LEDGER_FSYNC_BEFORE,) * 3)  # of the receipt of a, the start of b, its receipt
    arrivals: list[CrashPoint] = []

    def third(point: CrashPoint) -> None:
        if point is CrashPoint.LEDGER_FSYNC_BEFORE:
            arrivals.append(next(strike))
            if len(arrivals) == 3:
                raise OSError(errno.EIO, "lost")

    with hooked(third):
        result = ledger.apply_steps(ApplyRequest("run", "node", "op", [again, once]))
    assert (result.status, result.stopped_at_step_id, ran) == ("in_doubt", "b", ["a", "a", "b"])
    result = ledger.apply_steps(ApplyRequest("run", "node", "op", [again, once]))
    assert (result.status, result.stopped_at_step_id, ran) == ("in_doubt", "b", ["a", "a", "b"])
