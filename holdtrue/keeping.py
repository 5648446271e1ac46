"""A counterexample's evidence: the store's files as they were when the difference was seen, from a replay.

Runs in a worker, as a job. For each moment that counts (the step that differed; each kill, and the end) a
folder holds the files, with `disk-steps.txt` (the marked points that the actions passed, in order) and
`audit.txt` (what `holdtrue audit` says of the store as it stood there). `about.json` tells how the replay
went and what was kept, since a replay on a store that was mended meanwhile shows no difference.

Bounded: files beyond `MOST_FILES`, and bytes beyond `MOST_BYTES`, are left out and named there. Only regular
files are copied; of others their kind is told. Races and tampering leave no such evidence.
"""

import hashlib
import io
import json
import os
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from holdtrue.audit import audit
from holdtrue.exits import UsageError
from holdtrue.out import Printer
from holdtrue.runs import ABOUT
from impl import points
from model.values import JSON
from stateful_tests.results import Job, JobResult

MOST_FILES = 50
MOST_BYTES = 4 * 1024 * 1024
MOST_STEPS = 2000
SHOWN_STEPS = 200
SHOWN_LINES = 80
"""Of the steps and of the audit, what `about.json` repeats: the last of the one, the first of the other."""

STEPS, AUDIT = "disk-steps.txt", "audit.txt"


def keep_evidence(params: Mapping[str, Any]) -> JobResult:
    """Replays `params["trace"]` and keeps its evidence in the folder `params["into"]`, which is made."""
    keeper = _Keeper(Path(params["into"]))
    trace = params["trace"]
    keeper.into.mkdir(parents=True, exist_ok=True)
    status, sentence = _of_kills(trace, keeper) if trace.get("kind") == "kill" else _of_steps(trace, keeper)
    about = {"status": status, "sentence": sentence, "moments": keeper.moments}
    (keeper.into / ABOUT).write_text(json.dumps(about, indent=1) + "\n", "ascii")
    return JobResult(Job("evidence", "", {}), {"moments": len(keeper.moments)})


def _of_kills(trace: Mapping[str, Any], keeper: "_Keeper") -> tuple[str, str]:
    from crash_tests.replays import replay_trace

    again = replay_trace(trace, watch=keeper.keep)
    return again.status, again.sentence


def _of_steps(data: Mapping[str, Any], keeper: "_Keeper") -> tuple[str, str]:
    from stateful_tests.replay import replay
    from stateful_tests.system import system_named
    from stateful_tests.trace import from_json

    trace = from_json(data)
    last = len(trace.steps) - 1

    def watch(record: Any, directory: Path) -> None:
        keeper.passed.append(f"-- step {record.index + 1} has ended")
        if record.divergence is not None or record.index == last:
            keeper.keep(f"step-{record.index + 1}", directory, list(keeper.passed))

    previous = points.install(lambda point: keeper.passed.append(str(point)))
    try:
        again = replay(trace, judge=system_named(trace.system).judge, watch=watch)
    finally:
        points.install(previous)
    return again.status, again.sentence


class _Keeper:
    """Copies what stands in a store's directory, moment by moment."""

    def __init__(self, into: Path) -> None:
        self.into = into
        self.passed: list[str] = []
        self.moments: list[JSON] = []
        self._files, self._bytes = MOST_FILES, MOST_BYTES

    def keep(self, moment: str, directory: Path, steps: Sequence[str]) -> None:
        """Keeps the store in `directory` as it stands now; `steps` are the points that were passed."""
        here = self.into / moment
        here.mkdir(exist_ok=True)
        names = sorted(os.listdir(directory)) if directory.is_dir() else []  # noqa: PTH208  # names, no paths
        files: list[JSON] = [self._file(directory / name, here / "files" / name) for name in names]
        if steps:
            shown = steps[-MOST_STEPS:]
            cut = [f"... {len(steps) - len(shown)} before"] if len(steps) > len(shown) else []
            (here / STEPS).write_text("".join(f"{line}\n" for line in [*cut, *shown]), "ascii")
        stream = io.StringIO()
        previous = points.install(None)  # the audit's own looking is no step of the story
        try:
            audit(directory, Printer(stream))
        except UsageError as error:
            stream.write(f"{error}\n")
        finally:
            points.install(previous)
        told = stream.getvalue().replace(os.fspath(directory.resolve()), "STORE")
        (here / AUDIT).write_text(told, "utf-8", "backslashreplace")
        self.moments.append(
            {
                "moment": moment,
                "there": directory.is_dir(),
                "files": files,
                "steps": list(steps[-SHOWN_STEPS:]),
                "audit": list(told.splitlines()[:SHOWN_LINES]),
            }
        )

    def _file(self, path: Path, copy: Path) -> JSON:
        """Copies one file, within the bounds; what is told of it."""
        told: dict[str, JSON] = {"name": path.name, "kept": False}
        with suppress(OSError):
            status = path.lstat()
            told |= {"mode": stat.filemode(status.st_mode), "bytes": status.st_size}
            if stat.S_ISREG(status.st_mode) and self._files > 0 and status.st_size <= self._bytes:
                content = path.read_bytes()
                copy.parent.mkdir(exist_ok=True)
                copy.write_bytes(content)
                self._files, self._bytes = self._files - 1, self._bytes - len(content)
                told |= {"kept": True, "sha256": hashlib.sha256(content).hexdigest()}
        return told
