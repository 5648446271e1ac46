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

from attrs import evolve, frozen

_CHANGING: Final = (
    *("open", "openat", "creat", "write", "pwrite64", "writev", "pwritev", "fsync", "fdatasync"),
    *("sync_file_range", "rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat"),
    *("unlink", "unlinkat", "mkdir", "mkdirat", "rmdir", "truncate", "ftruncate", "fallocate"),
    *("flock", "sendfile", "copy_file_range", "msync"),
)
"""A `?` is put before each: not every architecture has all of them."""
_FCNTLS: Final = frozenset({"fcntl", "fcntl64"})
_LOCKING: Final = (*sorted(_FCNTLS), "close")
_UNCHANGING: Final = frozenset({"flock", *_LOCKING})
"""What takes and gives up locks besides `flock`. A kill there differs in nothing from one before or after."""
_GIVES_UP: Final = re.compile(r"LOCK_UN\b|F_UNLCK\b")
_REMOVES: Final = frozenset({"unlink", "unlinkat"})
_FILE: Final = re.compile(r"\d+<(?P<path>[^>]*)>")
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
    parts: bool = False
    """Whether it gives up a lock, or removes what may be one, and more is changed after it in the flight."""

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


def recording(log: Path, *, locks: bool = False) -> tuple[str, ...]:
    """What to put before a command so that its calls are listed in `log`, as they come.

    With `locks` also those that only take and give up locks.
    """
    names = ",".join(f"?{name}" for name in (*_CHANGING, *(_LOCKING if locks else ())))
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
    locked: set[str] = set()
    here = str(directory)
    for at, thread, name, rest in _calls(log):
        before[thread, name] += 1
        gives_up = _gives_up(name, rest, locked)
        if at < start or here not in rest or (name in _FCNTLS and "SETLK" not in rest):
            continue
        flown[name] += 1
        changes = name not in _UNCHANGING and (name not in _OPENS or _HARMLESS.search(rest) is not None)
        found.append(Place(name, flown[name], before[thread, name], changes, gives_up))
    last = max((at for at, place in enumerate(found) if place.changes), default=0)
    return tuple(evolve(place, parts=place.parts and at < last) for at, place in enumerate(found))


def _gives_up(name: str, rest: str, locked: set[str]) -> bool:
    """Whether that call gives a lock up. `locked` are the files that were ever locked, and is kept up."""
    file = _FILE.match(rest)
    path = "" if file is None else file["path"]
    if name == "flock" or (name in _FCNTLS and "SETLK" in rest):
        locked.add(path)
        return _GIVES_UP.search(rest) is not None
    return name in _REMOVES or (name == "close" and path in locked)


def _calls(log: Path) -> Iterator[tuple[int, str, str, str]]:
    at = 0
    for raw in log.read_bytes().splitlines(keepends=True):
        line = raw.decode("utf-8", "replace")
        match = _LINE.match(line)
        if match is not None and "resumed>" not in line:
            yield at, match["thread"], match["name"], match["rest"]
        at += len(raw)
