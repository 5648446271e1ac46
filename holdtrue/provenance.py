"""What was checked, and where: the code's identity, and the machine's.

`code` depends on the project's files alone; `environment` is all that may differ between two runs of the same
code. Nothing here fails: what can't be found out is told as not known, and no report is held up for it.
"""

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from holdtrue import __version__
from model.values import JSON

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("model", "impl", "stateful_tests", "crash_tests", "reports", "holdtrue", "benchmarks")
RESTED_ON = ("attrs", "cattrs", "hypothesis", "networkx", "numpy", "rich")
GIT_S = 10.0
UNKNOWN = "not known"


def code(root: Path = ROOT) -> dict[str, JSON]:
    """The code's identity: version, commit, whether anything is not committed, hashes of sources and lock."""
    commit = _git(root, "rev-parse", "HEAD")
    status = _git(root, "status", "--porcelain", "--untracked-files=normal")
    lock = root / "requirements.lock"
    return {
        "holdtrue": __version__,
        "commit": commit,
        "dirty": None if commit is None or status is None else bool(status),
        "source_sha256": _sources(root),
        "lock_sha256": hashlib.sha256(lock.read_bytes()).hexdigest() if lock.is_file() else None,
    }


def environment(
    *, run: str, folder: str, command: list[str], workers: int, scratch: Path, invocation: str
) -> dict[str, JSON]:
    """Where a run takes place; `scratch` is where its stores stand."""
    packages: dict[str, JSON] = {}
    for name in RESTED_ON:
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            packages[name] = None
    told: list[JSON] = list(command)
    return {
        "run": run,
        "folder": folder,
        "invocation": invocation,
        "command": told,
        "workers": workers,
        "cores": os.cpu_count() or 0,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "machine": _machine(),
        "filesystem": _filesystem(scratch),
        "packages": packages,
        "previous": None,
    }


def invocation(shown: str) -> str:
    """What one types to run this very holdtrue from here: `holdtrue` only if that is what it finds. `shown`
    is our own executable's path as one would type it."""
    ours = Path(sys.executable).with_name("holdtrue")
    found = shutil.which("holdtrue")
    if not ours.exists() or (found is not None and Path(found).samefile(ours)):
        return "holdtrue"
    return shlex.quote(shown)


def _git(root: Path, *arguments: str) -> str | None:
    """What git says; None without git, without a repository of this very project, or in time."""
    if not (root / ".git").exists():
        return None
    try:
        done = subprocess.run(
            ["git", "-C", os.fspath(root), "--no-optional-locks", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=GIT_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace").strip()


def _sources(root: Path) -> str:
    """One hash over all modules and pinned traces, by their names; the order of a directory plays no part."""
    told = hashlib.sha256()
    for package in PACKAGES:
        found = [
            path
            for path in (root / package).rglob("*")
            if path.suffix in (".py", ".json") and "out" not in path.relative_to(root / package).parts[:1]
        ]
        for path in sorted(found):
            with suppress(OSError):
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                told.update(f"{path.relative_to(root).as_posix()}\0{digest}\n".encode())
    return told.hexdigest()


def _machine() -> str:
    """Processor and memory, as Linux tells them."""
    processor, memory = platform.processor() or platform.machine(), ""
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines():
            if line.startswith("model name"):
                processor = line.partition(":")[2].strip()
                break
    with suppress(OSError, ValueError, IndexError):
        first = Path("/proc/meminfo").read_text("ascii").splitlines()[0]
        memory = f", {int(first.split()[1]) / 2**20:.0f} GiB"
    return f"{processor}{memory}"


def _filesystem(place: Path) -> str:
    """The kind of file system that `place` is on, as the kernel's table of mounts names it."""
    best, kind = "", UNKNOWN
    with suppress(OSError):
        at = os.fspath(place.resolve())
        for line in Path("/proc/self/mountinfo").read_text("utf-8", "replace").splitlines():
            left, dash, right = line.partition(" - ")
            fields = left.split(" ")
            if not dash or len(fields) < 5:
                continue
            point = fields[4].encode().decode("unicode_escape", "replace").rstrip("/")
            if (at == point or at.startswith(f"{point}/")) and len(point) >= len(best):
                best, kind = point, right.split(" ")[0]
    return kind
