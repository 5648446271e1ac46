"""The folder that a run leaves behind: `results.json`, what was rendered from it, and each counterexample.

It is filled under a name that begins with a dot and renamed when the run has ended, so that a folder with a
proper name is always a whole run; on a disk that was full it lacks what did not fit, and says so. Traces are
written as soon as they are found. `manifest.sha256` is written last and lists all other files. `latest` in
the same directory then points to the newest run: the link is replaced in one step, and never missing.
"""

import hashlib
import json
import os
import re
import secrets
import shutil
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from holdtrue.exits import UsageError
from reports.manifest import NAME as MANIFEST
from reports.manifest import manifest

if TYPE_CHECKING:
    from model.values import JSON

LATEST = "latest"
_CHUNK = 1 << 20


class RunFolder:
    """A run's folder within `out`, which is made if need be. UsageError if it can't be made.

    What can't be written later is left out, and `unwritable` says why; a file is whole or not there. `remark`
    says what else went wrong, without harm to the run.
    """

    def __init__(self, out: Path, started: datetime) -> None:
        self.unwritable = ""
        self.remark = ""
        self.name = f"{started.astimezone(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
        self.path = out / self.name
        self._out = out
        self._now = out / f".{self.name}.unfinished"
        try:
            (self._now / "traces").mkdir(parents=True)
        except OSError as error:
            raise UsageError(
                f"no run folder can be made in {str(out)!r}: {error.strerror}; choose another with --out DIR"
            ) from error

    def add_trace(self, label: str, clause: str, trace: "JSON") -> str:
        """Writes a trace; returns its path within the folder. `label` tells it from all others."""
        slug = re.sub(r"[^A-Za-z0-9]+", "-", clause).strip("-")
        slug = (slug if len(slug) <= 40 else slug[:41].rpartition("-")[0] or slug[:40]) or "trace"
        name = f"traces/{label}-{slug}.json"
        self.write(name, (json.dumps(trace, indent=1) + "\n").encode("ascii"))
        return name

    def has(self, name: str) -> bool:
        """Whether that file or folder could be written."""
        return (self._now / name).exists()

    def write(self, name: str, content: bytes) -> bool:
        """Writes a file of that name; whether it could be written."""
        path = self._now / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        except OSError as error:
            self.missing(f"{name}: {error.strerror or error}")
            with suppress(OSError):
                path.unlink(missing_ok=True)
            return False
        return True

    def inside(self, name: str) -> Path:
        """Where something within the folder stands until the run ends."""
        return self._now / name

    def missing(self, why: str) -> None:
        """Notes that something of the folder is missing; the first reason is kept."""
        self.unwritable = self.unwritable or why

    def finish(self) -> Path:
        """Writes the manifest, gives the folder its name, points `latest` to it; returns its path."""
        try:
            digests = {name: _digest(self._now / name) for name in files_below(self._now)}
            self.write(MANIFEST, manifest(digests).encode("utf-8"))
            self._now.rename(self.path)
        except OSError as error:
            self.missing(error.strerror or str(error))
        else:
            self._point()
        return self.path

    def discard(self) -> None:
        """Removes what there is, unless `finish` has given it its name."""
        shutil.rmtree(self._now, ignore_errors=True)

    def _point(self) -> None:
        """Another run may do the same at the same time: either link is right."""
        fresh = self._out / f".{self.name}.latest"
        try:
            fresh.symlink_to(self.name, target_is_directory=True)
            fresh.replace(self._out / LATEST)
        except OSError as error:
            self.remark = f"{shown(self._out / LATEST)} can't point to this run: {error.strerror}"
            with suppress(OSError):
                fresh.unlink(missing_ok=True)


def files_below(folder: Path) -> list[str]:
    """The files below `folder`, by their names relative to it, sorted; links count as files."""
    found = []
    for directory, directories, names in os.walk(folder):
        here = Path(directory)
        links = [name for name in directories if (here / name).is_symlink()]
        found += [(here / name).relative_to(folder).as_posix() for name in (*names, *links)]
    return sorted(found)


def _digest(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    told = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_CHUNK):
            told.update(piece)
    return told.hexdigest()


def shown(path: Path) -> str:
    """`path` as one would type it from here: relative if it lies below the current directory."""
    try:
        return os.fspath(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return os.fspath(path)
