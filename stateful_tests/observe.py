"""What a store shows of itself on disk, in the model's terms, read by other eyes than its own.

`Observer.look` reads state and identity afresh (their bytes are the fingerprint by which a refused operation
is held to change nothing), checks that directory and files are private, mine and regular, and that state and
identity name this directory and each other. While damages stand it looks at the originals, moved aside, and
adds what shows in their place to the fingerprint.

It takes no lock, so it looks only while nobody writes.
"""

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from model.values import JSON
from stateful_tests.files import IDENTITY, STATE, StoreFiles
from stateful_tests.reader import BadStateError, Reading, StateReader, strict

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_IDENTITY = frozenset({"version", "canonicalPath", "dev", "ino", "instanceId"})


@frozen
class Observation:
    """The whole observable state. `store` is in the terms of `model.forms.store_to_json`, or `None`.

    `problems` are faults that need no model to be seen as such. `fingerprint` is equal exactly when the
    files are, byte for byte. Facts and launches are those of the surroundings that the store acted upon.
    """

    store: Mapping[str, Any] | None
    problems: tuple[str, ...]
    identity: bool
    temps: int
    facts: Mapping[str, JSON]
    launched: tuple[str, ...]
    fingerprint: tuple[object, ...]

    def to_json(self) -> dict[str, JSON]:
        """Without the fingerprint, for a trace."""
        return {
            "store": dict(self.store) if self.store is not None else None,
            "problems": list(self.problems),
            "identity": self.identity,
            "temps": self.temps,
            "facts": dict(self.facts),
            "launched": list(self.launched),
        }

    def brief(self) -> dict[str, JSON]:
        """What is on disk in a few numbers, for a trace's step. The same on every machine, in every run."""
        told: dict[str, JSON] = {"temps": self.temps, "identity": self.identity}
        if self.store is not None:
            told |= {"commitSeq": self.store["commitSeq"], "rows": len(self.store["reservations"])}
        return {**told, "problems": list(self.problems)} if self.problems else told


@frozen
class Sight:
    """What `Observer.look` sees: the part of an `Observation` that is on disk."""

    store: dict[str, Any] | None
    problems: tuple[str, ...]
    identity: bool
    temps: int
    fingerprint: tuple[object, ...]


class Observer:
    """Looks at the files of one store, again and again; what has not changed costs little."""

    def __init__(self, files: StoreFiles) -> None:
        self._files = files
        self._reader = StateReader()
        self._place: tuple[str, int, int] | None = None
        self._identity: tuple[bytes | None, Reading, tuple[str, ...]] = (None, Reading(), ())

    def look(self) -> Sight:
        files = self._files
        home, state_path, identity_path = files.places()
        try:
            entry = os.stat(home)  # noqa: PTH116  # plain paths: this runs after every action
        except FileNotFoundError:
            return Sight(None, (), False, 0, (None, None))
        problems: list[str] = []
        if entry.st_mode & 0o077 or entry.st_uid != os.geteuid():
            problems.append(f"the directory is not private: mode {stat.S_IMODE(entry.st_mode):04o}")
        state = _read_private(state_path, problems, linked="state-hardlink" in files.standing)
        identity = _read_private(identity_path, problems, linked="identity-hardlink" in files.standing)
        reading = self._reader.read(state) if state is not None else Reading()
        problems += reading.problems
        if identity is not None:
            if self._place is None or self._place[1:] != (entry.st_dev, entry.st_ino):
                path = os.path.realpath(files.directory)
                self._place = (path, entry.st_dev, entry.st_ino)
            problems += self._check_identity(identity, reading)
        fingerprint: tuple[object, ...] = (state, identity)
        if files.standing:
            fingerprint += files.shown()
        return Sight(reading.store, tuple(problems), identity is not None, files.temps(), fingerprint)

    def _check_identity(self, raw: bytes, reading: Reading) -> tuple[str, ...]:
        """What is wrong with the identity file, or between it, the state and the directory."""
        seen, judged, problems = self._identity
        if seen == raw and judged.place == reading.place and judged.instance == reading.instance:
            return problems
        try:
            problems = tuple(self._identity_problems(raw, reading))
        except (ValueError, TypeError, AttributeError) as error:
            problems = (f"{IDENTITY}: {error}",)
        self._identity = (raw, reading, problems)
        return problems

    def _identity_problems(self, raw: bytes, reading: Reading) -> list[str]:
        if not raw.endswith(b"}\n"):
            raise BadStateError("it does not end with one JSON object and one newline")
        said = strict(raw.decode())
        if said.keys() != _IDENTITY or type(said["version"]) is not int or said["version"] != 1:
            raise BadStateError("S1: it has another shape")
        problems = []
        if (said["canonicalPath"], said["dev"], said["ino"]) != self._place:
            problems.append(f"{IDENTITY}: it names another directory")
        if reading.store is not None:
            if reading.place != {name: said[name] for name in ("canonicalPath", "dev", "ino")}:
                problems.append(f"{STATE}: directoryIdentity is not that of the identity file")
            if reading.instance != said["instanceId"]:
                problems.append(f"{STATE}: instanceId is not that of the identity file")
        return problems


def _read_private(path: str, problems: list[str], *, linked: bool) -> bytes | None:
    """The bytes at `path`, or `None` if nothing is there. What is not private or not regular is a problem."""
    try:
        descriptor = os.open(path, _FLAGS)
    except FileNotFoundError:
        return None
    except OSError as error:
        problems.append(f"{Path(path).name}: it can't be opened: {error.strerror}")
        return None
    try:
        entry = os.fstat(descriptor)
        if not stat.S_ISREG(entry.st_mode) or entry.st_mode & 0o077 or entry.st_uid != os.geteuid():
            problems.append(f"{Path(path).name}: it is not a private, regular file of mine")
        if entry.st_nlink != 1 and not linked:
            problems.append(f"{Path(path).name}: it has {entry.st_nlink} links")
        return os.read(descriptor, entry.st_size + 1) if entry.st_size else b""
    finally:
        os.close(descriptor)
