"""For tests that need a program of others: they say that it can't be run, and why, or fail for want of it.

With `HOLDTRUE_TOOLS=required` in the environment, as `.ci/run` sets it, a missing program is a failure.
"""

import os
import shutil
from typing import NoReturn

import pytest


def program(name: str) -> None:
    """Goes on only if that program is there."""
    if shutil.which(name) is None:
        missing(f"{name} is not installed here")


def missing(why: str) -> NoReturn:
    """Skips the test because a program is missing; fails it where programs are required."""
    if os.environ.get("HOLDTRUE_TOOLS") == "required":
        pytest.fail(f"{why}, and HOLDTRUE_TOOLS=required")
    pytest.skip(why)
