"""Text that is safe to print, and tables of it in 80 columns.

Everything that comes from a trace, a store or an exception passes through `safe`: control characters, ANSI
escapes, bidirectional and other invisible marks, lone surrogates and combining marks are shown as `\\x1b`,
`\\u202e` and so on, so that no content can move the cursor, recolour the terminal or reorder a line. Wide
characters count as two columns.

It makes text harmless on a terminal. HTML and XML need escaping of their own.
"""

import re
import unicodedata
from collections.abc import Sequence

COLUMNS = 80
_PIECES = re.compile(r"[^_/,.-]*[_/,.-]|[^_/,.-]+$")


def safe(text: object, limit: int = 400) -> str:
    """`text` on one line, harmless, with at most `limit` characters and what was left out said."""
    raw = str(text)
    shown = "".join(_shown(character) for character in raw[:limit])
    return shown if len(raw) <= limit else f"{shown}... ({len(raw) - limit} more characters)"


def _shown(character: str) -> str:
    if character.isascii():
        return character if character.isprintable() else ascii(character)[1:-1]
    harmless = character.isprintable() and not unicodedata.category(character).startswith("M")
    return character if harmless else ascii(character)[1:-1]


def width(text: str) -> int:
    """Columns that `text` takes on a terminal. `text` has been through `safe`."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def wrap(text: str, columns: int, *, taken: int = 0) -> list[str]:
    """`text` in lines of at most `columns`, broken at spaces; of the first line `taken` are in use already.

    A word that is wider than a line is broken after `_/,.-`, else anywhere; others stay whole, so that a
    path can be copied.
    """
    lines = [""]
    for word in text.split():
        room = columns - taken if len(lines) == 1 else columns
        if not lines[-1] and width(word) <= room:
            lines[-1] = word
        elif lines[-1] and width(lines[-1]) + 1 + width(word) <= room:
            lines[-1] += f" {word}"
        elif width(word) <= columns:
            lines.append(word)
        else:
            lines += _broken(word, columns)
    return lines if lines[0] or taken or len(lines) == 1 else lines[1:]


def _broken(word: str, columns: int) -> list[str]:
    lines = [""]
    for piece in _PIECES.findall(word):
        if width(lines[-1] + piece) > columns:
            lines.append("")
        for character in piece:
            if width(lines[-1] + character) > columns:
                lines.append("")
            lines[-1] += character
    return [line for line in lines if line]


def paragraph(text: str, *, first: str = "", then: str = "  ") -> list[str]:
    """`text` as a paragraph of 80 columns; `first` opens its first line, `then` the others."""
    lines = wrap(text, COLUMNS - len(then), taken=max(0, len(first) - len(then)))
    return [(then if number else first) + line for number, line in enumerate(lines)]


def pad(text: str, columns: int, *, right: bool = False) -> str:
    space = " " * max(0, columns - width(text))
    return space + text if right else text + space


def table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: frozenset[int] = frozenset()
) -> list[str]:
    """Rows of one line each under a header and a rule. Columns in `numbers` are flush right.

    As wide as its widest cells; the caller keeps those short enough.
    """
    columns = [max(width(row[at]) for row in [header, *rows]) for at in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        padded = (pad(cell, columns[at], right=at in numbers) for at, cell in enumerate(cells))
        return "  ".join(padded).rstrip()

    return [line(header), "-" * (sum(columns) + 2 * (len(columns) - 1)), *(line(row) for row in rows)]


def grid(header: Sequence[str], rows: Sequence[Sequence[str]], columns: Sequence[int]) -> list[str]:
    """Rows whose cells are wrapped in columns of the given widths, side by side."""

    def block(cells: Sequence[str]) -> list[str]:
        wrapped = [wrap(cell, columns[at]) for at, cell in enumerate(cells)]
        height = max(len(lines) for lines in wrapped)
        return [
            "  ".join(
                pad(lines[at] if at < len(lines) else "", columns[column])
                for column, lines in enumerate(wrapped)
            ).rstrip()
            for at in range(height)
        ]

    rule = "  ".join("-" * column for column in columns)
    body = [line for row in rows for line in block(row)]
    return [*block(header), rule, *body]
