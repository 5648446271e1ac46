"""The disk steps of both stores, in the order in which they are usually taken.

The order is for people: the columns of the crash matrix and the strip below a kill follow it. A step that is
not in these lists comes last, so that a newer store's points are shown all the same.
"""

from collections.abc import Iterable, Mapping

MOMENTS = ("before", "torn", "after")
_ORDER = (
    *("mkdir", "mkdir-dirsync", "lock-create", "lock-acquire", "identity-read", "state-read"),
    *("foreign-dirsync", "temp-unlink", "state-create", "state-write", "state-fsync", "state-rename"),
    *("state-dirsync", "identity-create", "identity-write", "identity-fsync", "identity-rename"),
    *("identity-dirsync", "recovery", "ledger-create", "ledger-dirsync", "ledger-read", "ledger-renew"),
    *("ledger-renew-fsync", "mirror-aside", "mirror-build", "mirror-replay", "mirror-replay-commit"),
    *("mirror-build-fsync", "mirror-rename", "mirror-dirsync", "mirror-begin", "ledger-append"),
    *("ledger-fsync", "ledger-cut", "ledger-cut-fsync", "mirror-insert", "mirror-commit"),
    *("mirror-rollback", "lock-release"),
)
_PLACE: Mapping[str, int] = {step: at for at, step in enumerate(_ORDER)}
PUBLICATIONS = (
    (
        *("lock-acquire", "state-read", "state-create", "state-write", "state-fsync", "state-rename"),
        *("state-dirsync", "lock-release"),
    ),
    (
        *("lock-acquire", "ledger-read", "mirror-begin", "ledger-append", "ledger-fsync", "mirror-insert"),
        *("mirror-commit", "lock-release"),
    ),
    ("identity-create", "identity-write", "identity-fsync", "identity-rename", "identity-dirsync"),
)
"""What the coordinator does to publish a state, the ledger to commit an event, genesis to name its
directory."""


def step_of(point: str) -> tuple[str, str]:
    """The disk step of a marked point, and the moment of it: before, torn or after."""
    step, _, moment = point.rpartition("-")
    return (step, moment) if moment in MOMENTS else (point, "")


def in_order(points: Iterable[str]) -> list[str]:
    """`points` in the order of their steps and moments; unknown steps come last, by name."""

    def key(point: str) -> tuple[int, str, int]:
        step, moment = step_of(point)
        at = MOMENTS.index(moment) if moment in MOMENTS else len(MOMENTS)
        return (_PLACE.get(step, len(_PLACE)), step, at)

    return sorted(points, key=key)
