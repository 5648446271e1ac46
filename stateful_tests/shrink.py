"""Makes a failing list of actions shorter and simpler while it goes on failing in the same way.

Delta debugging over the actions first; then actions go whose leaving changes what later ones mean, such as
the numbers they count by; disturbances are dropped, arguments, amounts and hosts made simpler; and again,
until nothing more helps or the budget is spent. Deterministic: the same actions, test and budget give the
same result. The result fails as the original did: it was run.

It promises no global minimum, and costs what `fails` costs, `budget` times at most.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

from attrs import define, field, frozen

from stateful_tests.system import COORDINATOR, System, system_named

Fails = Callable[[Sequence[Any]], bool]
"""Whether these actions fail in the way that is looked for. An action that makes no sense is no failure."""


@frozen
class Shrunk:
    """The shorter story, how many runs it took, and whether the budget ended it."""

    actions: tuple[Any, ...]
    tries: int
    exhausted: bool


def shrink(
    actions: Sequence[Any], fails: Fails, *, budget: int = 600, system: System | None = None
) -> Shrunk:
    """The shortest and simplest actions found that still fail. `actions` must fail to begin with.

    They are actions of `system`, by default the coordinator.
    """
    search = _Search(fails, budget, tuple(actions), system or system_named(COORDINATOR))
    while not search.exhausted:
        before = search.best
        search.drop_actions()
        search.drop_with_consequences()
        search.merge_actors()
        search.simplify()
        if search.best == before:
            break
    return Shrunk(search.best, search.tries, search.exhausted)


@define
class _Search:
    fails: Fails
    budget: int
    best: tuple[Any, ...]
    system: System
    tries: int = 0
    seen: set[str] = field(factory=set)

    @property
    def exhausted(self) -> bool:
        return self.tries >= self.budget

    def takes(self, candidate: tuple[Any, ...]) -> bool:
        """Runs `candidate`; keeps it if it fails."""
        if self.exhausted:
            return False
        key = json.dumps([self.system.action_to_json(action) for action in candidate])
        if key in self.seen:
            return False
        self.seen.add(key)
        self.tries += 1
        if not self.fails(candidate):
            return False
        self.best = candidate
        return True

    def drop_actions(self) -> None:
        size = max(len(self.best) // 2, 1)
        while not self.exhausted:
            dropped = False
            # From the end: what stands late depends on what stands early, not the other way round.
            start = len(self.best) - size
            while start > -size:
                kept = self.best[: max(start, 0)] + self.best[start + size :]
                dropped |= len(kept) < len(self.best) and self.takes(kept)
                start -= size
            if size > 1:
                size = max(size // 2, 1)
            elif not dropped:
                return

    def drop_with_consequences(self) -> None:
        index = len(self.best) - 1
        while index >= 0 and not self.exhausted:
            # From the end, as above. What has gone makes the next one slide into its place.
            if not any(self.takes(fewer) for fewer in self.system.without(self.best, index)):
                index -= 1
            index = min(index, len(self.best) - 1)

    def merge_actors(self) -> None:
        """Lets one host, or one client, do what another did."""
        key, system = self.system.actor, self.system
        forms = [system.action_to_json(action) for action in self.best]
        names = list(dict.fromkeys(form[key] for form in forms if key in form))
        for name in names[1:]:
            text = json.dumps([system.action_to_json(action) for action in self.best])
            merged = text.replace(f'"{key}": {json.dumps(name)}', f'"{key}": {json.dumps(names[0])}')
            self.takes(tuple(system.action_from_json(form, "action") for form in json.loads(merged)))

    def simplify(self) -> None:
        for index in range(len(self.best)):
            again = True
            while again and not self.exhausted:
                again = any(
                    self.takes((*self.best[:index], simpler, *self.best[index + 1 :]))
                    for simpler in self.system.simpler(self.best[index])
                )
