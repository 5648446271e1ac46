"""Removes a folder whatever a store under test has made of it, be it nested deeper than any path is long.

`shutil.rmtree` gives up with a `RecursionError` there, and whoever came later would meet the folder again.
Links are not followed. What can't be removed stays, and nothing is raised for it.
"""

import contextlib
import itertools
import os
import shutil
from pathlib import Path


def remove(folder: Path) -> None:
    """Removes `folder` and everything in it."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except RecursionError:
        with contextlib.suppress(OSError):
            _remove_level_by_level(folder)


def _remove_level_by_level(folder: Path) -> None:
    """Empties folders into the top one before they go, so that no path is ever long."""
    numbers = itertools.count()
    stem = f".removing-{os.urandom(8).hex()}"
    while entries := list(os.scandir(folder)):
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                Path(entry.path).unlink()
                continue
            for inner in list(os.scandir(entry.path)):
                Path(inner.path).rename(folder / f"{stem}-{next(numbers)}")
            Path(entry.path).rmdir()
    folder.rmdir()
