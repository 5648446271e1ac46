"""Damages do what they say, come undone without a trace, and the observer sees through them."""

import os
import stat
from pathlib import Path

import pytest

from model.actions import DAMAGES
from stateful_tests.files import IDENTITY, LOCK, STATE, StoreFiles
from stateful_tests.observe import Observer
from stateful_tests.stories import opened, reserve
from stateful_tests.target import StoreTarget


@pytest.fixture
def store(tmp_path: Path) -> StoreTarget:
    target = StoreTarget(tmp_path / "store")
    for step in [*opened(), reserve(1)]:
        assert not isinstance(step, tuple)
        target.apply(step)
        target.observe()
    return target


def _picture(directory: Path) -> dict[str, tuple[int, int, int, bytes]]:
    entries = {name: (directory / name).lstat() for name in (STATE, IDENTITY, LOCK)}
    return {
        name: (entry.st_ino, entry.st_mode, entry.st_nlink, (directory / name).read_bytes())
        for name, entry in entries.items()
    }


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damage_shows_and_mending_brings_the_same_inodes_back(store: StoreTarget, kind: str) -> None:
    files = store.files
    before, inode = _picture(files.directory), files.directory.stat().st_ino
    files.damage(kind)
    if kind.startswith("directory-"):
        assert not files.directory.exists() or files.directory.stat().st_ino != inode
    else:
        assert _shows(files, kind, before)
    files.mend(kind)
    assert _picture(files.directory) == before
    assert files.directory.stat().st_ino == inode


def _shows(files: StoreFiles, kind: str, before: dict[str, tuple[int, int, int, bytes]]) -> bool:
    part, _, what = kind.partition("-")
    name = {"state": STATE, "identity": IDENTITY, "lock": LOCK}[part]
    place = files.directory / name
    match what:
        case "missing":
            return not os.path.lexists(place)
        case "symlink":
            return place.is_symlink()
        case "hardlink":
            return place.stat().st_nlink == 2
        case "mode":
            return bool(place.stat().st_mode & 0o077)
        case "fifo":
            return stat.S_ISFIFO(place.stat().st_mode)
        case "directory":
            return place.is_dir()
        case _:
            content = place.read_bytes()
            return content != before[name][3] and stat.S_IMODE(place.stat().st_mode) == 0o600


def test_damages_of_several_files_stand_side_by_side(store: StoreTarget) -> None:
    before = _picture(store.files.directory)
    for kind in ("state-symlink", "identity-mode", "lock-fifo"):
        store.files.damage(kind)
    seen = store.observe()
    assert seen.store is not None
    assert seen.identity
    assert seen.problems == ()
    for kind in ("identity-mode", "state-symlink", "lock-fifo"):
        store.files.mend(kind)
    assert _picture(store.files.directory) == before


@pytest.mark.parametrize("kind", DAMAGES)
def test_the_observer_looks_at_the_originals(store: StoreTarget, kind: str) -> None:
    before = store.observe()
    store.files.damage(kind)
    seen = Observer(store.files).look()
    assert (seen.store, seen.problems, seen.identity) == (before.store, (), True)


def test_states_are_put_back_byte_for_byte_and_private(store: StoreTarget) -> None:
    assert len(store.files.published) == 2
    for index in (0, 1, 0):
        store.files.put_back(index)
        place = store.files.directory / STATE
        assert place.read_bytes() == store.files.published[index]
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
        seen = store.observe()
        assert seen.store is not None
        assert seen.store["commitSeq"] == index + 1
    assert len(store.files.published) == 2, "what was put back is no publication"


def test_leftover_temporary_files_are_counted_and_others_are_not(store: StoreTarget) -> None:
    (store.files.directory / "coordinator.json.tmp").touch()
    (store.files.directory / "writer.lock.queue").touch()
    assert store.files.temps() == 0
    store.files.leave_temp()
    store.files.leave_temp()
    assert store.files.temps() == 2


@pytest.mark.parametrize("name", [STATE, IDENTITY])
def test_a_file_that_others_may_read_is_a_problem(store: StoreTarget, name: str) -> None:
    (store.files.directory / name).chmod(0o644)
    assert any("not a private" in problem for problem in Observer(store.files).look().problems)


@pytest.mark.parametrize("name", [STATE, IDENTITY])
def test_a_hard_link_and_a_symlink_are_problems(store: StoreTarget, name: str, tmp_path: Path) -> None:
    place, other = store.files.directory / name, tmp_path / "other"
    other.hardlink_to(place)
    assert any("2 links" in problem for problem in Observer(store.files).look().problems)
    place.unlink()
    place.symlink_to(other)
    assert any("can't be opened" in problem for problem in Observer(store.files).look().problems)


def test_a_directory_that_others_may_read_is_a_problem(store: StoreTarget) -> None:
    store.files.directory.chmod(0o750)
    assert any("directory is not private" in problem for problem in Observer(store.files).look().problems)


def test_an_identity_of_another_directory_is_a_problem(store: StoreTarget) -> None:
    place = store.files.directory / IDENTITY
    place.write_bytes(place.read_bytes().replace(b"store", b"strore"))
    assert len(Observer(store.files).look().problems) >= 1
