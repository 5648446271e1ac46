"""The system calls themselves: what an opening follows, waits for, makes and lets through.

Guarantees: no way of opening a file follows a symlink, waits for whoever else should open a FIFO, or makes a
file that it was not asked for; what is read is the whole file, however large, also if it grows or shrinks
just then; what has the right mode already isn't touched again.

Doesn't: look at the order of steps. `test_points` and `test_cost` do.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from impl import disk, disklog, lockfile
from impl.tests.workbench import Bench, at_once, photograph, workbench

Opener = Callable[[str], object]


@pytest.fixture
def bench() -> Iterator[Bench]:
    with workbench() as made:
        made.directory.mkdir(mode=0o700)
        yield made


def closing(open_it: Callable[[str], int | None]) -> Opener:
    """Opens, and closes again; None if nothing was there."""

    def use(path: str) -> object:
        descriptor = open_it(path)
        if descriptor is not None:
            os.close(descriptor)
        return descriptor

    return use


def locking(path: str) -> object:
    lockfile.close_lock(lockfile.open_lock(path))
    return path


def copying(path: str) -> object:
    disklog.copy_file(path, f"{path}.copy")
    return path


READERS: dict[str, Opener] = {
    "state": lambda path: disk.read_file("state", path, lambda _: None),
    "identity": lambda path: disk.read_file("identity", path, lambda _: None),
    "ledger": closing(disklog.open_ledger),
    "ledger, to look at": closing(disklog.open_read_only),
    "header": lambda path: disklog.read_header(path, 100),
    "copy": copying,
}
MAKERS: dict[str, Opener] = {
    "draft": closing(lambda path: disk.create_temp("state", path)),
    "private file": closing(disk.create_private),
    "new ledger": closing(disklog.create_ledger),
    "new mirror": lambda path: disklog.create_mirror(path),
}
OTHERS: dict[str, Opener] = {"lock": locking, "synced mirror": lambda path: disklog.sync_mirror(path)}


@pytest.mark.parametrize("use", (READERS | OTHERS).values(), ids=READERS | OTHERS)
def test_nothing_is_opened_through_a_symlink(bench: Bench, use: Opener) -> None:
    (bench.directory / "target").write_bytes(b"x")
    (bench.directory / "link").symlink_to("target")
    (bench.directory / "dangling").symlink_to("nowhere")
    before = photograph(bench.directory)
    for name in ("link", "dangling"):
        with pytest.raises(OSError, match="link") as caught:
            use(str(bench.directory / name))
        assert caught.value.errno == errno.ELOOP
    assert photograph(bench.directory) == before


@pytest.mark.parametrize("use", (READERS | {"lock": locking}).values(), ids=[*READERS, "lock"])
def test_nobody_waits_for_the_other_end_of_a_fifo(bench: Bench, use: Opener) -> None:
    fifo = bench.directory / "fifo"
    os.mkfifo(fifo, 0o600)
    with at_once(5.0), contextlib.suppress(OSError):  # it opens, and may then have nothing to say
        use(str(fifo))
    assert stat.S_ISFIFO(fifo.lstat().st_mode)


@pytest.mark.parametrize("use", READERS.values(), ids=READERS)
def test_reading_what_is_missing_makes_nothing(bench: Bench, use: Opener) -> None:
    with contextlib.suppress(FileNotFoundError):  # a copy of it
        assert use(str(bench.directory / "missing")) in (None, b"")
    assert list(bench.directory.iterdir()) == []


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_new_file_takes_nobodys_place(bench: Bench, make: Opener) -> None:
    (bench.directory / "file").write_bytes(b"x")
    (bench.directory / "link").symlink_to("file")
    (bench.directory / "dangling").symlink_to("nowhere")
    os.mkfifo(bench.directory / "fifo")
    before = photograph(bench.directory)
    for name in before:
        with pytest.raises(FileExistsError):
            make(str(bench.directory / name))
    assert photograph(bench.directory) == before


@pytest.mark.parametrize("make", (MAKERS | {"lock": locking}).values(), ids=[*MAKERS, "lock"])
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o377, 0o777])
def test_a_new_file_is_its_owners_alone_whatever_the_umask(bench: Bench, make: Opener, umask: int) -> None:
    former = os.umask(umask)
    try:
        make(str(bench.directory / "new"))
        disk.make_directory(str(bench.directory / "folder"))
    finally:
        os.umask(former)
    assert stat.S_IMODE((bench.directory / "new").stat().st_mode) == 0o600
    assert stat.S_IMODE((bench.directory / "folder").stat().st_mode) == 0o700


def test_a_file_system_that_changes_no_modes_is_no_hindrance_where_they_are_right(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "modes can't be changed here")

    monkeypatch.setattr(os, "chmod", refuse)
    monkeypatch.setattr(os, "fchmod", refuse)
    assert disk.make_directory(str(bench.directory / "folder"))
    for name, make in (MAKERS | {"lock": locking}).items():
        make(str(bench.directory / name))
        assert stat.S_IMODE((bench.directory / name).stat().st_mode) == 0o600


def test_a_directory_that_is_there_already_is_left_as_it_is(bench: Bench) -> None:
    bench.directory.chmod(0o750)
    assert not disk.make_directory(str(bench.directory))
    assert stat.S_IMODE(bench.directory.stat().st_mode) == 0o750


def test_only_a_directory_is_synced_as_one(bench: Bench) -> None:
    (bench.directory / "file").touch()
    os.mkfifo(bench.directory / "fifo")
    disk.sync_directory("state", str(bench.directory))
    for name in ("file", "fifo"):
        with at_once(5.0), pytest.raises(NotADirectoryError):
            disk.sync_directory("state", str(bench.directory / name))


SIZES = (0, 1, 2, 3, 19, 20, 21, 4095, 4096, 65_537, (1 << 20) + 1)


@pytest.mark.parametrize("size", SIZES)
def test_a_file_is_read_whole_whatever_its_size(bench: Bench, size: int) -> None:
    content = os.urandom(size)
    path = bench.directory / "file"
    path.write_bytes(content)
    assert disk.read_file("state", str(path), lambda _: None) == content
    assert disklog.read_header(str(path), 100) == content[:100]
    disklog.copy_file(str(path), f"{path}.copy")
    assert (bench.directory / "file.copy").read_bytes() == content


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("grown", [0, 1, 2, 4096])
def test_a_file_that_grows_or_shrinks_once_it_was_looked_at_is_read_as_it_stands_then(
    bench: Bench, size: int, grown: int
) -> None:
    path = bench.directory / "file"
    for content in (os.urandom(size + grown), os.urandom(max(0, size - grown))):
        path.write_bytes(bytes(size))
        now = content  # what stands there once the file was judged

        def judge(found: os.stat_result, now: bytes = now) -> None:
            assert found.st_size == size
            path.write_bytes(now)

        assert disk.read_file("state", str(path), judge) == content


@pytest.mark.parametrize("most", [1, 3, 7])
def test_a_file_system_that_gives_little_at_a_time_gives_all_the_same(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """A read may come short, a write may take a part: neither is the end of it."""
    content = os.urandom(50)
    path: Path = bench.directory / "file"
    read, pread, write, pwrite = os.read, os.pread, os.write, os.pwrite
    monkeypatch.setattr(os, "read", lambda fd, size: read(fd, min(size, most)))
    monkeypatch.setattr(os, "pread", lambda fd, size, at: pread(fd, min(size, most), at))
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:most]))
    monkeypatch.setattr(os, "pwrite", lambda fd, data, at: pwrite(fd, data[:most], at))
    descriptor = disk.create_private(str(path))
    disk.write("state", descriptor, content)
    assert disk.read_file("state", str(path), lambda _: None) == content
    disklog.append(descriptor, 50, content)
    assert disklog.read(descriptor, 0, 100) == content + content
    assert disklog.read(descriptor, 100, 0) == b""
    os.close(descriptor)


def test_what_ends_before_its_size_or_takes_nothing_is_an_error(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    descriptor = disk.create_private(str(bench.directory / "file"))
    disklog.append(descriptor, 0, b"x" * 10)
    with pytest.raises(OSError, match="ends before the size"):
        disklog.read(descriptor, 0, 11)
    monkeypatch.setattr(os, "write", lambda _fd, _data: 0)
    monkeypatch.setattr(os, "pwrite", lambda _fd, _data, _at: 0)
    with pytest.raises(OSError, match="took none"):
        disk.write("state", descriptor, b"x")
    with pytest.raises(OSError, match="took none"):
        disklog.append(descriptor, 10, b"x")
    os.close(descriptor)


def open_descriptors() -> list[str]:
    return sorted(path.name for path in Path("/proc/self/fd").iterdir())


@pytest.mark.parametrize("name", ["draft", "new ledger"])
def test_what_fails_once_a_file_was_made_is_told_and_leaves_nothing_open(bench: Bench, name: str) -> None:
    class Struck(BaseException):
        """As a signal handler may raise it."""

    def strike(point: disk.CrashPoint) -> None:
        if point.endswith("create-after"):
            raise Struck

    before = open_descriptors()
    former = disk.install(strike)
    try:
        with pytest.raises(Struck):
            MAKERS[name](str(bench.directory / "new"))
    finally:
        disk.install(former)
    assert open_descriptors() == before


def test_a_parent_that_can_not_be_read_is_no_hindrance_where_the_directory_is_there(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An opening that was cut off would have made the directory, and so could have read its parent."""
    sync = disk.sync_directory

    def unreadable(kind: disk.Synced, directory: str) -> None:
        if directory == str(bench.root):
            raise PermissionError(errno.EACCES, "not for you", directory)
        sync(kind, directory)

    monkeypatch.setattr(disk, "sync_directory", unreadable)
    assert bench.open().directory == str(bench.directory)
