"""The store's directory: opened by its real path, made if missing, and checked again and again.

Guarantees: what is missing is made one by one, mode 0700, and synced in its parent at once, so before
genesis; no part made here is a symlink; an existing directory that others may enter is refused, never
mended (C13); a directory on a network file system is refused, since its locks are not this kernel's (C7).
`Directory.check` is step 1 of a transaction: the same directory, and no file that can't be trusted.

Doesn't: hold a descriptor. Each step goes by path, and `check` notices a path that leads elsewhere.
"""

import stat
from os import PathLike, fspath, stat_result

from attrs import field, frozen

from impl import disk
from impl.arguments import is_count
from impl.errors import COMMAND_FAILED, DURABILITY_FAILED, CoordinatorError, io_failure, refuse
from impl.files import IDENTITY_NAME, LOCK_NAME, STATE_NAME, check_directory, check_file
from impl.mounts import network_kind
from impl.values import DirectoryIdentity


@frozen
class Directory:
    """Where the store lives, and as which inode."""

    path: str
    dev: int
    ino: int
    state_path: str = field(init=False)
    identity_path: str = field(init=False)
    lock_path: str = field(init=False)

    @state_path.default
    def _(self) -> str:
        return f"{self.path}/{STATE_NAME}"

    @identity_path.default
    def _(self) -> str:
        return f"{self.path}/{IDENTITY_NAME}"

    @lock_path.default
    def _(self) -> str:
        return f"{self.path}/{LOCK_NAME}"

    @property
    def identity(self) -> DirectoryIdentity:
        """The form in which files name this directory."""
        return DirectoryIdentity(self.path, self.dev, self.ino)

    def check(self) -> None:
        """Step 1: still this directory, and no file in it is a link or open to others."""
        found = disk.lstat(self.path)
        if found is None:
            refuse(DURABILITY_FAILED, f"{self.path} is gone; it was there when the store was opened")
        if stat.S_ISLNK(found.st_mode):
            refuse(DURABILITY_FAILED, f"{self.path} is a symlink now; the store follows none")
        if (found.st_dev, found.st_ino) != (self.dev, self.ino):
            refuse(DURABILITY_FAILED, f"{self.path} is another directory than the one that was opened")
        for path in (self.lock_path, self.state_path, self.identity_path):
            standing = disk.lstat(path)
            if standing is not None:
                check_file(path, standing)


def open_directory(directory: str | PathLike[str]) -> Directory:
    """The directory at `directory`, made if missing. Raises COMMAND_FAILED or DURABILITY_FAILED."""
    asked = path_of(directory)
    try:
        return _open(asked)
    except CoordinatorError:
        raise
    except OSError as error:
        raise io_failure(f"opening the directory {asked} failed", error) from error


def path_of(directory: object) -> str:
    """The absolute path that is meant. Raises COMMAND_FAILED for what is none, DURABILITY_FAILED."""
    try:
        path = fspath(directory)  # type: ignore[call-overload]  # whatever it is: that is what is asked here
    except Exception:  # noqa: BLE001 -- a foreign object may fail in any way; it is no path then
        path = None
    if type(path) is not str or not path or "\0" in path or not _can_name(path):
        refuse(COMMAND_FAILED, "the directory must be a path: a text that is not empty and can name a file")
    try:
        return disk.absolute_path(path)
    except OSError as error:
        refuse(DURABILITY_FAILED, f"{path} can't be made absolute, the working directory is gone: {error}")


def _can_name(path: str) -> bool:
    """Whether a file can have this name: the only lone surrogates in one are those that stand for a byte."""
    try:
        path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def _open(asked: str) -> Directory:
    path, standing = settle(asked, STATE_NAME)
    if not (is_count(standing.st_dev) and is_count(standing.st_ino)):
        refuse(DURABILITY_FAILED, f"{path} has an inode number above 2^53 - 1, which the format can't hold")
    return Directory(path, standing.st_dev, standing.st_ino)


def settle(asked: str, first_file: str) -> tuple[str, stat_result]:
    """The real path of the directory `asked`, made if missing, and what stands there.

    `first_file` is the one that is made first: while it is missing, an opening may have been cut off before.
    Raises DURABILITY_FAILED, OSError.
    """
    missing: list[str] = []
    ancestor = asked
    while (found := disk.lstat(ancestor)) is None:
        ancestor, _, name = ancestor.rpartition("/")
        ancestor = ancestor or "/"
        missing.insert(0, name)
    if not missing and stat.S_ISLNK(found.st_mode):
        refuse(DURABILITY_FAILED, f"{asked} is a symlink; name the directory itself")
    path = _resolve(ancestor)
    _refuse_strange_names(path, missing)
    kind = network_kind(disk.mount_table(), path)
    if kind is not None:
        refuse(
            DURABILITY_FAILED,
            f"{asked} is on a network file system ({kind}), where a kernel lock doesn't keep other machines "
            "out. Use a local disk",
        )
    if missing or disk.lstat(f"{path}/{first_file}") is None:
        _finish_interrupted_opening(path)
    for name in missing:
        parent, path = path, f"{path.rstrip('/')}/{name}"
        disk.make_directory(path)
        _check_component(path)
        disk.sync_directory("mkdir", parent)
    standing = _check_component(path)
    check_directory(path, standing)
    return path, standing


def _resolve(ancestor: str) -> str:
    try:
        path = disk.real_path(ancestor)
    except OSError as error:
        refuse(DURABILITY_FAILED, f"{ancestor} leads nowhere: {error}")
    _check_component(path)
    return path


def _check_component(path: str) -> stat_result:
    found = disk.lstat(path)
    if found is None:
        refuse(DURABILITY_FAILED, f"{path} vanished while the store was being opened")
    if not stat.S_ISDIR(found.st_mode):
        refuse(DURABILITY_FAILED, f"{path} is a symlink or no directory, so no store can be made below it")
    return found


def _refuse_strange_names(path: str, missing: list[str]) -> None:
    """The files name their directory in UTF-8 JSON: a path that is no UTF-8 can't be named."""
    try:
        "/".join([path, *missing]).encode()
    except UnicodeEncodeError:
        refuse(DURABILITY_FAILED, f"the path {path!r} is no UTF-8 text, so the store's files can't name it")


def _finish_interrupted_opening(path: str) -> None:
    """Sync a directory without a store in its parent: an opening may have been killed before it did.

    Of the directories that an opening makes, all but the deepest are synced before the next is made. One
    that isn't private and ours was never made by an opening.
    """
    found = _check_component(path)
    if found.st_uid != disk.own_uid() or stat.S_IMODE(found.st_mode) != 0o700 or path == "/":
        return
    try:
        disk.sync_directory("mkdir", path.rpartition("/")[0] or "/")
    except PermissionError:
        return  # a parent that can't be read can't have had this directory made in it by a mere opening
