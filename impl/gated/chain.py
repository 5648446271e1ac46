"""Reading the ledger line by line, each held against the chain; and what stands at its end.

Guarantees: `lines` yields only lines that are right in every byte and in their place. What comes after the
last right one is told in `Tail`: nothing, a piece without its newline, or one whole line that is none.
Anything else that is wrong raises LEDGER_INTEGRITY_FAILED, with the number of the line and the reason.

Doesn't: change anything, or know whether the mirror has seen a line.
"""

import json
from collections.abc import Callable, Iterator

from attrs import define

from impl import disklog
from impl.gated.errors import broken
from impl.gated.journal import Journal
from impl.gated.lines import Line, Position, check_line
from impl.jsontext import FormatError

Progress = Callable[[int, int], None]
"""Told how many bytes of how many were read."""


@define
class Tail:
    """What stands behind the last right line, and where that ends. Filled while reading."""

    end: Position
    torn: bytes = b""
    """A piece without its newline: it was never acknowledged."""
    bad_line: str | None = None
    """Why the last whole line is wrong."""
    bad_size: int = 0
    """Its size in bytes, with its newline."""

    @property
    def size(self) -> int:
        """How many bytes stand behind the last right line."""
        return len(self.torn) + self.bad_size


def lines(journal: Journal, tail: Tail, size: int, progress: Progress | None = None) -> Iterator[Line]:
    """The lines from `tail.end` up to byte `size`. Raises LEDGER_INTEGRITY_FAILED, OSError."""
    disklog.start_reading()
    position = tail.end.length
    while position < size:
        block = disklog.read(journal.descriptor, position, min(disklog.BLOCK, size - position))
        position += len(block)
        first, *others = block.split(b"\n")
        tail.torn += first
        if others:
            whole = [tail.torn, *others]
            tail.torn = whole.pop()
            yield from _checked(journal, tail, whole)
        if progress is not None:
            progress(position, size)
    if tail.bad_line is not None and tail.torn:
        raise _wrong(journal, tail)
    disklog.done_reading()


def _checked(journal: Journal, tail: Tail, whole: list[bytes]) -> Iterator[Line]:
    sequence, last_hash, start, last = tail.end
    for raw in whole:
        if tail.bad_line is not None:
            raise _wrong(journal, tail)
        try:
            line = check_line(raw, sequence + 1, last_hash, start)
        except FormatError as error:
            tail.end = Position(sequence, last_hash, start, last)
            tail.bad_line = str(error)
            if is_right_elsewhere(raw):  # no writer that was cut off leaves that: the chain is broken
                raise _wrong(journal, tail) from None
            tail.bad_size = len(raw) + 1
            continue
        yield line
        sequence, last_hash, last = line.sequence, line.hash, start
        start += line.size
    if tail.bad_line is None:
        tail.end = Position(sequence, last_hash, start, last)


def is_right_elsewhere(raw: bytes) -> bool:
    """Whether a line is right in every byte, and only stands in the wrong place."""
    try:
        form = json.loads(raw)
        check_line(raw, form["sequence"], form["previousHash"], 0)
    except (FormatError, ValueError, KeyError, TypeError, RecursionError):
        return False
    return True


def _wrong(journal: Journal, tail: Tail) -> Exception:
    return broken(
        f"line {tail.end.sequence + 1} of {journal.path} is wrong, and no torn write: {tail.bad_line}. "
        "Nothing was changed; restore the file from a copy"
    )
