"""Survivors of ordinary mutation testing that nobody could tell from the sound store, each with its argument.

A survivor is known by its file and by the lines that the mutant takes away and puts in their place, so that
an argument does not outlive the code that it is about.
"""

from collections.abc import Mapping
from typing import Final

from crash_tests.planted.mutation import Mutant

EXPLAINED: Final[Mapping[tuple[str, str, str], str]] = {}
"""(file, line taken away, line put in its place), stripped, to the argument."""


def argument_for(mutant: Mutant) -> str:
    """Why `mutant` is equivalent; nothing if nobody has said so."""
    lines = mutant.diff.splitlines()
    gone = [line[1:].strip() for line in lines if line.startswith("-") and not line.startswith("---")]
    come = [line[1:].strip() for line in lines if line.startswith("+") and not line.startswith("+++")]
    return EXPLAINED.get((mutant.file, " ".join(gone), " ".join(come)), "")
