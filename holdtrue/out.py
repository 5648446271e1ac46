"""Standard output for a person or a pipe.

An output that can't be written any more (its reader has gone, as in `holdtrue check | head`; it is closed;
the disk is full) makes the printer silent and changes nothing else: the run goes on and its exit code stays
true. Unless a reader has just gone, that is said once on standard error. Characters that the stream's
encoding lacks are written as escapes. Colour is only for a terminal without `NO_COLOR`, and never carries
meaning alone.

Under GitHub Actions no line of ours is taken for a command to its runner, whatever it quotes; what is meant
as one goes through `command`.

Nothing else here escapes hostile text: that is done where text enters a report (`reports.plain`).
"""

import io
import os
import re
import sys
from contextlib import suppress
from typing import TextIO

_COMMANDS = re.compile(r"^(\s*):(?=:)|##(?=\[)")
"""How a line may begin that the runner obeys, and what it obeys anywhere in a line."""
_MARKED = re.compile(r"(\d+ ?>  )|violated(?= )|  DIFFERS(?= )")
"""The step of a story that differs; the words before what is violated."""


class Printer:
    """Lines to `stream`, standard output if none is given."""

    def __init__(self, stream: TextIO | None = None) -> None:
        # A process that was started with a closed standard output has none.
        given: TextIO | None = sys.stdout if stream is None else stream
        self._gone = given is None
        self.failed = False
        """Whether something could not be written, and not because its reader had gone."""
        self._stream = io.StringIO() if given is None else given
        if isinstance(self._stream, io.TextIOWrapper):
            self._stream.reconfigure(errors="backslashreplace")

    @property
    def terminal(self) -> bool:
        """Whether a person looks at this directly, on something that can redraw a line."""
        return self._stream.isatty() and (os.environ.get("TERM") or "dumb") != "dumb"

    @property
    def colour(self) -> bool:
        return self.terminal and not os.environ.get("NO_COLOR")

    def line(self, text: str = "") -> None:
        """Writes `text` and a newline, at once."""
        self._write(unobeyed(text))

    def command(self, text: str) -> None:
        """Writes a line that is meant as a command to the runner."""
        self._write(text)

    def _write(self, text: str) -> None:
        if self._gone:
            return
        try:
            self._stream.write(text + "\n")
            self._stream.flush()
        except OSError as error:
            self._gone = True
            if self._stream is sys.stdout:
                swallow()
            if not isinstance(error, BrokenPipeError):
                self.failed = True
                _complain(f"standard output can't be written ({error.strerror}); going on without it")

    def lines(self, lines: "list[str] | tuple[str, ...]") -> None:
        """Writes `lines`. Where colour is shown, what a story marks as wrong stands out."""
        for line in lines:
            marked = _MARKED.match(line) if self.colour else None
            if marked is None:
                self.line(line)
            else:
                self.strong(line, line if marked.group(1) else marked.group(), "31")

    def strong(self, text: str, word: str, colour: str) -> None:
        """A line whose leading `word` is set off by `colour` (an ANSI number) where colour is shown."""
        if self.colour and text.startswith(word):
            text = f"\x1b[1;{colour}m{word}\x1b[0m{text[len(word) :]}"
        self.line(text)


def swallow() -> None:
    """From now on nobody gets what is written to standard output, and that is no error.

    The interpreter flushes it once more at exit, and would complain then.
    """
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)


def unobeyed(text: str) -> str:
    """`text`, in which under GitHub Actions nothing is a command to its runner. It reads both streams."""
    if os.environ.get("GITHUB_ACTIONS") != "true":
        return text
    return "\n".join(_COMMANDS.sub(_disarmed, each) for each in text.split("\n"))


def _disarmed(found: re.Match[str]) -> str:
    return "#\\x23" if found.group() == "##" else f"{found.group(1)}\\x3a"


def _complain(text: str) -> None:
    if sys.stderr is not None:
        with suppress(OSError):
            print(f"holdtrue: {text}", file=sys.stderr, flush=True)
