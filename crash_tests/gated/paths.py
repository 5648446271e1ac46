"""Which marked points each scenario of the ledger passes, written down: what a run must have killed at.

As in `crash_tests.paths`: a step that got lost leaves its points unkilled, and the run inconclusive; one that
came to be is killed at as well, and a test asks for it to be written down. A step that ends in `!` fails: it
has begun (`!!`: half of it is done), and is never over.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

Steps = tuple[str, ...]

LOCK: Final[Steps] = ("lock-acquire",)
UNLOCK: Final[Steps] = ("lock-release",)
READ: Final[Steps] = ("ledger-read",)
OPENED: Final[Steps] = (*LOCK, "recovery", *READ)
CLOSED: Final[Steps] = ("recovery-after", *UNLOCK)
CUT: Final[Steps] = ("ledger-cut", "ledger-cut-fsync")
RENEW: Final[Steps] = (*READ, "ledger-renew", "ledger-renew-fsync")
ASIDE: Final[Steps] = ("mirror-aside", "mirror-dirsync")
REPLAY: Final[Steps] = ("mirror-replay", *READ, "mirror-replay-commit")
BUILD: Final[Steps] = ("mirror-build", *REPLAY, "mirror-build-fsync", "mirror-rename", "mirror-dirsync")
APPEND: Final[Steps] = ("ledger-append", "ledger-fsync")
GATED: Final[Steps] = ("mirror-begin", *APPEND, "mirror-insert", "mirror-commit")
UNDONE: Final[Steps] = ("mirror-begin", "mirror-rollback")
LATE: Final[Steps] = (
    *READ,
    *READ,
    "ledger-renew",
    "ledger-renew-fsync",
    "mirror-replay",
    "mirror-replay-commit",
)

LOOKS: Final[Steps] = (*LOCK, *READ, *UNLOCK)
WRITES: Final[Steps] = (*LOCK, *READ, *GATED, *UNLOCK)
ANSWERS: Final[Steps] = (*LOCK, *READ, *UNDONE, *UNLOCK)

_STEPS: Final[Mapping[str, Steps]] = {
    "first-opening": (
        *("mkdir-dirsync", "lock-create", *LOCK, "recovery", "ledger-create", "ledger-dirsync"),
        *(*BUILD, *CLOSED),
    ),
    "open-again": (*OPENED, *CLOSED),
    "open-torn": (*OPENED, *CUT, *CLOSED),
    "open-behind": (*OPENED, *RENEW, *REPLAY, *CLOSED),
    "open-bad-last-line": (*OPENED, *CUT, *CLOSED),
    "open-mirror-missing": (*OPENED, *RENEW, *BUILD, *CLOSED),
    "open-mirror-empty": (*OPENED, *RENEW, *ASIDE, *BUILD, *CLOSED),
    "open-mirror-corrupt": (*OPENED, *CUT, *RENEW, *ASIDE, *BUILD, *CLOSED),
    "open-mirror-schema": (*OPENED, *RENEW, *ASIDE, *BUILD, *CLOSED),
    "open-mirror-behind": (*OPENED, *RENEW, *REPLAY, *CLOSED),
    "open-refused": (*OPENED, *UNLOCK),
    # Nothing stands before the first line that would have to be looked at.
    "first-transaction": (*LOCK, *GATED, *UNLOCK),
    "transact": WRITES,
    "verify": WRITES,
    "noop": ANSWERS,
    "conflict": ANSWERS,
    "read": LOOKS,
    "burst": (*WRITES, *WRITES, *WRITES),
    "append-full": (
        *(*LOCK, *READ, "mirror-begin", "ledger-append!!", *CUT, "mirror-rollback", *UNLOCK),
        *WRITES,
    ),
    "append-fsync-fails": (
        *(*LOCK, *READ, "mirror-begin", "ledger-append", "ledger-fsync!", *CUT, "mirror-rollback", *UNLOCK),
        *WRITES,
    ),
    "mirror-fails": (
        *(*LOCK, *READ, "mirror-begin", *APPEND, "mirror-insert!", "mirror-rollback", *UNLOCK),
        *(*LOCK, *READ, *LATE, *GATED, *UNLOCK),
    ),
    "commit-fails": (
        *(*LOCK, *READ, "mirror-begin", *APPEND, "mirror-insert", "mirror-commit!", "mirror-rollback"),
        *(*UNLOCK, *LOCK, *READ, *LATE, *UNDONE, *UNLOCK),
    ),
    "another-died-torn": (*LOCK, *READ, *READ, *CUT, *GATED, *UNLOCK),
    "another-died-unseen": (*LOCK, *READ, *LATE, *UNDONE, *UNLOCK),
    "steps": (*LOOKS, *WRITES, *LOOKS, *LOOKS, *WRITES, *WRITES),
    "steps-again": (*LOOKS, *LOOKS, *WRITES),
    "steps-in-doubt": (*LOOKS, *LOOKS),
    "compensation": (*WRITES, *LOOKS, *WRITES, *LOOKS, *WRITES),
    "compensation-again": (*ANSWERS, *LOOKS, *LOOKS, *WRITES),
}


def points(steps: Steps) -> tuple[str, ...]:
    """The arrivals that `steps` make, as `point#n`."""
    return tuple(_arrivals(steps))


def _arrivals(steps: Steps) -> Iterator[str]:
    seen: Counter[str] = Counter()
    for step in steps:
        for point in _points(step):
            seen[point] += 1
            yield f"{point}#{seen[point]}"


def _points(step: str) -> Iterator[str]:
    name = step.rstrip("!")
    if name == "recovery-after":
        yield name
        return
    yield f"{name}-before"
    if name == "ledger-append" and step != f"{name}!":
        yield f"{name}-torn"
    if name == step and name != "recovery":
        yield f"{name}-after"


PASSED: Final[Mapping[str, tuple[str, ...]]] = {name: points(steps) for name, steps in _STEPS.items()}
