"""A predicate over states, evaluated once for each distinct thing that it sees of them."""

from collections.abc import Hashable, Sequence
from typing import Generic

from model.explorer.properties import Always, Sometimes
from model.explorer.space import G, S, State
from model.explorer.symmetry import Interner


class Table(Generic[G, S]):
    """The answers of one `Always`, or of one `Sometimes` that has a predicate."""

    def __init__(self, asked: Always[G, S] | Sometimes[G, S]) -> None:
        assert asked.holds is not None
        self.asked = asked
        self._holds = asked.holds
        self.parts: Interner[Hashable] = Interner()
        self.projections: Interner[Hashable] = Interner()
        self.answers: dict[tuple[int, ...], bool] = {}

    def interesting(self, state: State[G, S]) -> bool:
        """Whether `state` breaks an `Always`, or shows a `Sometimes`."""
        numbers = sorted(self.projections.number(self.asked.project(slot)) for slot in state.slots)
        return self.answer(self.parts.number(self.asked.part(state.shared)), numbers)

    def answer(self, part: int, projections: Sequence[int]) -> bool:
        """The same, of numbered parts and projections; these are sorted."""
        key = (part, *projections)
        known = self.answers.get(key)
        if known is None:
            values = tuple(self.projections.values[number] for number in projections)
            holds = bool(self._holds(self.parts.values[part], values))
            known = self.answers[key] = holds is isinstance(self.asked, Sometimes)
        return known


def tables(properties: Sequence[object]) -> list[Table[G, S]]:
    """One for each property that has a predicate over states."""
    return [
        Table(each)
        for each in properties
        if isinstance(each, Always) or (isinstance(each, Sometimes) and each.holds is not None)
    ]
