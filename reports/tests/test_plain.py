"""Text is made harmless, and fits."""

import unicodedata

import pytest

from reports.plain import grid, paragraph, safe, table, width, wrap
from reports.tests.samples import HOSTILE


def test_nothing_that_moves_the_cursor_or_reorders_a_line_gets_through() -> None:
    for number in [*range(0x3000), *range(0xD800, 0xD810), *range(0xFE00, 0xFF00), *range(0xE0000, 0xE0100)]:
        shown = safe(chr(number))
        assert shown.isprintable()
        assert not any(unicodedata.category(character)[0] in "CM" for character in shown)


def test_what_was_cut_is_said() -> None:
    assert safe("x" * 500, 10) == "xxxxxxxxxx... (490 more characters)"


@pytest.mark.parametrize("columns", [1, 7, 18, 78])
@pytest.mark.parametrize(
    "text", ["", "a b", "ADMISSION_BINDING_CONFLICT", "x" * 300, "日本語" * 20, safe(HOSTILE), "a  b " * 50]
)
def test_wrapped_text_fits_and_loses_nothing_but_spaces(text: str, columns: int) -> None:
    lines = wrap(text, columns)
    assert lines
    widest = max(2 if not text.isascii() else 1, columns)
    assert all(width(line) <= widest for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_long_codes_break_where_a_person_would() -> None:
    assert wrap("ADMISSION_BINDING_CONFLICT", 18) == ["ADMISSION_BINDING_", "CONFLICT"]


def test_paragraphs_hang() -> None:
    assert paragraph("word " * 20, first="- ")[1].startswith("  word")


def test_a_grid_keeps_its_columns_apart_with_wide_characters_too() -> None:
    lines = grid(("a", "b"), [("日本語", "x"), ("abc def", "y z")], (4, 3))
    assert [line for line in lines if line.endswith(("x", "z"))] == ["日本  x", "abc   y z"]


def test_numbers_are_flush_right() -> None:
    assert table(("what", "n"), [("a", "5"), ("b", "12")], numbers=frozenset({1}))[2:] == [
        "a      5",
        "b     12",
    ]
