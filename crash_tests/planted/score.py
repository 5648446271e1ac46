"""What became of a sample of mutants: each of them, and the share that was noticed.

The score is that of the sample; `wilson` gives the interval for all mutants. A survivor may be equivalent:
that takes an argument, which the caller keeps.
"""

import math
from collections.abc import Callable
from typing import Final

from attrs import asdict, frozen

from crash_tests.planted.judge import NO_END
from model.values import JSON

TOOL: Final = "cosmic-ray"
Z_95: Final = 1.959964

Key = tuple[str, int, int, str, int]
"""Which mutant of a source it is: file, line, column, operator, and which of the changes it makes there."""


@frozen
class Mutant:
    """One change of one place. `noticed` is what the judge said, empty if nothing noticed it."""

    file: str
    line: int
    operator: str
    diff: str
    noticed: str
    column: int = 0
    occurrence: int = 0
    made: bool = True
    """False if the tool failed to make it. Such a mutant says nothing and is no part of the score."""

    @property
    def key(self) -> Key:
        return self.file, self.line, self.column, self.operator, self.occurrence

    @property
    def hung(self) -> bool:
        """Whether it was noticed only because a part took too long: on a busy machine, anything may."""
        return NO_END in self.noticed

    def to_json(self) -> dict[str, JSON]:
        return asdict(self)


@frozen
class Score:
    """What became of the sample. `of` is the number of mutants that it was drawn from."""

    version: str
    seed: int
    of: int
    mutants: tuple[Mutant, ...]
    unmade: int = 0

    @property
    def survivors(self) -> tuple[Mutant, ...]:
        return tuple(mutant for mutant in self.mutants if not mutant.noticed)

    def to_json(self, argument_for: Callable[[Mutant], str]) -> dict[str, JSON]:
        """As it stands in `detection.json`. `argument_for` says why a survivor is equivalent, if it is."""
        survived = len(self.survivors)
        killed = len(self.mutants) - survived
        return {
            "tool": TOOL,
            "version": self.version,
            "seed": self.seed,
            "of": self.of,
            "sampled": len(self.mutants),
            "unmade": self.unmade,
            "killed": killed,
            "survived": survived,
            "hung": sum(mutant.hung for mutant in self.mutants),
            "explained": sum(bool(argument_for(mutant)) for mutant in self.survivors),
            "interval": list(wilson(killed, len(self.mutants))),
            "survivors": [
                {**mutant.to_json(), "argument": argument_for(mutant)} for mutant in self.survivors
            ],
        }


def wilson(successes: int, trials: int, z: float = Z_95) -> tuple[float, float]:
    """The score interval for a proportion (E. B. Wilson, JASA 22, 1927); (0, 1) without trials."""
    if trials == 0:
        return 0.0, 1.0
    share, square = successes / trials, z * z
    middle = (share + square / (2 * trials)) / (1 + square / trials)
    spread = z / (1 + square / trials) * math.sqrt(share * (1 - share) / trials + square / (4 * trials**2))
    return max(0.0, middle - spread), min(1.0, middle + spread)
