"""Nobody outlives us: a small process that ends the targets' process groups when this process is gone.

Each target leads a process group of its own, so whatever ends *our* group does not reach it. The warden
stands outside, too, in a session of its own, and knows the groups that are running; when its input ends,
which the kernel sees to however we die, it kills them all and goes.

It is started with the first target and told of each group's beginning and end. It does not reach a process
that has moved itself to another session.
"""

import os
import sys
from typing import Final

_SCRIPT: Final = """
import os, signal, sys
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
groups = set()
for line in iter(sys.stdin.buffer.readline, b""):
    group = int(line[1:])
    groups.add(group) if line[:1] == b"+" else groups.discard(group)
for group in groups:
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
"""


class _Warden:
    """At work for the process `owner`; a fork of it needs one of its own."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        theirs, self._pipe = os.pipe()
        try:
            # Not subprocess: its objects complain when they go away while the process still runs.
            self.pid = os.posix_spawn(
                sys.executable,
                [sys.executable, "-I", "-S", "-c", _SCRIPT],
                {},
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, theirs, 0),
                    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                    (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
                ],
                setsid=True,
            )
        finally:
            os.close(theirs)

    def tell(self, sign: bytes, group: int) -> None:
        os.write(self._pipe, b"%s%d\n" % (sign, group))

    def leave(self) -> None:
        os.close(self._pipe)


_WARDEN: list[_Warden] = []


def _at_work() -> _Warden:
    if not _WARDEN or _WARDEN[0].owner != os.getpid():
        for inherited in _WARDEN:
            inherited.leave()  # or it would wait for our end, too
        _WARDEN[:] = [_Warden()]
    return _WARDEN[0]


def ready() -> None:
    """Makes sure that a warden is there, before a target is started."""
    _at_work()


def watch(group: int) -> None:
    """From now on `group` is ended with us."""
    _at_work().tell(b"+", group)


def forget(group: int) -> None:
    """`group` has ended; its number may be somebody else's by now."""
    _at_work().tell(b"-", group)
