"""How a child process has ended, without reaping it: until it is reaped its number can't be another's."""

import os
import select
import signal
import time


def wait_unreaped(pid: int, seconds: float) -> None:
    """For its end, so many seconds at most."""
    until = time.monotonic() + seconds
    while exit_of(pid) is None and time.monotonic() < until:
        select.select([], [], [], 0.005)


def exit_of(pid: int) -> str | None:
    """How it ended, without reaping it; `None` while it runs."""
    told = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if told is None:
        return None
    if told.si_code == os.CLD_EXITED:
        return f"it ended by itself, with exit status {told.si_status}"
    return f"it was killed by {signal.Signals(told.si_status).name}"
