"""One target process: a line goes in, a line comes out, within a time limit and with bounded memory.

The process leads a group of its own. However it ends, and however we do, the group is killed whole (see
`warden`). Whatever goes wrong is a `TargetFaultError` that says which fault it was: it hung, it died (how,
and with what last words), it flooded its output. Of standard error the last 16 KB are kept.

It knows lines, not their meaning (see `conversation`). Processes that moved to another session are ended
with the group where they can be found (see `escaped`).
"""

import contextlib
import ctypes
import os
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from stateful_tests.wire import escaped, warden
from stateful_tests.wire.endings import exit_of, wait_unreaped
from stateful_tests.wire.faults import DIED, FLOODED, HUNG, NOT_STARTED, TargetFaultError

LONGEST_LINE: Final = 16 * 1024 * 1024
"""Bytes of a reply."""
KEPT_STDERR: Final = 16 * 1024
GRACE_S: Final = 2.0
"""How long a target may take to end once its input has ended."""

_PLACE: Final = "{directory}"
_PR_SET_PDEATHSIG: Final = 1
_LIBC: Final = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
_OURS: Final = frozenset({"HOLDTRUE_CRASH_AT", "PYTHONPATH", "PYTHONHASHSEED"})
"""What our own workers are given, and a target is not."""


def argv_of(command: str, directory: Path) -> list[str]:
    """The words of `command` as a shell would split them, with the directory in its place.

    Raises `ValueError` if there are none, or a quote is left open. No shell runs it.
    """
    words = [word.replace(_PLACE, str(directory)) for word in shlex.split(command)]
    if not words:
        raise ValueError("the command is empty")
    return words


