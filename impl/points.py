"""The marked points of the store's disk work, and the one hook that is told of them.

Guarantees: `CrashPoint` is the closed set. Every step announces itself before and after; a write also
half-way (`…-torn`), with the first half really written. Without a hook an announcement costs one
comparison. A hook may return, kill the process, block, or raise `OSError`: then the step fails as if the
system call had. `HOLDTRUE_CRASH_AT=<point>[:n]` installs a hook that SIGKILLs this process at the n-th
arrival.

Doesn't: touch a file. That is `disk`, which also offers this module's names.
"""

import os
import signal
from collections.abc import Callable
from enum import StrEnum
from typing import Final

CRASH_ENV: Final = "HOLDTRUE_CRASH_AT"


class CrashPoint(StrEnum):
    """Where a process can be struck: the closed set."""

    MKDIR_BEFORE = "mkdir-before"
    MKDIR_AFTER = "mkdir-after"
    MKDIR_DIRSYNC_BEFORE = "mkdir-dirsync-before"
    MKDIR_DIRSYNC_AFTER = "mkdir-dirsync-after"
    LOCK_CREATE_BEFORE = "lock-create-before"
    LOCK_CREATE_AFTER = "lock-create-after"
    LOCK_ACQUIRE_BEFORE = "lock-acquire-before"
    LOCK_ACQUIRE_AFTER = "lock-acquire-after"
    LOCK_RELEASE_BEFORE = "lock-release-before"
    LOCK_RELEASE_AFTER = "lock-release-after"
    TEMP_UNLINK_BEFORE = "temp-unlink-before"
    TEMP_UNLINK_AFTER = "temp-unlink-after"
    IDENTITY_READ_BEFORE = "identity-read-before"
    IDENTITY_READ_AFTER = "identity-read-after"
    STATE_READ_BEFORE = "state-read-before"
    STATE_READ_AFTER = "state-read-after"
    STATE_CREATE_BEFORE = "state-create-before"
    STATE_CREATE_AFTER = "state-create-after"
    STATE_WRITE_BEFORE = "state-write-before"
    STATE_WRITE_TORN = "state-write-torn"
    STATE_WRITE_AFTER = "state-write-after"
    STATE_FSYNC_BEFORE = "state-fsync-before"
    STATE_FSYNC_AFTER = "state-fsync-after"
    STATE_RENAME_BEFORE = "state-rename-before"
    STATE_RENAME_AFTER = "state-rename-after"
    STATE_DIRSYNC_BEFORE = "state-dirsync-before"
    STATE_DIRSYNC_AFTER = "state-dirsync-after"
    IDENTITY_CREATE_BEFORE = "identity-create-before"
    IDENTITY_CREATE_AFTER = "identity-create-after"
    IDENTITY_WRITE_BEFORE = "identity-write-before"
    IDENTITY_WRITE_TORN = "identity-write-torn"
    IDENTITY_WRITE_AFTER = "identity-write-after"
    IDENTITY_FSYNC_BEFORE = "identity-fsync-before"
    IDENTITY_FSYNC_AFTER = "identity-fsync-after"
    IDENTITY_RENAME_BEFORE = "identity-rename-before"
    IDENTITY_RENAME_AFTER = "identity-rename-after"
    IDENTITY_DIRSYNC_BEFORE = "identity-dirsync-before"
    IDENTITY_DIRSYNC_AFTER = "identity-dirsync-after"
    FOREIGN_DIRSYNC_BEFORE = "foreign-dirsync-before"
    FOREIGN_DIRSYNC_AFTER = "foreign-dirsync-after"

    # Of the second system (`impl.gated`): its ledger, its mirror, its recovery.
    RECOVERY_BEFORE = "recovery-before"
    RECOVERY_AFTER = "recovery-after"
    LEDGER_CREATE_BEFORE = "ledger-create-before"
    LEDGER_CREATE_AFTER = "ledger-create-after"
    LEDGER_DIRSYNC_BEFORE = "ledger-dirsync-before"
    LEDGER_DIRSYNC_AFTER = "ledger-dirsync-after"
    LEDGER_READ_BEFORE = "ledger-read-before"
    LEDGER_READ_AFTER = "ledger-read-after"
    LEDGER_APPEND_BEFORE = "ledger-append-before"
    LEDGER_APPEND_TORN = "ledger-append-torn"
    LEDGER_APPEND_AFTER = "ledger-append-after"
    LEDGER_FSYNC_BEFORE = "ledger-fsync-before"
    LEDGER_FSYNC_AFTER = "ledger-fsync-after"
    LEDGER_CUT_BEFORE = "ledger-cut-before"
    LEDGER_CUT_AFTER = "ledger-cut-after"
    LEDGER_CUT_FSYNC_BEFORE = "ledger-cut-fsync-before"
    LEDGER_CUT_FSYNC_AFTER = "ledger-cut-fsync-after"
    LEDGER_RENEW_BEFORE = "ledger-renew-before"
    LEDGER_RENEW_AFTER = "ledger-renew-after"
    LEDGER_RENEW_FSYNC_BEFORE = "ledger-renew-fsync-before"
    LEDGER_RENEW_FSYNC_AFTER = "ledger-renew-fsync-after"
    MIRROR_BEGIN_BEFORE = "mirror-begin-before"
    MIRROR_BEGIN_AFTER = "mirror-begin-after"
    MIRROR_INSERT_BEFORE = "mirror-insert-before"
    MIRROR_INSERT_AFTER = "mirror-insert-after"
    MIRROR_COMMIT_BEFORE = "mirror-commit-before"
    MIRROR_COMMIT_AFTER = "mirror-commit-after"
    MIRROR_ROLLBACK_BEFORE = "mirror-rollback-before"
    MIRROR_ROLLBACK_AFTER = "mirror-rollback-after"
    MIRROR_REPLAY_BEFORE = "mirror-replay-before"
    MIRROR_REPLAY_AFTER = "mirror-replay-after"
    MIRROR_REPLAY_COMMIT_BEFORE = "mirror-replay-commit-before"
    MIRROR_REPLAY_COMMIT_AFTER = "mirror-replay-commit-after"
    MIRROR_ASIDE_BEFORE = "mirror-aside-before"
    MIRROR_ASIDE_AFTER = "mirror-aside-after"
    MIRROR_BUILD_BEFORE = "mirror-build-before"
    MIRROR_BUILD_AFTER = "mirror-build-after"
    MIRROR_BUILD_FSYNC_BEFORE = "mirror-build-fsync-before"
    MIRROR_BUILD_FSYNC_AFTER = "mirror-build-fsync-after"
    MIRROR_RENAME_BEFORE = "mirror-rename-before"
    MIRROR_RENAME_AFTER = "mirror-rename-after"
    MIRROR_DIRSYNC_BEFORE = "mirror-dirsync-before"
    MIRROR_DIRSYNC_AFTER = "mirror-dirsync-after"


