"""Programs of others that judge what we write: found, or the test says that it can't be run, and why.

With `HOLDTRUE_TOOLS=required` in the environment, as `.ci/run` sets it, a missing tool is a failure. Tools
from npm are looked for below `HOLDTRUE_NPM` (a folder with `node_modules`), others on the path.
"""

import os
import shutil
from pathlib import Path
from typing import NoReturn

import pytest


def tool(*names: str) -> str:
    """The path of the first of these programs that is there. Skips the test, or fails it, if none is."""
    places = os.environ.get("PATH", "")
    npm = os.environ.get("HOLDTRUE_NPM")
    if npm:
        places = f"{Path(npm) / 'node_modules' / '.bin'}{os.pathsep}{places}"
    found = next((path for path in (shutil.which(name, path=places) for name in names) if path), None)
    if found is None:
        missing(f"{' or '.join(names)} is not installed here")
    return found


def npm_package(name: str) -> Path:
    """The folder of an npm package. Skips the test, or fails it, if it isn't installed."""
    npm = os.environ.get("HOLDTRUE_NPM")
    folder = Path(npm or "/nowhere") / "node_modules" / name
    if not folder.is_dir():
        missing(f"the npm package {name} is not installed below HOLDTRUE_NPM")
    return folder


def missing(why: str) -> NoReturn:
    """Skips the test because a tool is missing; fails it where tools are required."""
    if os.environ.get("HOLDTRUE_TOOLS") == "required":
        pytest.fail(f"{why}, and HOLDTRUE_TOOLS=required")
    pytest.skip(why)
