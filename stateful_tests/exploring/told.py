"""A space that is told by worlds: a state is what `view` shows of a world, and the first met stands for all.

For small spaces that no table need be learned for. Each state is fired by the real model in a real world, so
nothing has to be forged; that worlds of one view behave alike is what a tour checks, world by world.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from model.explorer.space import Fired, Label, Rule, Space, State
from stateful_tests.system import System

Makes = Callable[[Any], Any]
"""The action that a rule means in a world, or `None` where it can't happen there."""


class ToldSpace(Space[Hashable, Hashable]):
    """`alphabet` are the rules by name; `beginnings` lead to the worlds in which it starts."""

    def __init__(
        self,
        system: System,
        alphabet: Mapping[str, Makes],
        view: Callable[[Any], Hashable],
        beginnings: Sequence[tuple[Any, ...]] = ((),),
    ) -> None:
        self.system = system
        self.rules = tuple(Rule(name, "whole") for name in alphabet)
        self._alphabet = alphabet
        self._view = view
        self._beginnings = tuple(beginnings)
        self._worlds: dict[Hashable, Any] = {}

    def initial(self) -> Sequence[State[Hashable, Hashable]]:
        starts = []
        for beginning in self._beginnings:
            world = self.system.initial({})
            for action in beginning:
                world, outcome = self.system.step(world, action)
                if self.system.declined(outcome):
                    raise ValueError(f"a beginning that the model declines: {action}")
            self._worlds.setdefault(self._view(world), world)
            starts.append(self.view(world))
        return starts

    def fire(
        self, rule: Rule, shared: Hashable, _slot: Hashable | None, _context: tuple[Hashable, ...]
    ) -> Fired[Hashable, Hashable] | None:
        world = self._worlds[shared]
        action = self._alphabet[rule.name](world)
        if action is None:
            return None
        after, outcome = self.system.step(world, action)
        if self.system.declined(outcome):
            return None
        seen = self._view(after)
        self._worlds.setdefault(seen, after)
        return Fired(self.outcome_of(outcome), seen)

    def beginnings(self) -> Sequence[tuple[Any, ...]]:
        return self._beginnings

    def view(self, world: Any) -> State[Hashable, Hashable]:
        return State(self._view(world))

    def action(self, label: Label, world: Any) -> Any:
        return self._alphabet[label.rule](world)

    def outcome_of(self, outcome: Any) -> str:
        return self.system.outcome_name(outcome)
