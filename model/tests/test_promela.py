"""An independent count: the lifecycle in Promela, explored by spin, has as many states as the explorer finds.

Needs `spin` and a C compiler (Debian: `apt-get install spin gcc`). Without them these tests are skipped, but
for where HOLDTRUE_TOOLS=required is set: there they fail.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from attrs import evolve

from model.explorer.coordinator.facets import BOUNDS
from model.explorer.coordinator.space import CoordinatorSpace
from model.explorer.packed import explore

MODEL = Path(__file__).parent / "promela" / "lifecycle.pml"
MISSING = [tool for tool in ("spin", "gcc") if shutil.which(tool) is None]

pytestmark = pytest.mark.skipif(
    bool(MISSING) and os.environ.get("HOLDTRUE_TOOLS") != "required",
    reason=f"{' and '.join(MISSING)} not installed (HOLDTRUE_TOOLS=required makes this a failure)",
)


def states(text: str, directory: Path, ids: int) -> int:
    """How many states spin stores for the model in `text` with so many reservations."""
    (directory / "lifecycle.pml").write_text(text)
    for command in (
        ["spin", "-a", f"-DN={ids}", "lifecycle.pml"],
        ["gcc", "-w", "-O1", "-DSAFETY", "-DNOREDUCE", "-o", "pan", "pan.c"],
    ):
        subprocess.run(command, cwd=directory, check=True, capture_output=True)
    told = subprocess.run(
        ["./pan", "-m1000000"], cwd=directory, check=True, capture_output=True, text=True
    ).stdout
    assert "errors: 0" in told
    found = re.search(r"^ *(\d+) states, stored$", told, re.MULTILINE)
    assert found is not None, told
    return int(found[1])


@pytest.mark.parametrize(("ids", "expected"), [(1, 104), (2, 4512), (3, 49280)])
def test_spin_and_the_explorer_count_the_same_states(tmp_path: Path, ids: int, expected: int) -> None:
    explored = explore(CoordinatorSpace(evolve(BOUNDS["lifecycle"], ids=ids)))
    assert explored.complete
    assert explored.states == expected
    assert states(MODEL.read_text(), tmp_path, ids) == expected


@pytest.mark.parametrize(
    ("rule", "broken"),
    [
        (":: !taken -> row[a] = COMMITTED; due[a] = false", ":: row[a] = COMMITTED; due[a] = false"),
        ("word[a] = ABANDONED; row[a] = EXPIRED", "row[a] = EXPIRED"),
        ("held >= MAX", "held > MAX"),
        ("&& quiet[x]))", "))"),
    ],
)
def test_a_rule_told_differently_is_another_count(tmp_path: Path, rule: str, broken: str) -> None:
    """Without C8; freeing without a durable ABANDON; one slot too many; releasing what is alive."""
    text = MODEL.read_text()
    assert text.count(rule) == 1
    assert states(text.replace(rule, broken), tmp_path, 3) != 49280
