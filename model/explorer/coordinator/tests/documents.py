"""What docs/explorer.md says, as tables."""

from pathlib import Path

TEXT = (Path(__file__).parents[4] / "docs" / "explorer.md").read_text()
FACETS = "The coordinator's facets"


def rows(heading: str) -> list[list[str]]:
    """The cells of the table under a heading, without its head."""
    section = TEXT.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    table = [line for line in section.splitlines() if line.startswith("| ")][1:]
    return [[cell.strip().strip("`") for cell in line.strip("|").split(" | ")] for line in table]


def figures(facet: str) -> list[str]:
    """Worlds, what they stand for, transitions and depth."""
    return next(row[2:] for row in rows(FACETS) if row[0] == facet)