class TargetProcess:
    """`wrapper` are words put before the command's own. Raises `TargetFaultError` if it can't be started."""

    def __init__(self, argv: Sequence[str], *, reply_limit_s: float, wrapper: Sequence[str] = ()) -> None:
        self.reply_limit_s = reply_limit_s
        self._read = bytearray()
        self._searched = 0
        self._stderr = bytearray()
        self._ended: str | None = None
        self._was_killed = False
        self._closed = set[int]()
        self._mark = escaped.fresh_mark()
        warden.ready()
        try:
            self._process = subprocess.Popen(
                [*wrapper, *argv],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**_environment(), escaped.NAME: self._mark},
                start_new_session=True,
                preexec_fn=_die_with_parent,
                bufsize=0,
            )
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            told = error.strerror if isinstance(error, OSError) else str(error)
            raise TargetFaultError(NOT_STARTED, f"{argv[0]}: {told}") from None
        self.pid = self._process.pid
        warden.watch(self.pid)
        streams = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._in, self._out, self._err = (stream.fileno() for stream in streams if stream is not None)
        for descriptor in (self._in, self._out, self._err):
            os.set_blocking(descriptor, False)
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)
        self._poll.register(self._err, select.POLLIN)

    @property
    def was_killed(self) -> bool:
        """Whether it had been killed by SIGKILL when its end was noticed."""
        return self._was_killed

    @property
    def running(self) -> bool:
        """Whether we have not yet ended it."""
        return self._ended is None

    def send(self, line: bytes) -> float:
        """Sends one line; returns the moment by which its reply is due. The newline is added."""
        if self._ended is not None:
            raise TargetFaultError(DIED, self._ended)
        due = time.monotonic() + self.reply_limit_s
        rest = memoryview(line + b"\n")
        while rest:
            try:
                rest = rest[os.write(self._in, rest) :]
            except BlockingIOError:
                self._wait(due, writing=True)
            except BrokenPipeError:
                return due  # it may have said something before, and how it ended shows when that is read
        return due

    def receive(self, due: float) -> bytes:
        """The next line, without its newline."""
        while True:
            end = self._read.find(b"\n", self._searched)
            if end >= 0:
                line = bytes(self._read[:end])
                del self._read[: end + 1]
                self._searched = 0
                if self._read:
                    raise self._fault(FLOODED, "it went on writing after its reply, and nobody had asked")
                return line
            self._searched = len(self._read)
            if len(self._read) > LONGEST_LINE:
                raise self._fault(FLOODED, f"more than {LONGEST_LINE >> 20} MiB without an end of line")
            self._wait(due)

    @property
    def outlets(self) -> set[int]:
        """The descriptors on which something may still be heard, while it runs."""
        return {self._out, self._err} - self._closed

    def listen(self) -> bool:
        """Takes in what it has said by now, without waiting; whether `receive` need not wait any more."""
        for descriptor in self.outlets if self._ended is None else ():
            with contextlib.suppress(BlockingIOError):
                self._take_in(descriptor)
        over = self._ended is not None or self._out in self._closed or len(self._read) > LONGEST_LINE
        return over or b"\n" in self._read

    def stand_still(self) -> None:
        """Stops the group; when this returns the process itself stands, or has ended."""
        if self._signal(signal.SIGSTOP):
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WSTOPPED | os.WNOWAIT)

    def go_on(self) -> None:
        """Wakes the process group."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> bool:
        """Signals the group; whether that could be done."""
        if self._ended is None:  # so it is not reaped, and its number, the group's, is nobody else's by now
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)
                return True
        return False

    def kill(self) -> None:
        """Ends the whole process group at once; the process is reaped."""
        if self._ended is not None:
            return
        self._signal(signal.SIGKILL)
        self._process.wait()
        warden.forget(self.pid)
        escaped.end(self._mark)
        self._drain_stderr()
        self._ended = self._how_it_ended()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            assert stream is not None
            stream.close()

    def kill_after(self, seconds: float) -> bool:
        """Ends the whole process group in so many seconds; whether a whole line had been said by then."""
        select.select([], [], [], seconds)  # to the microsecond: poll knows only milliseconds
        if self._ended is None:
            self._signal(signal.SIGKILL)
            self._process.wait()
            escaped.end(self._mark)
            with contextlib.suppress(BlockingIOError):
                while (piece := os.read(self._out, 1 << 16)) and len(self._read) <= LONGEST_LINE:
                    self._read += piece
        said = b"\n" in self._read
        self.kill()
        return said

    def end(self) -> None:
        """Ends its input, waits a moment, and then ends what is left of the group."""
        if self._ended is not None:
            return
        assert self._process.stdin is not None
        self._process.stdin.close()
        with contextlib.suppress(TargetFaultError):
            due = time.monotonic() + GRACE_S
            while True:  # reads what it still says, so that nothing keeps it from ending
                self._wait(due)
                self._read.clear()
        self.kill()

    def await_death(self, due: float, *, close_input: bool = False) -> bool:
        """Whether it dies of SIGKILL, not by us, by `due`; either way it has ended then.

        What it still says is dropped. With `close_input` it is asked to end.
        """
        if close_input and self._ended is None:
            assert self._process.stdin is not None
            self._process.stdin.close()
        with contextlib.suppress(TargetFaultError):
            while self._ended is None:
                self._wait(due)
                self._read.clear()
        return self._was_killed

    def last_words(self) -> str:
        return self._stderr[-KEPT_STDERR:].decode("utf-8", "replace")

    def _wait(self, due: float, *, writing: bool = False) -> None:
        """Until something can be read (or written); takes it in."""
        left = due - time.monotonic()
        if left <= 0:
            raise self._fault(HUNG, f"no whole reply within {self.reply_limit_s:g} s")
        if writing:
            self._poll.register(self._in, select.POLLOUT)
        for descriptor, _ in self._poll.poll(left * 1000):
            if descriptor == self._in:
                continue
            try:
                piece = self._take_in(descriptor)
            except BlockingIOError:
                continue
            if not piece and descriptor == self._out:
                raise self._fault(DIED, "its output is closed")
            if not piece:
                self._poll.unregister(descriptor)
        if writing:
            self._poll.unregister(self._in)
            if len(self._read) > LONGEST_LINE:
                raise self._fault(FLOODED, f"more than {LONGEST_LINE >> 20} MiB before its reply")

    def _take_in(self, descriptor: int) -> bytes:
        """What can be read there now; nothing at its end. Raises `BlockingIOError`."""
        piece = os.read(descriptor, 1 << 16)
        if not piece:
            self._closed.add(descriptor)
        elif descriptor == self._out:
            self._read += piece
        else:
            self._stderr += piece
            del self._stderr[: -4 * KEPT_STDERR]
        return piece

    def _fault(self, kind: str, told: str) -> TargetFaultError:
        """Ends the group and says how the process ended, if it did so by itself, and its last words."""
        if kind == DIED:
            # Its streams close a moment before it has ended; one that only closed them is not waited for.
            wait_unreaped(self._process.pid, 0.5)
            how = exit_of(self._process.pid)
            self._was_killed = how is not None and how.endswith("SIGKILL")
            told = how or f"{told}, though it runs"
        self.kill()
        words = self.last_words().strip()
        told = f"{told}; on standard error: {words[-600:]}" if words else told
        self._ended = told
        return TargetFaultError(kind, told)

    def _drain_stderr(self) -> None:
        with contextlib.suppress(OSError):
            for _ in range(16):
                piece = os.read(self._err, 1 << 16)
                if not piece:
                    return
                self._stderr += piece
                del self._stderr[: -4 * KEPT_STDERR]

    def _how_it_ended(self) -> str:
        code = self._process.returncode
        return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"


def _environment() -> Mapping[str, str]:
    return {name: value for name, value in os.environ.items() if name not in _OURS}


def _die_with_parent() -> None:
    """In the child: until the warden knows of it, and should the warden be killed, the kernel sees to it."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
