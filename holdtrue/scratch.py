"""Where the stores under test stand while a command runs, and what its workers inherit of the environment.

In RAM where there is room, unless TMPDIR is set: killing processes needs no disk, and a disk would make every
fsync cost milliseconds. The folder is gone when the command ends, however it ends short of SIGKILL.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

RAM = Path("/dev/shm")
RAM_NEEDED = 256 * 1024 * 1024


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder for the stores under test, removed at the end."""
    base = None
    if "TMPDIR" not in os.environ and RAM.is_dir() and os.access(RAM, os.W_OK):
        base = RAM if shutil.disk_usage(RAM).free >= RAM_NEEDED else None
    place = Path(tempfile.mkdtemp(prefix="holdtrue-", dir=base))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def environment_in(place: Path) -> dict[str, str]:
    """What workers inherit. HOLDTRUE_CRASH_AT would kill each of them; hashes vary from run to run. What
    outlives a job, such as an explored graph, is kept in HOLDTRUE_SCRATCH."""
    inherited = {name: value for name, value in os.environ.items() if name != "HOLDTRUE_CRASH_AT"}
    places = {"TMPDIR": str(place), "HOLDTRUE_SCRATCH": str(place)}
    return {**inherited, **places, "PYTHONHASHSEED": "0"}
