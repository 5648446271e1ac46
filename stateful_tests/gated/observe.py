"""What a ledger-gated store shows of itself: its two files read by other eyes, and the effects that happened.

`look` tells both files in the terms of `model.gated.forms.store_to_json`, the ledger's very bytes besides,
and faults that need no model to be seen as such: files that are not private, regular and the only link;
a mirror whose journal a power cut could undo; what a recovery should have cleared away.

It takes no lock, so it looks only while nobody writes.
"""

import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from attrs import define, field, frozen

from model.values import JSON
from stateful_tests.gated.mirrors import MirrorReader
from stateful_tests.gated.reader import LedgerReader, Reading

LEDGER: Final = "ledger.jsonl"
MIRROR: Final = "mirror.sqlite"
LOCK: Final = "ledger.lock"
_OURS: Final = frozenset({LEDGER, LOCK, MIRROR, f"{MIRROR}-wal", f"{MIRROR}-shm"})
_ASIDE: Final = re.compile(r"mirror\.sqlite\.aside-[0-9a-f]{32}(-wal|-shm)?")
_FRESH: Final = re.compile(r"mirror\.sqlite\.[0-9a-f]{32}\.new(-wal|-shm|-journal)?")


@frozen
class Observation:
    """The whole observable state. `raw` are the ledger's bytes, `None` if there is no such file.

    `fresh` counts files of a mirror that was being built when its builder died, `aside` those of mirrors that
    were set aside. Effects are the harness's
    own count of what steps and compensators did, in order.
    """

    store: Mapping[str, Any]
    problems: tuple[str, ...]
    effects: tuple[JSON, ...]
    raw: bytes | None
    fresh: int
    aside: int
    reading: Reading = field(repr=False)

    def to_json(self) -> dict[str, JSON]:
        return {
            "store": dict(self.store),
            "problems": list(self.problems),
            "effects": list(self.effects),
        }

    def brief(self) -> dict[str, JSON]:
        """What is on disk in a few numbers, for a trace's step. `mirror` is the number of events that it has
        seen, or what is the matter with it. The same on every machine, in every run."""
        mirror = self.store["mirror"]
        told: dict[str, JSON] = {
            "events": len(self.store["ledger"]),
            "mirror": mirror["sequence"] if isinstance(mirror, dict) else mirror,
            "effects": len(self.effects),
        }
        if self.reading.tail:
            told["tail"] = self.reading.tail
        return {**told, "problems": list(self.problems)} if self.problems else told


@define
class Observer:
    """Looks at the files of one store, again and again; what has not changed costs little."""

    directory: Path
    _ledger: LedgerReader = field(factory=LedgerReader)
    _mirror: MirrorReader = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._mirror = MirrorReader(self.directory)

    def look(self, effects: tuple[JSON, ...] = ()) -> Observation:
        problems: list[str] = []
        raw = _read(self.directory / LEDGER)
        reading = self._ledger.read(raw or b"")
        mirror = self._mirror.look()
        store: dict[str, Any] = {
            "ledger": reading.hashes,
            "tail": reading.tail,
            "size": reading.size,
            "mirror": mirror,
        }
        names = os.listdir(self.directory) if self.directory.exists() else []  # noqa: PTH208  # after each action
        problems += _files(self.directory, names)
        if isinstance(mirror, dict) and self._mirror.journal != "wal":
            problems.append(f"{MIRROR}: its journal is no WAL, so a power cut may undo what was acknowledged")
        fresh = sum(_FRESH.fullmatch(name) is not None for name in names)
        aside = sum(_ASIDE.fullmatch(name) is not None for name in names)
        return Observation(store, tuple(problems), effects, raw, fresh, aside, reading)

    def close(self) -> None:
        self._mirror.close()


def _files(directory: Path, names: list[str]) -> Iterator[str]:
    for name in sorted(names):
        if name not in _OURS and not _ASIDE.fullmatch(name) and not _FRESH.fullmatch(name):
            yield f"{name}: no such file belongs to the store"
        entry = os.lstat(directory / name)
        if not stat.S_ISREG(entry.st_mode) or entry.st_mode & 0o077 or entry.st_uid != os.geteuid():
            yield f"{name}: it is not a private, regular file of mine"
        elif entry.st_nlink != 1:
            yield f"{name}: it has {entry.st_nlink} links"


def _read(path: Path) -> bytes | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return os.read(descriptor, os.fstat(descriptor).st_size)
    finally:
        os.close(descriptor)
