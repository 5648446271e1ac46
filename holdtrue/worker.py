"""`python -m holdtrue.worker FD`: a process that runs jobs for the front door, one at a time.

Jobs come as JSON lines on standard input, `{"id": 3, "job": {…}}`; each is answered by one JSON line on the
file descriptor FD: `{"id": 3, "result": {…}}`, or `{"id": 3, "error": "…", "details": "…"}` if the runner
raised. Whatever a runner prints goes to standard error, so that it can't be taken for an answer. The worker
ends at the end of its input, and when the process that started it dies.

It does not guard itself against a runner that hangs or kills it: whoever started it watches for that. On
SIGUSR1 it writes to standard error where it stands.
"""

import faulthandler
import json
import os
import signal
import sys
import traceback
from typing import BinaryIO

PR_SET_PDEATHSIG = 1
FORKED_CHILD_ESCAPED = 70


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or not arguments[0].isdigit():
        print("holdtrue.worker is started by 'holdtrue check'; it is of no use by itself", file=sys.stderr)
        return 2
    _die_with_parent()
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    with _private_input() as jobs, open(int(arguments[0]), "wb", buffering=0) as answers:  # noqa: PTH123  # a descriptor, no path
        os.set_inheritable(answers.fileno(), False)
        for line in jobs:
            _answer(answers, _run(json.loads(line)))
    return 0


def _run(message: dict[str, object]) -> dict[str, object]:
    me = os.getpid()
    try:
        from stateful_tests.results import Job, run_job

        answer: dict[str, object] = {
            "id": message["id"],
            "result": run_job(Job.from_json(message["job"])).to_json(),
        }
    except BaseException as error:  # noqa: BLE001  # also sys.exit() in a runner: a job must never vanish
        told = f"{type(error).__name__}: {error}"
        answer = {"id": message["id"], "error": told[:2000], "details": traceback.format_exc()[-20_000:]}
    if os.getpid() != me:
        # A child that a runner forked came back here instead of ending. It must not answer in our name.
        os._exit(FORKED_CHILD_ESCAPED)
    return answer


def _answer(answers: BinaryIO, message: dict[str, object]) -> None:
    rest = memoryview(json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n")
    while rest:
        rest = rest[answers.write(rest) :]


def _private_input() -> BinaryIO:
    """Standard input under a descriptor of our own; runners and their children see an empty one."""
    jobs = os.dup(0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return open(jobs, "rb")  # noqa: PTH123  # a descriptor, no path; the caller closes it


def _die_with_parent() -> None:
    """Asks the kernel to kill this process when its parent dies. Where that can't be had, the end of
    standard input still ends it, after the job at hand."""
    if sys.platform != "linux":
        return
    import ctypes

    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
