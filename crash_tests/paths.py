"""Which marked points each scenario passes, written down: the set that a run must have killed at.

Taking it from a recording instead would let a step that got lost shrink the plan, and nobody would see it.
Here a step that got lost leaves its points unkilled, and the run inconclusive; one that came to be is
killed at as well, and a test asks for it to be written down.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

Steps = tuple[str, ...]

LOCK: Steps = ("lock-acquire",)
READ: Steps = ("identity-read", "state-read")
PUBLISH: Steps = ("state-create", "state-write", "state-fsync", "state-rename", "state-dirsync")
IDENTIFY: Steps = (
    "identity-create",
    "identity-write",
    "identity-fsync",
    "identity-rename",
    "identity-dirsync",
)
UNLOCK: Steps = ("lock-release",)

LOOKS: Steps = (*LOCK, *READ, *UNLOCK)
WRITES: Steps = (*LOCK, *READ, *PUBLISH, *UNLOCK)
SYNCS: Steps = (*LOCK, *READ, "foreign-dirsync", *UNLOCK)
CREATES: Steps = ("lock-create", *LOCK, *READ, *PUBLISH, *IDENTIFY, *UNLOCK)

PASSED: Mapping[str, Steps] = {
    # A directory without a store may be one that a killed opening made: it is synced in its parent first.
    "genesis": ("mkdir-dirsync", *CREATES),
    "genesis-deep": ("mkdir-dirsync", "mkdir", "mkdir-dirsync", "mkdir", "mkdir-dirsync", *CREATES),
    "genesis-completed": (*LOCK, *READ, *IDENTIFY, *UNLOCK),
    # Both files are made before either is renamed: a refused opening writes neither.
    "genesis-overtaken": (*LOCK, *READ, *IDENTIFY[:3], *PUBLISH[:3], *IDENTIFY[3:], *PUBLISH[3:], *UNLOCK),
    "open-again": SYNCS,
    "open-newer-epoch": WRITES,
    "open-newer-epoch-sweeping": WRITES,
    "reserve": WRITES,
    "reserve-again": LOOKS,
    "commit": WRITES,
    "commit-binds": WRITES,
    "renew-reserved": WRITES,
    "renew-committed": WRITES,
    "mark-orphan-suspect": WRITES,
    "normal-release": WRITES,
    "normal-release-parked": WRITES,
    "force-release": WRITES,
    "force-release-again": LOOKS,
    "set-max-active-runs": WRITES,
    "read-reservation": LOOKS,
    "read-command": LOOKS,
    "snapshot": LOOKS,
    "read-epoch": ("state-read", "identity-read"),
    "read-sweeps-to-committed": WRITES,
    "read-sweeps-to-expired": WRITES,
    "foreign-state": SYNCS,
    "sweep-to-committed": WRITES,
    "sweep-to-expired": WRITES,
    "sweep-both-ways": WRITES,
    "sweep-refused": LOOKS,
    "dispatch": LOOKS,
    "dispatch-sweeping": WRITES,
    "refused-capacity": LOOKS,
    "leftover-temp": (*LOCK, "temp-unlink", *READ, *PUBLISH, *UNLOCK),
    "burst": (*WRITES, *WRITES, *WRITES),
}


def points(steps: Steps) -> tuple[str, ...]:
    """The arrivals that `steps` make, as `point#n`, in order."""
    return tuple(_arrivals(steps))


def _arrivals(steps: Steps) -> Iterator[str]:
    seen: Counter[str] = Counter()
    for step in steps:
        moments = ("before", "torn", "after") if step.endswith("-write") else ("before", "after")
        for moment in moments:
            point = f"{step}-{moment}"
            seen[point] += 1
            yield f"{point}#{seen[point]}"