_OF_THE_LEDGER: Final = ("recovery", "ledger", "mirror")
LEDGER_POINTS: Final = tuple(point for point in CrashPoint if point.startswith(_OF_THE_LEDGER))
"""The points that only ledger-gated transactions pass."""
COORDINATOR_POINTS: Final = tuple(point for point in CrashPoint if point not in LEDGER_POINTS)
"""The points that the coordinator passes. Those of directory, lock and leftovers are the ledger's too."""

Hook = Callable[[CrashPoint], None]
_hook: Hook | None = None
_environment_seen: str | None = None


def install(hook: Hook | None) -> Hook | None:
    """Make `hook` the one that is told of every step (None: nobody); answers the hook it replaces."""
    global _hook  # the one place where the process-wide hook changes
    previous, _hook = _hook, hook
    return previous


def kill_at(point: CrashPoint, n: int = 1) -> Hook:
    """A hook that SIGKILLs this process at the `n`-th arrival at `point`."""
    left = n

    def strike(arrived: CrashPoint) -> None:
        nonlocal left
        if arrived is point:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    return strike


def parse_crash_at(text: str) -> tuple[CrashPoint, int]:
    """`<point>[:n]` as point and count. Raises ValueError that names the valid points."""
    name, colon, count = text.partition(":")
    if name not in set(CrashPoint):
        raise ValueError(f"{CRASH_ENV}={text!r}: no such point. Points: {', '.join(CrashPoint)}")
    if not colon:
        return CrashPoint(name), 1
    if not (count.isascii() and count.isdecimal() and 0 < len(count) <= 9 and int(count) > 0):
        raise ValueError(f"{CRASH_ENV}={text!r}: after the colon goes a count from 1. E.g. {name}:2")
    return CrashPoint(name), int(count)


def install_from_environment() -> None:
    """Honour HOLDTRUE_CRASH_AT, once per value. Raises ValueError for a bad one."""
    global _environment_seen  # the count must go on over several openings in one process
    text = os.environ.get(CRASH_ENV)
    if text == _environment_seen:
        return
    if text:
        point, n = parse_crash_at(text)
        install(kill_at(point, n))
    _environment_seen = text


def hooked() -> bool:
    """Whether anybody is told: only then is a write done in two halves."""
    return _hook is not None


def tell(subject: str, moment: str) -> None:
    """Announce one step."""
    if _hook is not None:
        _hook(CrashPoint(f"{subject}-{moment}"))
