"""A small real store for the front door's tests, and ways to spoil it."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from impl import open_coordinator

ROW = "00000000-0000-4000-8000-000000000001"


class Authority:
    """Lets everybody do everything, and proves that each run was admitted as number 1."""

    def read_lease(self) -> object:
        later = time.time_ns() // 1_000_000 + 3_600_000
        return {"holderId": "h", "fencingEpoch": 1, "endpoint": "e", "expiresAt": later}

    def authorize(self, context: Any, _operation: str, _reservation: dict[str, Any] | None) -> object:
        return {"principal": str(context), "ownerId": str(context), "operator": True}

    def read_admission(self, reservation: dict[str, Any]) -> object:
        names = ("reservationId", "projectId", "projectControlDomainId", "runId")
        return {**{name: reservation[name] for name in names}, "projectAdmitCommitSeq": 1, "runVersion": 1}

    def read_release(self, reservation: dict[str, Any]) -> object:
        return {"not": reservation}


def make(directory: Path) -> Path:
    """A store with a committed row, a reserved one and a command, closed again."""
    with open_coordinator(
        directory, initial_max_active_runs=2, epoch=1, holder_id="h", authority=Authority()
    ) as store:
        for number in (1, 2):
            store.reserve(
                "alice",
                reservation_id=f"{ROW[:-1]}{number}",
                project_id=ROW,
                project_control_domain_id=ROW,
                run_id=f"{ROW[:-1]}{number}",
                ttl_ms=60_000,
            )
        store.commit("alice", ROW, project_admit_commit_seq=1)
        store.set_max_active_runs("alice", command_id=ROW, max_active_runs=3)
    return directory


def spoil(directory: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Changes the state in its file, hashes left as they were."""
    path = directory / "coordinator.json"
    state = json.loads(path.read_text("utf-8"))
    change(state)
    path.write_text(json.dumps(state) + "\n", encoding="utf-8")


def picture(directory: Path) -> list[tuple[object, ...]]:
    """All that can be seen of a directory: names, bytes, modes, times, inodes."""
    told: list[tuple[object, ...]] = []
    for path in sorted([directory, *directory.rglob("*")]):
        entry = path.lstat()
        content = path.read_bytes() if path.is_file() else b""
        told.append((path.name, content, entry.st_mode, entry.st_mtime_ns, entry.st_ctime_ns, entry.st_ino))
    return told
