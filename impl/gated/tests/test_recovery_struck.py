"""Recovery whose own steps fail, or that is killed at any of them."""

import os
import signal
from pathlib import Path

import pytest

from impl.gated import open_ledger
from impl.gated.tests.bench import (
    adding,
    failing,
    folded,
    hooked,
    ledger_lines,
    mirrored,
    refused,
    reopened,
    with_events,
)
from impl.gated.tests.damages import lines_of, spoil_mirror
from impl.points import LEDGER_POINTS, CrashPoint


def in_every_need(directory: Path) -> None:
    """A store whose opening has everything to do: cut, renew, set aside, build."""
    with_events(directory, 3)
    with (directory / "ledger.jsonl").open("ab") as ledger:
        ledger.write(b'{"torn')
    spoil_mirror(directory)


FAILING = [
    point.value
    for point in LEDGER_POINTS
    if point.endswith("-before")
    and not point.startswith(
        ("ledger-append", "ledger-fsync", "mirror-begin", "mirror-insert", "mirror-commit", "mirror-rollback")
    )
    and point not in (CrashPoint.LEDGER_CREATE_BEFORE, CrashPoint.LEDGER_DIRSYNC_BEFORE)
]


@pytest.mark.parametrize("point", [point for point in FAILING if point != "recovery-before"])
def test_a_step_of_recovery_that_fails_is_told_and_the_next_opening_goes_on(
    directory: Path, point: str
) -> None:
    in_every_need(directory)
    with failing(point), pytest.raises(Exception, match="injected") as caught:
        open_ledger(directory)
    told = (caught.value.code, caught.value.recoverability)  # type: ignore[attr-defined]  # a LedgerError
    if point.startswith("ledger-cut"):
        assert told == ("LEDGER_APPEND_REQUIRED_FAILED", "in_doubt")
    elif point.startswith("ledger-"):
        assert told == ("LEDGER_APPEND_REQUIRED_FAILED", "retry")
    else:
        assert told == ("SQLITE_MIRROR_FAILED", "in_doubt")
    with open_ledger(directory) as ledger:
        assert ledger.state() == {"count": 3}
        assert ledger.transact(adding("k9")).state == {"count": 4}
    assert reopened(directory)[1] == {"count": 4}


@pytest.mark.parametrize("point", ["ledger-create-before", "ledger-dirsync-before"])
def test_a_first_opening_that_fails_leaves_what_the_next_goes_on_with(directory: Path, point: str) -> None:
    with failing(point):
        refused(lambda: open_ledger(directory), "LEDGER_APPEND_REQUIRED_FAILED", "retry")
    with failing() as passed:
        open_ledger(directory).close()
    assert "ledger-dirsync-after" in passed
    assert reopened(directory)[1] == {}


def killed_at(directory: Path, point: CrashPoint, nth: int = 1) -> bool:
    """Open in a child that is killed at its `nth` arrival at `point`; whether it was."""
    child = os.fork()
    if child == 0:
        arrivals = 0

        def strike(arrived: CrashPoint) -> None:
            nonlocal arrivals
            arrivals += arrived is point
            if arrivals == nth:
                os.kill(os.getpid(), signal.SIGKILL)

        try:
            with hooked(strike):
                open_ledger(directory)
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("nth", [1, 2, 3])
@pytest.mark.parametrize("point", LEDGER_POINTS, ids=str)
def test_a_recovery_killed_anywhere_changes_nothing_of_what_the_next_comes_to(
    directory: Path, point: CrashPoint, nth: int
) -> None:
    in_every_need(directory)
    whole = lines_of(directory)[:3]
    if not killed_at(directory, point, nth):
        assert nth > 1 or point.rpartition("-")[0] in (
            "ledger-create",
            "ledger-dirsync",
            "ledger-append",
            "ledger-fsync",
            "mirror-begin",
            "mirror-insert",
            "mirror-commit",
            "mirror-rollback",
        ), "this point of recovery was never reached"
        return
    killed_at(directory, CrashPoint.MIRROR_REPLAY_COMMIT_BEFORE)
    with open_ledger(directory) as ledger:
        assert ledger.state() == {"count": 3}
        assert ledger.transact(adding("k9")).state == {"count": 4}
    assert lines_of(directory)[:3] == whole
    assert len(ledger_lines(directory)) == 4
    assert mirrored(directory) == (4, folded(directory))
