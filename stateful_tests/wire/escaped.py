"""Processes that a target has moved out of its group are found, and ended with it, where the kernel tells.

A store that lives on in a daemon would outlive every kill, and one in memory alone would pass for durable.
Each target is given a mark of its own in its environment, which its children inherit; on Linux
`/proc/*/environ` shows what a process was started with.

It does not reach a process that was started with another environment, one of another user's, or a service
that somebody else runs.
"""

import contextlib
import itertools
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Final

NAME: Final = "HOLDTRUE_TARGET"
_PROC: Final = Path("/proc")
_ROUNDS: Final = 20
"""How often it is looked again: whoever forks faster than that gets away."""
_COUNT: Final = itertools.count(1)


def fresh_mark() -> str:
    """A value for `NAME` that no other target has, in this process or another."""
    return f"{os.getpid()}-{next(_COUNT)}-{os.urandom(8).hex()}"


def end(mark: str) -> int:
    """Kills whatever still runs with `mark`; how many processes that were."""
    ended: set[int] = set()
    for _ in range(_ROUNDS):
        found = set(_running(mark))
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not found - ended:
            break
        ended |= found
    return len(ended)


def _running(mark: str) -> Iterator[int]:
    wanted = f"{NAME}={mark}".encode("ascii")
    with contextlib.suppress(OSError):
        for process in _PROC.iterdir():
            if process.name.isdigit():
                # What has ended, even if nobody has reaped it yet, shows no environment.
                with contextlib.suppress(OSError):
                    if wanted in (process / "environ").read_bytes().split(b"\0"):
                        yield int(process.name)
