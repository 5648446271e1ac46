"""Children forked from this very process: started, listened to, killed by pid, and always reaped.

Guarantees: a child never returns into its parent's code (it leaves through `os._exit`), a parent never
waits longer than the deadline it was given, and no child outlives the call or the `with` that made it.
Not guaranteed: anything about grandchildren; who makes them ends them.
"""

import gc
import os
import select
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from types import TracebackType
from typing import Self

from attrs import frozen

Say = Callable[[bytes], None]
"""How a child speaks: the bytes go to its parent whole, or, beyond a pipe's 64 KiB, in pieces."""

FAILED = 70
"""Exit status of a child whose work raised; its traceback is the last thing that it said."""

DEADLINE_S = 20.0


class HarnessError(Exception):
    """The harness itself failed, so nothing can be said of the store. Mend the harness, or the machine."""


class MisfitError(HarnessError):
    """What was to be performed makes no sense in this version: a story that is old, or was edited."""


@frozen
class Ended:
    """How a child ended. `status` is the wait status; `said` is all that it had said by then."""

    pid: int
    status: int
    said: bytes
    timed_out: bool = False

    @property
    def killed(self) -> bool:
        """It died of SIGKILL, and not because its deadline had come."""
        return (
            os.WIFSIGNALED(self.status) and os.WTERMSIG(self.status) == signal.SIGKILL and not self.timed_out
        )

    @property
    def finished(self) -> bool:
        return self.status == 0

    def describe(self) -> str:
        """For a message: how it ended, and its last words if they were a traceback."""
        if self.timed_out:
            return "did not end before its deadline"
        if os.WIFSIGNALED(self.status):
            return f"died of {signal.Signals(os.WTERMSIG(self.status)).name}"
        words = self.said.decode("utf-8", "replace")[-2000:] if self.status else ""
        return f"exited with {os.WEXITSTATUS(self.status)}{': ' if words else ''}{words}"


class Child:
    """One forked child that runs `work(say)`. Use it in a `with`, or `wait` for it."""

    def __init__(self, work: Callable[[Say], None], *, inherits: tuple[int, ...] = ()) -> None:
        """`inherits` are descriptors of the parent's that the child closes at once, such as other pipes."""
        self._reader, writer = os.pipe()
        self._said = bytearray()
        self._status: int | None = None
        self.pid = fork()
        if self.pid == 0:
            _run(work, writer, (self._reader, *inherits))
        os.close(writer)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    @property
    def reader(self) -> int:
        """The descriptor on which its words arrive; give it to later children as `inherits`."""
        return self._reader

    def listen(self, marker: bytes, deadline_s: float = DEADLINE_S) -> bytes:
        """Reads until the child has said `marker`; all that it has said so far. Raises `HarnessError`."""
        until = time.monotonic() + deadline_s
        while marker not in self._said:
            if not self._read(until):
                raise HarnessError(f"child {self.pid} never said {marker!r}, but {bytes(self._said)!r}")
        return bytes(self._said)

    def send(self, number: signal.Signals) -> None:
        if self._status is None:
            os.kill(self.pid, number)

    def wait(self, deadline_s: float = DEADLINE_S) -> Ended:
        """Its end, waited for; at the deadline it is killed."""
        until = time.monotonic() + deadline_s
        while self._reader >= 0 and self._read(until):
            pass
        return self._reap(timed_out=self._reader >= 0)

    def end(self) -> None:
        """Kills it if it still lives; reaps it; closes its pipe."""
        if self._status is None:
            self._reap(timed_out=True)

    def _read(self, until: float) -> bool:
        """Takes in some words. False: no more will come, or not in time (then the pipe is still open)."""
        if self._reader < 0:
            return False
        poll = select.poll()
        poll.register(self._reader, select.POLLIN)
        if not poll.poll(max(0.0, until - time.monotonic()) * 1000):
            return False
        if piece := os.read(self._reader, 65536):
            self._said += piece
            return True
        os.close(self._reader)
        self._reader = -1
        return False

    def _reap(self, *, timed_out: bool) -> Ended:
        if self._status is None:
            if timed_out:
                os.kill(self.pid, signal.SIGKILL)
            _, self._status = os.waitpid(self.pid, 0)
        if self._reader >= 0:
            os.close(self._reader)
            self._reader = -1
        return Ended(self.pid, self._status, bytes(self._said), timed_out)


def in_child(work: Callable[[Say], None], *, deadline_s: float = DEADLINE_S) -> Ended:
    """Runs `work(say)` in a child and waits for its end."""
    return Child(work).wait(deadline_s)


def fork() -> int:
    """`os.fork`, without Python's warning about other threads.

    A child of ours runs the store and nothing that takes a lock of another thread's; test runners keep a
    thread for their own messages, which the child does not touch.
    """
    if sys.version_info < (3, 12):
        return os.fork()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _run(work: Callable[[Say], None], writer: int, others: tuple[int, ...]) -> None:
    """The child's whole life. Short as it is, a collection would only copy pages by touching them."""
    gc.disable()
    status = FAILED
    try:
        for descriptor in others:
            if descriptor >= 0:
                os.close(descriptor)
        work(lambda words: _say(writer, words))
        status = 0
    except BaseException:  # noqa: BLE001 - whatever it is, the parent must hear of it, and nobody else can
        _say(writer, traceback.format_exc().encode())
    finally:
        os._exit(status)


def _say(writer: int, words: bytes) -> None:
    while words:
        words = words[os.write(writer, words) :]
