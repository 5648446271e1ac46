"""The folder that a run leaves behind: `results.json`, and each counterexample in `traces/`.

It is filled under a name that begins with a dot and renamed when the run has ended, so that a folder with a
proper name is always a whole run; on a disk that was full it lacks what did not fit, `results.json` first of
all. Traces are written as soon as they are found.
"""

import json
import os
import re
import secrets
import shutil
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from holdtrue.exits import UsageError
from model.values import JSON


class RunFolder:
    """A run's folder within `out`, which is made if need be. UsageError if it can't be made.

    What can't be written later is left out, and `unwritable` says why; a file is whole or not there.
    """

    def __init__(self, out: Path, started: datetime) -> None:
        self.unwritable = ""
        name = f"{started.astimezone(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
        self.path = out / name
        self._now = out / f".{name}.unfinished"
        try:
            (self._now / "traces").mkdir(parents=True)
        except OSError as error:
            raise UsageError(
                f"no run folder can be made in {str(out)!r}: {error.strerror}; choose another with --out DIR"
            ) from error

    def add_trace(self, label: str, clause: str, trace: JSON) -> str:
        """Writes a trace; returns its path within the folder. `label` tells it from all others."""
        slug = re.sub(r"[^A-Za-z0-9]+", "-", clause).strip("-")[:40] or "trace"
        name = f"traces/{label}-{slug}.json"
        self._write(name, trace)
        return name

    def has(self, name: str) -> bool:
        """Whether that trace could be written."""
        return (self._now / name).exists()

    def finish(self, results: JSON) -> Path:
        """Writes `results.json` and gives the folder its name; returns its path."""
        self._write("results.json", results)
        try:
            self._now.rename(self.path)
        except OSError as error:
            self._missing(error)
        return self.path

    def discard(self) -> None:
        """Removes what there is, unless `finish` has given it its name."""
        shutil.rmtree(self._now, ignore_errors=True)

    def _write(self, name: str, value: JSON) -> None:
        path = self._now / name
        try:
            with path.open("w", encoding="utf-8") as file:
                json.dump(value, file, indent=1, sort_keys=False)
                file.write("\n")
        except OSError as error:
            self._missing(error)
            with suppress(OSError):
                path.unlink(missing_ok=True)

    def _missing(self, error: OSError) -> None:
        self.unwritable = self.unwritable or error.strerror or str(error)


def shown(path: Path) -> str:
    """`path` as one would type it from here: relative if it lies below the current directory."""
    try:
        return os.fspath(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return os.fspath(path)
