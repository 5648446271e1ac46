"""An end to waiting for something that hangs in a system call.

Guarantees: in the main thread, what runs longer than it may is broken off by `HungError`, which no
`except Exception` on the way stops. Uses the process's one real-time interval timer, and puts back the
handler that was there.

Elsewhere than in the main thread it does nothing: signals are delivered there alone.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class HungError(BaseException):
    """It took too long. Not an `Exception`: whoever hangs must not be able to explain it away."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raises `HungError` in its body once `seconds` have passed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise HungError(f"it hung for {seconds:g} s")

    previous = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
