"""What an exploration finds, and how verdicts are made of it: the same for both engines.

First come, first kept: engines go level by level, so the first breach of a property is a shortest one, and
breaches of other properties found meanwhile do not replace it.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence, Set
from typing import Generic, Literal

from attrs import field, frozen

from model.explorer.graph import Graph
from model.explorer.properties import Always, EventuallyPossible, Property, Sometimes, Trace, Verdict
from model.explorer.space import G, Label, S, Space, State
from model.explorer.taking import SpaceError, Taken


@frozen
class Spot:
    """Where something was seen: in a node, or on the way out of it by a label."""

    node: int
    label: Label | None = None


@frozen(kw_only=True)
class Exploration(Generic[G, S]):
    """What came of an exploration.

    `states` and `transitions` are those explored; with symmetry they are orbits and classes, which stand for
    `full_states` and `full_transitions`. `levels` counts the states at each depth. `taken` counts
    transitions by rule and outcome. `dead` are rules that never could happen. `fired` is how often the space
    was asked. `seconds` are by the budget's clock.
    """

    complete: bool
    reason: str
    reduced: bool
    states: int
    transitions: int
    full_states: int
    full_transitions: int
    levels: tuple[int, ...]
    fired: int
    seconds: float
    taken: Mapping[tuple[str, str], int]
    dead: tuple[str, ...]
    verdicts: tuple[Verdict[G, S], ...]
    graph: Graph[G, S] | None = field(default=None, repr=False)
    sample: tuple[tuple[State[G, S], Label, str, State[G, S]], ...] = field(default=(), repr=False)

    @property
    def depth(self) -> int:
        return len(self.levels) - 1

    def verdict(self, name: str) -> Verdict[G, S]:
        return next(each for each in self.verdicts if each.id == name)

    @property
    def violated(self) -> tuple[Verdict[G, S], ...]:
        return tuple(each for each in self.verdicts if each.verdict == "violated")


def dead_rules(space: Space[G, S], happened: Set[str], *, reduced: bool) -> tuple[str, ...]:
    """The rules that never could happen. With symmetry, a rule happens where a renaming of it does."""
    alive = set(happened)
    if reduced:
        alive.update(renaming.rule(name) for renaming in space.renamings for name in happened)
    return tuple(rule.name for rule in space.rules if rule.name not in alive)


class Findings(Generic[G, S]):
    """Gathers what is seen while exploring."""

    def __init__(self, properties: Sequence[Property[G, S]]) -> None:
        self.properties = tuple(properties)
        self.spots: dict[str, Spot] = {}
        """The first breach of a property, or the first witness of a `Sometimes`."""
        self.cases: Counter[str] = Counter()
        self.taken: Counter[tuple[str, str]] = Counter()
        self._sometimes = {each.id: isinstance(each, Sometimes) for each in properties}
        if len(self._sometimes) != len(self.properties):
            raise SpaceError("two properties have the same id")

    def saw(self, spot: Spot, name: str) -> None:
        self.spots.setdefault(name, spot)

    def note(self, spot: Spot, taken: Taken) -> None:
        """A transition, seen at `spot` for the first time: what it breaks and shows."""
        for name in taken.violated:
            if self._sometimes.get(name, True):
                raise SpaceError(
                    f"{taken.label} breaks {name!r}, which is not declared as something to break"
                )
            self.saw(spot, name)
        for name in taken.witnessed:
            if self._sometimes.get(name):
                self.saw(spot, name)

    def count(self, taken: Taken) -> None:
        """A transition was taken."""
        self.taken[taken.label.rule, taken.outcome] += 1
        self.cases.update(taken.witnessed)

    def tabulated(self, asked: Always[G, S] | Sometimes[G, S], answers: Collection[bool]) -> None:
        """A predicate was asked in so many cases, with these answers."""
        if isinstance(asked, Sometimes):
            self.cases[asked.id] += sum(answers)
        elif not asked.needs_witness:
            self.cases[asked.id] = len(answers)

    def verdicts(
        self, *, complete: bool, reason: str, traces: Mapping[str, Trace[G, S]], graph: bool = True
    ) -> tuple[Verdict[G, S], ...]:
        """The verdict on each property; without a `graph`, none on what needs one."""
        told = []
        for asked in self.properties:
            verdict, why = self._judged(asked, complete, reason, graph)
            told.append(
                Verdict(asked.id, asked.sentence, verdict, why, traces.get(asked.id), self.cases[asked.id])
            )
        return tuple(told)

    def _judged(
        self, asked: Property[G, S], complete: bool, reason: str, graph: bool
    ) -> tuple[Literal["holds", "violated", "inconclusive"], str]:
        seen = asked.id in self.spots
        if isinstance(asked, Sometimes):
            if seen:
                return "holds", ""
            return "inconclusive", "no state or transition shows it" if complete else f"not seen; {reason}"
        if seen:
            return "violated", ""
        if not complete:
            return "inconclusive", f"not broken so far; {reason}"
        if isinstance(asked, EventuallyPossible):
            if not graph:
                return "inconclusive", "the graph was not kept"
            wanted = True
        else:
            wanted = asked.needs_witness
        if wanted and not self.cases[asked.id]:
            return "inconclusive", "never put to the test"
        return "holds", ""
