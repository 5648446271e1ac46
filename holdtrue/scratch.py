"""Where the stores under test stand while a command runs, and what its workers inherit of the environment.

In RAM where there is room, unless TMPDIR is set: killing processes needs no disk, and a disk would make every
fsync cost milliseconds. The folder is gone when the command ends; after a SIGKILL, when the next one begins.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from holdtrue.abandoned import owned, remove_abandoned

RAM = Path("/dev/shm")
RAM_NEEDED = 256 * 1024 * 1024


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder for the stores under test, removed at the end."""
    base = Path(tempfile.gettempdir())
    if "TMPDIR" not in os.environ and RAM.is_dir() and os.access(RAM, os.W_OK):
        remove_abandoned(RAM)  # before its room is measured
        base = RAM if shutil.disk_usage(RAM).free >= RAM_NEEDED else base
    remove_abandoned(base)
    with owned(base) as place:
        yield place


def environment_in(place: Path) -> dict[str, str]:
    """What workers inherit. HOLDTRUE_CRASH_AT would kill each of them; hashes vary from run to run. What
    outlives a job, such as an explored graph, is kept in HOLDTRUE_SCRATCH."""
    inherited = {name: value for name, value in os.environ.items() if name != "HOLDTRUE_CRASH_AT"}
    places = {"TMPDIR": str(place), "HOLDTRUE_SCRATCH": str(place)}
    return {**inherited, **places, "PYTHONHASHSEED": "0"}
