"""What can be computed of the arguments for survivors: that the lines are there, and numbers and modes.

Doesn't: prove an argument. It keeps one from standing where its code, or what it says of numbers, is no more.
"""

import os
import stat
from types import SimpleNamespace
from typing import Any

import pytest

from crash_tests.planted.explained import EXPLAINED, GROUPS, Explained
from crash_tests.planted.mutation import ROOT
from impl import disk, files

groups = pytest.mark.parametrize("group", GROUPS, ids=lambda group: f"{group.file}: {group.line}")
OPENINGS = [group for group in GROUPS if "os.O_" in group.line]
SIZES = [group for group in GROUPS if "<< " in group.sound and "read" in group.line]
KINDS = [group for group in GROUPS if group.file == "impl/files.py"]


def lines_of(group: Explained) -> list[str]:
    return [line.strip() for line in (ROOT / group.file).read_text(encoding="utf-8").splitlines()]


@groups
def test_an_argument_is_about_a_line_that_stands_there_once(group: Explained) -> None:
    sound = group.line.replace("{}", group.sound)
    assert lines_of(group).count(sound) == 1
    others = [group.line.replace("{}", other) for other in group.others]
    assert not {sound, *lines_of(group)} & set(others)
    assert len(set(others)) == len(others)
    assert group.argument.endswith(".")


def test_no_line_is_explained_twice() -> None:
    assert len(EXPLAINED) == sum(len(group.others) for group in GROUPS)


@pytest.mark.parametrize("group", OPENINGS, ids=lambda group: group.line)
def test_flags_that_are_explained_open_alike(group: Explained) -> None:
    """But for what Python sets anyway, what a new file doesn't mind, and a bit that no flag has."""
    flags = group.line[group.line.index("os.O_") :].rstrip(")")
    makes = "O_CREAT" in flags
    indifferent = os.O_CLOEXEC | (os.O_NONBLOCK | 1 << 30 if makes else 0)
    named = [getattr(os, name) for name in dir(os) if name.startswith("O_")]
    assert not any(flag & 1 << 30 for flag in named)
    sound = eval(flags.replace("{}", group.sound), {"os": os})
    for other in group.others:
        assert (eval(flags.replace("{}", other), {"os": os}) ^ sound) & ~indifferent == 0, other
    descriptor = os.open(ROOT, os.O_RDONLY)
    assert not os.get_inheritable(descriptor)
    os.close(descriptor)


@pytest.mark.parametrize("group", SIZES, ids=lambda group: group.line)
def test_sizes_that_are_explained_are_such_as_can_be_read(group: Explained) -> None:
    least = 0 if "_read_all" in group.line else 1  # one byte more than that is asked for
    for text in group.others:
        size = eval(text)
        assert type(size) is int
        assert least <= size < 1 << 30


@pytest.mark.parametrize("group", KINDS, ids=lambda group: group.line)
def test_the_quick_look_at_a_file_never_lets_pass_what_the_slow_one_would_not(
    group: Explained, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "own_uid", lambda: 7)
    looks = [
        SimpleNamespace(st_mode=kind | mode, st_uid=uid, st_nlink=links)
        for kind in (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK, stat.S_IFIFO, stat.S_IFSOCK, stat.S_IFCHR)
        for mode in (0, 0o600, 0o400, 0o700, 0o601, 0o604, 0o620, 0o660, 0o666, 0o777, 0o4600, 0o7777)
        for uid, links in ((7, 1), (6, 1), (8, 1), (7, 0), (7, 2))
    ]
    source = (ROOT / group.file).read_text(encoding="utf-8")
    for other in group.others:
        changed = source.replace(group.line.replace("{}", group.sound), group.line.replace("{}", other))
        assert changed != source
        names: dict[str, Any] = {"__name__": "changed"}
        exec(compile(changed, group.file, "exec"), names)
        for look in looks:
            assert not names["_is_private"](look) or not list(files.file_faults("file", look)), (other, look)  # type: ignore[arg-type]  # all that is looked at
