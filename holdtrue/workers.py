"""One worker process, seen from the front door: starting it, giving it a job, hearing it, ending it.

Everything a worker writes is read as it comes, so that one that floods its output can't block; of standard
error the last 16 KB are kept. The process leads its own group, which `end` kills whole: children of a runner
go with it.
"""

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from stateful_tests.results import Job

KEPT_STDERR = 16 * 1024
ANSWER_LIMIT = 64 * 1024 * 1024
"""Bytes of one answer. A runner bounds its failures long before that; more is a runaway."""
STACK_MARK = b"(most recent call first)"
"""What faulthandler writes at the head of a stack."""


class WorkerGoneError(Exception):
    """The worker died, or (`nonsense`) said something that no worker says. It is of no further use."""

    def __init__(self, told: str, *, nonsense: bool = False) -> None:
        super().__init__(told)
        self.nonsense = nonsense


class Worker:
    """`job` is the index of the job that it works on, or `None`."""

    def __init__(self, environment: Mapping[str, str], selector: selectors.BaseSelector) -> None:
        self.job: int | None = None
        self._since = 0.0
        self._answers = bytearray()
        self._stderr = bytearray()
        self._searched = 0
        answers, theirs = os.pipe()
        try:
            # -P: a folder named `model` where the user happens to stand must not be taken for ours.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "holdtrue.worker", str(theirs)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=(theirs,),
                env={**environment, "PYTHONPATH": str(Path(__file__).resolve().parent.parent)},
                start_new_session=True,
                bufsize=0,
            )
        except BaseException:
            os.close(answers)
            raise
        finally:
            os.close(theirs)
        self._pipe = answers
        os.set_blocking(answers, False)
        selector.register(
            answers, selectors.EVENT_READ, lambda: self._drain(selector, answers, self._answers)
        )
        stderr = self._stderr_fd()
        os.set_blocking(stderr, False)
        selector.register(stderr, selectors.EVENT_READ, lambda: self._drain(selector, stderr, self._stderr))

    def give(self, index: int, job: Job) -> None:
        """Hands over a job; a worker that is dead by now is noticed by `check`."""
        self.job, self._since = index, time.monotonic()
        line = json.dumps({"id": index, "job": job.to_json()}).encode("ascii") + b"\n"
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line)
        except BrokenPipeError:
            return

    def busy_s(self) -> float:
        return time.monotonic() - self._since

    def take_answer(self) -> dict[str, object] | None:
        """The next whole answer that has arrived, if any. WorkerGoneError if it is none."""
        end = self._answers.find(b"\n", self._searched)
        if end < 0:
            self._searched = len(self._answers)
            if len(self._answers) > ANSWER_LIMIT:
                raise WorkerGoneError(f"an answer of more than {ANSWER_LIMIT >> 20} MB", nonsense=True)
            return None
        line = bytes(self._answers[:end])
        del self._answers[: end + 1]
        self._searched = 0
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        if not isinstance(message, dict):
            raise WorkerGoneError(f"an answer that is no JSON object: {line[:80]!r}", nonsense=True)
        return message

    def check(self) -> None:
        """WorkerGoneError if the process has ended. What it still said can be read first."""
        if os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            return
        self._drain(None, self._pipe, self._answers)
        if b"\n" in self._answers:
            return  # its last answer is whole: take that first
        raise WorkerGoneError(self._how_it_ended())

    def ask_where_it_stands(self, selector: selectors.BaseSelector) -> str:
        """Has the worker write its stack to standard error, for `last_words`; waits up to a second for it."""
        os.kill(self._process.pid, signal.SIGUSR1)
        deadline = time.monotonic() + 1.0
        length, grown = len(self._stderr), time.monotonic()
        while (now := time.monotonic()) < deadline:
            if STACK_MARK in self._stderr and now - grown > 0.2:  # a stack comes in pieces: wait for silence
                break
            for key, _ in selector.select(0.1):
                key.data()
            if len(self._stderr) != length:
                length, grown = len(self._stderr), time.monotonic()
        return "" if STACK_MARK in self._stderr else ", and it does not say where it stands"

    def last_words(self) -> str:
        return self._stderr[-KEPT_STDERR:].decode("utf-8", "replace").strip()

    def end(self, selector: selectors.BaseSelector) -> None:
        """Kills the process and the rest of its group, and reads what it still said. Does nothing twice."""
        if self._process.returncode is not None:
            return
        # Not reaped yet, so its group's number can't be another's by now.
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._drain(selector, self._stderr_fd(), self._stderr)
        for descriptor in (self._pipe, self._stderr_fd()):
            if descriptor in selector.get_map():
                selector.unregister(descriptor)
        os.close(self._pipe)
        for stream in (self._process.stdin, self._process.stderr):
            assert stream is not None
            stream.close()

    def _how_it_ended(self) -> str:
        told = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        assert told is not None
        if told.si_code == os.CLD_EXITED:
            return f"its worker ended by itself, with exit code {told.si_status}"
        return f"its worker was killed by {signal.Signals(told.si_status).name}"

    def _stderr_fd(self) -> int:
        assert self._process.stderr is not None
        return self._process.stderr.fileno()

    def _drain(self, selector: selectors.BaseSelector | None, descriptor: int, into: bytearray) -> None:
        for _ in range(16):  # at most 1 MB in one go, so that a flood leaves time to look at the clock
            try:
                chunk = os.read(descriptor, 65536)
            except BlockingIOError:
                return
            if not chunk:
                if selector is not None and descriptor in selector.get_map():
                    selector.unregister(descriptor)
                return
            into += chunk
        if into is self._stderr:
            del into[: -4 * KEPT_STDERR]
