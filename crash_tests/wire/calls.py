"""System calls at which a target can be killed from outside, through `strace`: which there are, and how.

A recording run of the target under strace lists the calls that change something; those made during the
actions in flight on the store's directory are the places. For a kill, strace sends SIGKILL as the n-th call
of that name begins, so that it has no effect. `n` counts from the start of the process, by thread, as strace
does; a target whose number of calls differs from run to run is killed somewhere else, which is noticed.

Linux only, and only where strace is installed and may trace; `usable` says so, and why not.
"""

import os
import re
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from attrs import frozen

_CHANGING: Final = (
    *("open", "openat", "creat", "write", "pwrite64", "writev", "pwritev", "fsync", "fdatasync"),
    *("sync_file_range", "rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat"),
    *("unlink", "unlinkat", "mkdir", "mkdirat", "rmdir", "truncate", "ftruncate", "fallocate"),
    *("flock", "sendfile", "copy_file_range", "msync"),
)
"""A `?` is put before each: not every architecture has all of them."""
_LINE: Final = re.compile(r"(?P<thread>\d+) +(?P<name>\w+)\((?P<rest>.*)")
_HARMLESS: Final = re.compile(r"O_(CREAT|TRUNC)")
_OPENS: Final = frozenset({"open", "openat"})


@frozen
class Place:
    """Just before the `nth` call of `name` in the flight; for strace it is number `when` of its thread."""

    name: str
    nth: int
    when: int
    changes: bool

    @property
    def key(self) -> str:
        return f"{self.name}-before#{self.nth}"


def usable() -> str | None:
    """`None` if targets can be killed at system calls here, or why not."""
    if shutil.which("strace") is None:
        return "strace is not installed"
    # Whether it may trace, and really injects: some containers forbid the one, some versions the other.
    done = subprocess.run(
        [
            *_base(Path(os.devnull)),
            "-e",
            "trace=exit_group",
            "-e",
            "inject=exit_group:signal=SIGKILL",
            "true",
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == -signal.SIGKILL:
        return None
    return f"strace does not work here: {done.stderr.strip()[-200:] or f'exit status {done.returncode}'}"


def recording(log: Path) -> tuple[str, ...]:
    """What to put before a command so that its calls are listed in `log`, as they come."""
    names = ",".join(f"?{name}" for name in _CHANGING)
    return (*_base(log), "--seccomp-bpf", "-y", "-e", f"trace={names}")


def killing(place: Place) -> tuple[str, ...]:
    """What to put before a command so that it is killed there."""
    return _signalling("SIGKILL", place)


def stopping(place: Place) -> tuple[str, ...]:
    """What to put before a command so that it stands still as soon as that call is done."""
    return _signalling("SIGSTOP", place)


def _signalling(signalled: str, place: Place) -> tuple[str, ...]:
    inject = f"inject={place.name}:signal={signalled}:when={place.when}"
    return (*_base(Path(os.devnull)), "-e", f"trace={place.name}", "-e", inject)


def _base(log: Path) -> tuple[str, ...]:
    # For a kill without --seccomp-bpf: with it strace 6.1 injects no signal.
    return ("strace", "-f", "-qq", "-e", "signal=none", "-o", str(log))


def places(log: Path, start: int, directory: Path) -> tuple[Place, ...]:
    """The calls that touch `directory`, from byte `start` of `log` on, in their order."""
    before: Counter[tuple[str, str]] = Counter()
    flown: Counter[str] = Counter()
    found: list[Place] = []
    here = str(directory)
    for at, thread, name, rest in _calls(log):
        before[thread, name] += 1
        if at < start or here not in rest:
            continue
        flown[name] += 1
        changes = name != "flock" and (name not in _OPENS or _HARMLESS.search(rest) is not None)
        found.append(Place(name, flown[name], before[thread, name], changes))
    return tuple(found)


def _calls(log: Path) -> Iterator[tuple[int, str, str, str]]:
    at = 0
    for raw in log.read_bytes().splitlines(keepends=True):
        line = raw.decode("utf-8", "replace")
        match = _LINE.match(line)
        if match is not None and "resumed>" not in line:
            yield at, match["thread"], match["name"], match["rest"]
        at += len(raw)
