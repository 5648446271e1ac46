"""read_durable_epoch: the stored fencing epoch, without a host, a lock or a write.

Guarantees: 0 if the directory or both files are missing; the epoch of a complete, valid, private store;
an error for anything else. No bare number in a file is ever believed.

Doesn't: wait. A store that is being published at this very moment may be refused; read again then.
"""

import stat
from os import PathLike, stat_result

from impl import disk
from impl.codec import decode_identity
from impl.directory import Directory, path_of
from impl.errors import DURABILITY_FAILED, CoordinatorError, io_failure, refuse
from impl.files import check_directory, check_file
from impl.jsontext import FormatError
from impl.loading import check_names, read_whole
from impl.values import DirectoryIdentity


def read_durable_epoch(directory: str | PathLike[str]) -> int:
    """The `fencingEpoch` stored in `directory`, or 0 if no store is there.

    Raises DURABILITY_FAILED; ADMISSION_BINDING_CONFLICT or CAPACITY_EXCEEDED for a state that breaks S6-S8
    or S10.
    """
    path = path_of(directory)
    try:
        return _read(path)
    except CoordinatorError:
        raise
    except Exception as error:
        raise io_failure(f"reading the epoch in {path} failed", error) from error


def _read(path: str) -> int:
    found = disk.lstat(path)
    if found is None:
        return 0
    check_directory(path, found)
    if disk.real_path(path) != path:
        refuse(DURABILITY_FAILED, f"{path} is reached through a symlink; name it by its real path")
    here = Directory(path, found.st_dev, found.st_ino)
    state_raw = _read_file("state", here.state_path)
    identity_raw = _read_file("identity", here.identity_path)
    if state_raw is None and identity_raw is None:
        return 0
    if state_raw is None:
        refuse(DURABILITY_FAILED, f"{here.state_path} is missing beside its identity")
    if identity_raw is None:
        refuse(DURABILITY_FAILED, f"{here.identity_path} is missing beside its state")
    try:
        state = read_whole(state_raw).state
        identity = decode_identity(identity_raw)
    except FormatError as error:
        refuse(DURABILITY_FAILED, f"the store in {path} can't be read: {error}")
    check_names(
        here.identity_path, DirectoryIdentity(identity.canonical_path, identity.dev, identity.ino), here
    )
    check_names(here.state_path, state.directory_identity, here)
    if state.instance_id != identity.instance_id:
        refuse(DURABILITY_FAILED, f"state and identity in {path} are of two stores (instanceId differs)")
    after = disk.lstat(path)
    if after is None or (after.st_dev, after.st_ino) != (found.st_dev, found.st_ino):
        refuse(DURABILITY_FAILED, f"{path} was replaced while it was being read")
    return state.fencing_epoch


def _read_file(subject: disk.Subject, path: str) -> bytes | None:
    """The bytes of a file whose identity doesn't change while it is read."""
    named = disk.lstat(path)
    if named is None:
        return None
    check_file(path, named)

    def judge(opened: stat_result) -> None:
        _same(path, named, opened)

    data = disk.read_file(subject, path, judge)
    _same(path, named, disk.lstat(path))
    return data


def _same(path: str, before: stat_result, after: stat_result | None) -> None:
    if after is None or (before.st_dev, before.st_ino) != (after.st_dev, after.st_ino):
        refuse(DURABILITY_FAILED, f"{path} was replaced while it was being read; read again")
    if not stat.S_ISREG(after.st_mode):
        refuse(DURABILITY_FAILED, f"{path} is no regular file")
