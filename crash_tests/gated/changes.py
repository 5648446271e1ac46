"""What is done to the files of a store that nobody has open: bytes, lines, statements on the mirror.

A `Change` is one of them, with its place. The generators give all of a kind, or a sample drawn from a seed.
"""

import random
from collections.abc import Iterator, Mapping
from typing import Final

from attrs import frozen

from crash_tests.gated.forgeries import KINDS, forged
from crash_tests.reading import Fields
from model.gated.actions import Tamper
from model.values import JSON
from stateful_tests.gated.observe import LEDGER, MIRROR
from stateful_tests.gated.tampering import changed

STATEMENTS: Final[Mapping[str, str]] = {
    "row-edited": "INSERT OR REPLACE INTO rows (name, value) VALUES ('n', '77')",
    "row-removed": "DELETE FROM rows",
    "schema-changed": "PRAGMA user_version = 77",
}
"""What somebody does to the mirror by SQLite's own means. They stay connected, so it stands in the WAL."""


@frozen
class Change:
    """What is done to `file`: `flip`, `invert` or `zero` of the byte at `at`, something to line `at`, or a
    statement that is executed."""

    file: str
    kind: str
    at: int = 0
    n: int = 0

    def done_to(self, content: bytes) -> bytes:
        if self.kind in KINDS:
            return forged(content, self.kind, self.at)
        if self.kind not in ("flip", "invert", "zero"):
            return changed(content, Tamper(self.kind, self.at, self.n))
        edited = bytearray(content)
        old = edited[self.at]
        edited[self.at] = {"flip": old ^ (1 << self.n), "invert": old ^ 0xFF, "zero": 0}[self.kind]
        return bytes(edited)

    def __str__(self) -> str:
        where = f"byte {self.at}" if self.kind in ("flip", "invert", "zero") else f"line {self.at}"
        return f"{self.file}: {self.kind}, {where}, {self.n}"

    def to_json(self) -> dict[str, JSON]:
        return {"file": self.file, "kind": self.kind, "at": self.at, "n": self.n}


def change_from_json(trace: Fields) -> Change:
    """What `Change.to_json` wrote. Raises `StoryError` for anything else."""
    return Change(trace.text("file"), trace.text("kind"), trace.number("at"), trace.number("n"))


def flips(size: int, file: str, draw: random.Random, *, sample: int | None) -> Iterator[Change]:
    """A changed byte of `file`, which has `size` of them: of some, or of each in each of three ways."""
    if sample is None:
        for at in range(size):
            yield Change(file, "flip", at, draw.randrange(8))
            yield Change(file, "invert", at)
            yield Change(file, "zero", at)
        return
    for at in sorted(draw.sample(range(size), min(sample, size))):
        kind = draw.choice(("flip", "flip", "invert", "zero"))
        yield Change(file, kind, at, draw.randrange(8) if kind == "flip" else 0)


def line_changes(lines: int) -> Iterator[Change]:
    """Each line removed, repeated, appended once more, swapped with the next, or forged.

    The last one is not resealed: where nobody was told of it, who knows what it said?
    """
    for line in range(1, lines + 1):
        for kind in ("line-removed", "line-repeated", "line-appended", "key-repeated", "event-misnamed"):
            yield Change(LEDGER, kind, line)
        if line < lines:
            yield Change(LEDGER, "line-swapped", line)
            yield Change(LEDGER, "line-resealed", line)


def edits() -> Iterator[Change]:
    """Each statement on the mirror."""
    for kind in STATEMENTS:
        yield Change(MIRROR, kind)


def cuts(size: int, draw: random.Random, *, sample: int | None) -> Iterator[Change]:
    """The tail cut at a byte: at every one, or at some."""
    many = range(1, size + 1)
    for n in many if sample is None else sorted(draw.sample(many, min(sample, size))):
        yield Change(LEDGER, "tail-cut", n=n)


def torn_tails(last: int, draw: random.Random, *, sample: int | None) -> Iterator[Change]:
    """The first bytes of a line that nobody was told of, appended: at every length, or at some."""
    many = range(1, last)
    for n in many if sample is None else sorted(draw.sample(many, min(sample, last - 1))):
        yield Change(LEDGER, "tail-torn", n=n)
