"""What someone does to a store's files behind its back, and how it is undone.

A damaged file's original is renamed aside (beside the directory, on the same file system), so that mending
brings the very same inode back; several damages to one file stand one over the other, and the latest shows.
Everything is written privately (0600) except where the damage is the mode itself.

It looks into a state only to forge one (see `forgeries`). What bytes mean is `observe`'s business.
"""

import os
import re
import shutil
from pathlib import Path

from attrs import define, field

from stateful_tests.forgeries import forged

STATE = "coordinator.json"
IDENTITY = "coordinator.identity.json"
LOCK = "writer.lock"

_TEMP = re.compile(r"coordinator(\.identity)?\.json\.[0-9a-f]{32}\.tmp")
_TARGETS = {"state": STATE, "identity": IDENTITY, "lock": LOCK}


@define
class StoreFiles:
    """The files of the store in `directory`, with what has been done to them.

    `published` is every state the store has published, oldest first, byte for byte; whoever watches the
    store appends to it.
    """

    directory: Path
    published: list[bytes] = field(factory=list)
    standing: list[str] = field(factory=list)
    meddled: int = 0
    put: bytes | None = None
    _temps: int = 0
    _places: tuple[str, str, str] | None = None

    @property
    def aside(self) -> Path:
        return self.directory.with_name(self.directory.name + ".aside")

    @property
    def home(self) -> Path:
        """Where the store's own directory stands now."""
        moved = any(kind.startswith("directory-") for kind in self.standing)
        return self.aside / "directory" if moved else self.directory

    def real(self, name: str) -> Path:
        """Where the original of the file `name` stands now (damaged or not, it may be missing)."""
        return self.aside / name if self._over(name) else self.home / name

    def places(self) -> tuple[str, str, str]:
        """`home` and the real places of state and identity, as text: asked for after every action."""
        if self._places is None:
            self._places = (str(self.home), str(self.real(STATE)), str(self.real(IDENTITY)))
        return self._places

    def damage(self, kind: str) -> None:
        self.meddled += 1
        self._places = None
        self.aside.mkdir(mode=0o700, exist_ok=True)
        target, _, _ = kind.partition("-")
        if target == "directory":
            if self.home == self.directory:
                self.directory.rename(self.aside / "directory")
            self.standing.append(kind)
            self._show_directory()
            return
        name = _TARGETS[target]
        if not self._over(name):
            (self.home / name).rename(self.aside / name)
        self.standing.append(kind)
        self._show(name)

    def mend(self, kind: str) -> None:
        self.meddled += 1
        self._places = None
        self.standing.remove(kind)
        target, _, _ = kind.partition("-")
        if target == "directory":
            self._show_directory()
        else:
            self._show(_TARGETS[target])

    def put_back(self, index: int) -> None:
        """Puts published state `index` (from 0) in place: by rename or, if it is odd, into the file."""
        self.meddled += 1
        self.put = self.published[index]
        place = self.real(STATE)
        if index % 2 and place.exists():
            with place.open("r+b") as file:
                file.write(self.put)
                file.truncate()
            return
        fresh = self.directory.with_name(self.directory.name + ".put-back")
        _write(fresh, self.put, 0o600)
        fresh.rename(place)

    def leave_temp(self) -> None:
        """Leaves the temporary file of a killed writer: of the state and of the identity in turns."""
        self.meddled += 1
        self._temps += 1
        name = (STATE, IDENTITY)[self._temps % 2]
        _write(self.home / f"{name}.{self._temps:032x}.tmp", b'{"version":1,"fenc', 0o600)

    def temps(self) -> int:
        """How many temporary files of the store's naming stand in its directory."""
        names = os.listdir(self.places()[0])  # noqa: PTH208  # four times as fast as iterdir, after every action
        return sum(name.endswith(".tmp") and _TEMP.fullmatch(name) is not None for name in names)

    def shown(self) -> tuple[object, ...]:
        """What stands at the damaged places, as something to compare: type, mode, inode, links, bytes."""
        seen: list[object] = []
        for name in (STATE, IDENTITY, LOCK):
            place = self.directory / name
            if not os.path.lexists(place):
                seen.append(None)
                continue
            entry = place.lstat()
            content = place.read_bytes() if place.is_file() and not place.is_symlink() else None
            seen.append((entry.st_mode, entry.st_ino, entry.st_nlink, content))
        seen.append(self._names() if self.directory.exists() else None)
        return tuple(seen)

    def _names(self) -> list[str]:
        """What stands in the directory, temporary files aside: those may be removed at any time."""
        return sorted(one.name for one in self.directory.iterdir() if not _TEMP.fullmatch(one.name))

    def _over(self, name: str) -> list[str]:
        return [kind for kind in self.standing if _TARGETS.get(kind.partition("-")[0]) == name]

    def _show_directory(self) -> None:
        away = self.aside / "directory"
        if self.directory.exists():
            shutil.rmtree(self.directory)
        if "directory-replaced" in self.standing:
            self.directory.mkdir(mode=0o700)
        elif "directory-removed" not in self.standing:
            away.rename(self.directory)

    def _show(self, name: str) -> None:
        place, original, over = self.home / name, self.aside / name, self._over(name)
        if place.is_dir() and not place.is_symlink():
            place.rmdir()
        else:
            place.unlink(missing_ok=True)
        if not over:
            original.rename(place)
            return
        match over[-1].partition("-")[2]:
            case "missing":
                pass
            case "symlink":
                place.symlink_to(original)
            case "hardlink":
                place.hardlink_to(original)
            case "mode":
                _write(place, original.read_bytes(), 0o644)
            case "fifo":
                os.mkfifo(place, 0o600)
            case "directory":
                place.mkdir(mode=0o700)
            case "truncated":
                whole = original.read_bytes()
                _write(place, whole[: len(whole) // 2], 0o600)
            case "bitflip":
                flipped = bytearray(original.read_bytes())
                # The lowest bit: it never turns a letter into its other case, which JSON might not mind.
                flipped[len(flipped) // 3] ^= 1
                _write(place, bytes(flipped), 0o600)
            case other:
                _write(place, forged(other, original.read_bytes()), 0o600)


def _write(path: Path, content: bytes, mode: int) -> None:
    path.write_bytes(content)
    path.chmod(mode)
