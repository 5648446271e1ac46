"""The page of properties says what is checked: no more, no less."""

from pathlib import Path

from reports.properties import render

PAGE = Path(__file__).resolve().parents[2] / "docs" / "properties.md"


def test_the_page_is_in_step_with_the_model() -> None:
    assert PAGE.read_text("utf-8") == render(), "run: python -m reports.properties > docs/properties.md"
