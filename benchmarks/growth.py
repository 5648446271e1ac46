"""What an operation costs as the history grows, against one raw atomic publish of the same bytes.

    python -m benchmarks.growth [--directory DIR] [--commits 10 3000]

Both are timed in turn, in one process, on one directory: the store's operation, then a plain exclusive
create, write, fsync, rename and directory fsync of as many bytes as the store's file then has. The figure
is the ratio of the medians. It needs a disk-backed directory; on a RAM-backed one the raw publish costs
next to nothing and the ratio says little, so the file system is printed.

It measures one host that re-reads its own state. A host that reads another's state validates it whole.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

from attrs import frozen

from impl import Coordinator, open_coordinator

BINDING = {
    "project_id": str(uuid.UUID(int=1)),
    "project_control_domain_id": str(uuid.UUID(int=2)),
    "run_id": str(uuid.UUID(int=3)),
}


class Authority:
    """Says yes to everything: each reservation is admitted as number 1, and quiescent when asked."""

    def read_lease(self) -> dict[str, object]:
        return {
            "holderId": "bench",
            "fencingEpoch": 1,
            "endpoint": "local",
            "expiresAt": time.time_ns() // 1_000_000 + 3_600_000,
        }

    def authorize(self, _context: object, _operation: str, _reservation: object) -> dict[str, object]:
        return {"principal": "p", "ownerId": "o", "operator": True}

    def read_admission(self, reservation: dict[str, object]) -> dict[str, object]:
        return self._proof(reservation)

    def read_release(self, reservation: dict[str, object]) -> dict[str, object]:
        return self._proof(reservation) | {
            "proofId": "proof",
            "status": "completed",
            "stage": "done",
            "requiresReadmission": False,
            "providerNoLiveProcessTree": True,
            "noAmbiguousJobs": True,
            "reconcileTimeoutOnly": False,
        }

    @staticmethod
    def _proof(reservation: dict[str, object]) -> dict[str, object]:
        names = ("reservationId", "projectId", "projectControlDomainId", "runId")
        return {name: reservation[name] for name in names} | {"projectAdmitCommitSeq": 1, "runVersion": 1}


@frozen
class Growth:
    """At `commits` commits of history: medians in seconds, the file's size, and their ratio."""

    commits: int
    file_bytes: int
    operation_s: float
    publish_s: float

    @property
    def ratio(self) -> float:
        return self.operation_s / self.publish_s


def file_system(path: Path) -> str:
    """The file system type that `path` lies on, from the mount table; `unknown` where there is none."""
    mounts = Path("/proc/self/mounts")
    if not mounts.exists():
        return "unknown"
    best = ("", "unknown")
    for line in mounts.read_text().splitlines():
        _device, point, kind = line.split()[:3]
        if path.is_relative_to(point) and len(point) >= len(best[0]):
            best = (point, kind)
    return best[1]


def raw_publish(directory: Path, data: bytes) -> None:
    """One atomic publication with nothing around it."""
    temporary, target = directory / "raw.tmp", directory / "raw"
    descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    temporary.rename(target)
    folder = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def grow(store: Coordinator, commits: int) -> None:
    """Runs whole lives of reservations until the history has `commits` commits.

    Without waiting for the disk: only what is measured afterwards has to be real.
    """
    with mock.patch("os.fsync"):
        _live(store, commits)


def _live(store: Coordinator, commits: int) -> None:
    have = _commits(store)
    while have < commits:
        row_id = str(uuid.uuid4())
        store.reserve("c", reservation_id=row_id, ttl_ms=60_000, **BINDING)
        have += 1
        if have < commits:
            store.commit("c", row_id, project_admit_commit_seq=1)
            have += 1
        if have < commits:
            store.normal_release("c", row_id)
            have += 1


def measure(store: Coordinator, scratch: Path, rounds: int) -> Growth:
    """Times `rounds` operations (renewals of a committed row) and raw publishes in turn."""
    row_id = str(uuid.uuid4())
    store.reserve("c", reservation_id=row_id, ttl_ms=60_000, **BINDING)
    store.commit("c", row_id, project_admit_commit_seq=1)
    commits = _commits(store)
    state = Path(store.directory) / "coordinator.json"
    operations, publishes = [], []
    for _ in range(rounds):
        start = time.perf_counter()
        store.renew("c", row_id)
        operations.append(time.perf_counter() - start)
        data = state.read_bytes()
        start = time.perf_counter()
        raw_publish(scratch, data)
        publishes.append(time.perf_counter() - start)
    store.normal_release("c", row_id)
    return Growth(commits, len(data), statistics.median(operations), statistics.median(publishes))


def _commits(store: Coordinator) -> int:
    return store.snapshot("c").commit_seq


def run(parent: Path, sizes: Sequence[int], rounds: int = 41) -> list[Growth]:
    """Measures at each size, smallest first, in a new directory under `parent` that is removed again."""
    with tempfile.TemporaryDirectory(dir=parent, prefix="holdtrue-growth-") as folder:
        scratch = Path(folder) / "raw"
        scratch.mkdir()
        with open_coordinator(
            Path(folder) / "store",
            initial_max_active_runs=3,
            epoch=1,
            holder_id="bench",
            authority=Authority(),
        ) as store:
            figures = []
            for size in sorted(sizes):
                grow(store, size)
                figures.append(measure(store, scratch, rounds))
            return figures


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__.split("\n")[0])
    parser.add_argument("--directory", type=Path, default=Path.cwd(), help="a directory on a disk")
    parser.add_argument("--commits", type=int, nargs="+", default=[10, 3000], metavar="N")
    chosen = parser.parse_args(arguments)
    where = chosen.directory.resolve()
    print(f"file system: {file_system(where)} ({where})")
    print(f"{'commits':>8} {'bytes':>10} {'operation ms':>13} {'publish ms':>11} {'ratio':>6}")
    for figure in run(where, chosen.commits):
        print(
            f"{figure.commits:>8} {figure.file_bytes:>10} {figure.operation_s * 1e3:>13.3f}"
            f" {figure.publish_s * 1e3:>11.3f} {figure.ratio:>6.2f}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
