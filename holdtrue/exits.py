"""Exit codes, and the errors that end a command with one of them.

A user never sees a traceback: what is expected to go wrong is a `UsageError`; the rest is caught once, in
`holdtrue.cli`, and its details are written to a file.
"""

from enum import IntEnum


class Exit(IntEnum):
    """What a command's exit code says. Scripts rely on these numbers."""

    PASSED = 0
    VIOLATED = 1
    USAGE = 2
    INCONCLUSIVE = 3
    HARNESS_FAILED = 4
    INTERRUPTED = 130
    """Ctrl-C, as shells say it: 128 + SIGINT. SIGTERM ends with 143 and SIGHUP with 129 likewise."""


class UsageError(Exception):
    """What the user asked for can't be done as asked. The message says what, where, and what to do."""


class Terminated(BaseException):
    """SIGTERM or SIGHUP arrived. Like KeyboardInterrupt it is no `Exception`, so that only clean-up code sees
    it. `exit` is the exit code that says so."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit = 128 + number
