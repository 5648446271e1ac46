"""What can be done to a store's files as files: kinds, links, modes, owners.

Guarantees: each damage leaves the file's content reachable where that makes sense, so that the damage is
the only thing wrong.
"""

import os
import shutil
import socket
import stat
from collections.abc import Callable
from pathlib import Path

from impl.tests.independent import LOCK

Damage = Callable[[Path], object]


def aside(path: Path) -> Path:
    """A copy outside the store's directory, so that a link to it is the only thing wrong."""
    copy = path.parent.parent / ("aside-" + path.name)
    shutil.copy2(path, copy)
    return copy


def as_symlink(path: Path) -> None:
    target = aside(path)
    path.unlink()
    path.symlink_to(target)


def as_dangling_symlink(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.parent.parent / "nowhere")


def as_symlink_to_itself(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


def as_symlink_within(path: Path) -> None:
    path.rename(path.with_name("moved-" + path.name))
    path.symlink_to("moved-" + path.name)


def as_hard_link(path: Path) -> None:
    (path.parent.parent / "second-link").hardlink_to(path)


def as_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


def as_directory(path: Path) -> None:
    path.unlink()
    path.mkdir(mode=0o700)


def as_socket(path: Path) -> None:
    path.unlink()
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))
    path.chmod(0o600)


def as_device(path: Path) -> None:
    """The null device: reading it would end at once, writing it would lose everything."""
    path.unlink()
    os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 3))


def with_mode(mode: int) -> Damage:
    def change(path: Path) -> None:
        path.chmod(mode)

    return change


def given_away(path: Path) -> None:
    os.chown(path, 65534, 65534)


MODES = (0o666, 0o640, 0o604, 0o620, 0o602, 0o610, 0o601, 0o677, 0o777)


DAMAGES: dict[str, Damage] = {
    "symlink": as_symlink,
    "dangling symlink": as_dangling_symlink,
    "symlink to itself": as_symlink_to_itself,
    "symlink within": as_symlink_within,
    "hard link": as_hard_link,
    "fifo": as_fifo,
    "directory": as_directory,
    "socket": as_socket,
    **{f"mode {mode:o}": with_mode(mode) for mode in MODES},
}


ROOT_DAMAGES: dict[str, Damage] = {"another owner": given_away, "device": as_device}


FILES = ("coordinator.json", "coordinator.identity.json", LOCK)


def replaced(path: Path) -> None:
    path.rename(path.parent.parent / "former")
    path.touch(mode=0o600)
