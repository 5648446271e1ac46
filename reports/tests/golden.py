"""Golden files: what a person sees, kept in a file and compared line by line.

After a deliberate change, `HOLDTRUE_UPDATE_GOLDEN=1 make test ARGS=reports` writes them anew: read the diff.
"""

import os
from pathlib import Path

HERE = Path(__file__).parent / "golden"


def same_as_golden(name: str, lines: list[str]) -> None:
    """Asserts that `lines` are those of the golden file of that name."""
    path, text = HERE / f"{name}.txt", "\n".join(lines) + "\n"
    if os.environ.get("HOLDTRUE_UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text.splitlines() == path.read_text("utf-8").splitlines()
