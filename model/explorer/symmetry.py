"""Which states are the same but for names: one of them stands for all.

`canonical` sorts the slots and, over the declared renamings, takes the smallest; it keeps what it did, so
that a label of the canonical state can be told in real ids. The order behind "sorted" and "smallest" is the
order in which values were first met: stable within one `Symmetry`, meaningless outside of it.
"""

from collections.abc import Callable, Hashable, Sequence
from math import factorial
from typing import Generic, TypeVar

from attrs import frozen

from model.explorer.space import G, Label, Rule, S, Space, State

V = TypeVar("V", bound=Hashable)


class Interner(Generic[V]):
    """Numbers values from 0 in the order in which they are met."""

    def __init__(self) -> None:
        self.values: list[V] = []
        self._numbers: dict[V, int] = {}

    def __len__(self) -> int:
        return len(self.values)

    def number(self, value: V) -> int:
        found = self._numbers.get(value)
        if found is None:
            found = self._numbers[value] = len(self.values)
            self.values.append(value)
        return found

    def known(self, value: V) -> int | None:
        """The number of `value` if it was met, without meeting it now."""
        return self._numbers.get(value)


@frozen
class Names:
    """How a canonical state relates to the real one: `canonical.slots[p]` is `real.slots[slots[p]]`, renamed.

    `rules` maps rule names of the canonical state to those of the real one; missing names are the same.
    """

    slots: tuple[int, ...]
    renaming: int = 0
    rules: tuple[tuple[str, str], ...] = ()

    def real(self, label: Label) -> Label:
        """A label of the canonical state, told of the real one."""
        rule = dict(self.rules).get(label.rule, label.rule) if self.rules else label.rule
        return Label(rule, None if label.slot is None else self.slots[label.slot])


class Symmetry(Generic[G, S]):
    """The symmetries of a space. With `reduce` false every state stands for itself."""

    def __init__(self, space: Space[G, S], *, reduce: bool) -> None:
        self.space = space
        self.reduce = reduce
        self.shared: Interner[G] = Interner()
        self.slots: Interner[S] = Interner()
        self._rules = [()] + [_backwards(space.rules, renaming.rule) for renaming in space.renamings]

    def canonical(self, state: State[G, S]) -> tuple[State[G, S], Names]:
        """The state that stands for `state`, and how to come back."""
        if not self.reduce:
            return state, Names(tuple(range(len(state.slots))))
        best = None
        for index in range(len(self._rules)):
            key, order = self._sorted(self._image(state, index))
            if best is None or key < best[0]:
                best = key, Names(order, index, self._rules[index])
        assert best is not None
        key, names = best
        return State(self.shared.values[key[0]], tuple(self.slots.values[n] for n in key[1:])), names

    def orbit_size(self, state: State[G, S]) -> int:
        """For how many states `state` stands."""
        if not self.reduce:
            return 1
        keys = [self._sorted(self._image(state, index))[0] for index in range(len(self._rules))]
        arrangements = factorial(len(state.slots))
        for number in set(keys[0][1:]):
            arrangements //= factorial(keys[0][1:].count(number))
        return arrangements * len(set(keys))

    def _image(self, state: State[G, S], index: int) -> State[G, S]:
        if index == 0:
            return state
        renaming = self.space.renamings[index - 1]
        return State(renaming.shared(state.shared), tuple(map(renaming.slot, state.slots)))

    def _sorted(self, state: State[G, S]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        numbers = [self.slots.number(slot) for slot in state.slots]
        order = sorted(range(len(numbers)), key=numbers.__getitem__)
        return (self.shared.number(state.shared), *(numbers[i] for i in order)), tuple(order)


def _backwards(rules: Sequence[Rule], rename: Callable[[str], str]) -> tuple[tuple[str, str], ...]:
    """From names after the renaming to names before it, where they differ."""
    pairs = ((rename(rule.name), rule.name) for rule in rules)
    return tuple((after, before) for after, before in pairs if after != before)
