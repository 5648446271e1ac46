"""The directory that trials are fought over: made on a RAM-backed file system, pictured, and put back.

A store's identity is bound to its directory's device and inode, so putting a picture back rewrites the
files inside the very same directory, which is kept aside while it is to be missing. Files get their bytes
and their modes back, not their inodes: the store binds no file's inode beyond one transaction.
"""

import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from attrs import frozen

# The bare calls are several hundred times a second at work here, and pathlib's detours would show.
# ruff: noqa: PTH104, PTH108, PTH208
_TEMPORARY = re.compile(r"\.[0-9a-f]{32}\.tmp\Z")
_HEX = re.compile(r"[0-9a-f]{32}")
_RANDOM = re.compile(rb'"(instanceId|previousHash|stateDigest|hash|stateHash|ino)":("[^"]*"|[0-9]+)')


@frozen
class Picture:
    """What stood in the directory: (mode, bytes) by name; `None` if the directory itself was missing.

    `inode` is the directory's own; of a missing one, `made` says how many of the directories on the way to
    it were there.
    """

    files: Mapping[str, tuple[int, bytes]] | None
    inode: int = 0
    made: int = 0

    @property
    def temporaries(self) -> tuple[str, ...]:
        return tuple(sorted(name for name in self.files or () if is_temporary(name)))

    @property
    def names(self) -> list[str]:
        """The files' names without their random parts, so that equal trials tell equal things."""
        return sorted(_HEX.sub("*", name) for name in self.files or ())

    @property
    def exact(self) -> tuple[object, ...]:
        """Equal for pictures of one directory that differ at most in the names of temporary files."""
        if self.files is None:
            return (self.made,)
        kept = tuple(sorted((name, held) for name, held in self.files.items() if not is_temporary(name)))
        return (self.inode, len(self.files) - len(kept), kept)

    @property
    def likeness(self) -> str:
        """Equal for pictures that differ at most in the random parts of what is in them."""
        if self.files is None:
            return f"missing, {self.made} made"
        digest = sha256()
        for name, (mode, content) in sorted(
            (_TEMPORARY.sub(".tmp", name), held) for name, held in self.files.items()
        ):
            digest.update(f"{name}\0{mode}\0{len(content)}\0".encode())
            digest.update(_RANDOM.sub(b"", content))
        return digest.hexdigest()


def is_temporary(name: str) -> bool:
    """Whether this is a name that the store gives to its temporary files."""
    return _TEMPORARY.search(name) is not None


@frozen
class Ground:
    """`directory` is the store's; `root` is what was made for it and goes away with it."""

    root: Path
    directory: Path

    def picture(self) -> Picture:
        """What stands there now. Only plain files are expected, since only a store was at work here."""
        try:
            inode = os.lstat(self.directory).st_ino
            names = os.listdir(self.directory)
        except FileNotFoundError:
            return Picture(None, made=sum(path.exists() for path in self._way()))
        files = {}
        for name in names:
            descriptor = os.open(self.directory / name, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                state = os.fstat(descriptor)
                files[name] = (state.st_mode & 0o7777, os.read(descriptor, state.st_size + 1))
            finally:
                os.close(descriptor)
        return Picture(files, inode)

    def put_back(self, picture: Picture) -> None:
        """Makes the directory look like `picture`, which must be the picture of this place."""
        self._bring(picture)
        if picture.files is None:
            return
        for name in os.listdir(self.directory):
            if name not in picture.files:
                os.unlink(self.directory / name)
        for name, (mode, content) in picture.files.items():
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
            descriptor = os.open(self.directory / name, flags, 0o600)
            try:
                os.write(descriptor, content)
                if os.fstat(descriptor).st_mode & 0o7777 != mode:
                    os.fchmod(descriptor, mode)
            finally:
                os.close(descriptor)

    def _bring(self, picture: Picture) -> None:
        """Brings the very directory of the picture; others are kept aside, for their own pictures."""
        try:
            inode = os.lstat(self.directory).st_ino
        except FileNotFoundError:
            inode = 0
        if picture.files is not None and picture.inode == inode:
            return
        way = self._way()
        if inode:
            os.rename(self.directory, self._aside(inode))
        for path in reversed(way):
            if path.exists():
                path.rmdir()
        for path in way[: picture.made if picture.files is None else len(way)]:
            path.mkdir(mode=0o700)
        if picture.files is not None:
            os.rename(self._aside(picture.inode), self.directory)

    def _way(self) -> tuple[Path, ...]:
        """The directories between `root` and the store's, outermost first."""
        between = self.directory.relative_to(self.root).parts[:-1]
        return tuple(self.root.joinpath(*between[: index + 1]) for index in range(len(between)))

    def _aside(self, inode: int) -> Path:
        return self.root / f"aside-{inode}"


@contextmanager
def ground(*, missing: bool = False) -> Iterator[Ground]:
    """A fresh place for a store; with `missing` its directory, and that one's parent, are not there yet."""
    with tempfile.TemporaryDirectory(prefix="holdtrue-crash-", dir=memory()) as name:
        root = Path(name).resolve()
        directory = root / "deep" / "store" if missing else root / "store"
        if not missing:
            directory.mkdir(mode=0o700)
        yield Ground(root, directory)


def memory() -> str | None:
    """Where to make what is temporary: as the environment says, else in RAM, else wherever is usual."""
    place = Path("/dev/shm")
    usable = "TMPDIR" not in os.environ and place.is_dir() and os.access(place, os.W_OK)
    return str(place) if usable else None
