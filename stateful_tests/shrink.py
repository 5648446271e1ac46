"""Makes a failing list of actions shorter and simpler while it goes on failing in the same way.

Delta debugging over the actions first; then disturbances are dropped, arguments, amounts and hosts made
simpler; and again, until nothing more helps or the budget is spent. Deterministic: the same actions, test
and budget give the same result. The result fails as the original did: it was run.

It promises no global minimum, and costs what `fails` costs, `budget` times at most.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from attrs import define, evolve, field, frozen

from model.actions import Action, AdvanceClock, Call, Disturbance, Open, PutBack
from model.forms import action_from_json, action_to_json

Fails = Callable[[Sequence[Action]], bool]
"""Whether these actions fail in the way that is looked for. An action that makes no sense is no failure."""

_AMOUNTS = (1, 10, 100, 1_000, 10_000, 60_000, 3_600_000)


@frozen
class Shrunk:
    """The shorter story, how many runs it took, and whether the budget ended it."""

    actions: tuple[Action, ...]
    tries: int
    exhausted: bool


def shrink(actions: Sequence[Action], fails: Fails, *, budget: int = 600) -> Shrunk:
    """The shortest and simplest actions found that still fail. `actions` must fail to begin with."""
    search = _Search(fails, budget, tuple(actions))
    while not search.exhausted:
        before = search.best
        search.drop_actions()
        search.merge_hosts()
        search.simplify()
        if search.best == before:
            break
    return Shrunk(search.best, search.tries, search.exhausted)


@define
class _Search:
    fails: Fails
    budget: int
    best: tuple[Action, ...]
    tries: int = 0
    seen: set[str] = field(factory=set)

    @property
    def exhausted(self) -> bool:
        return self.tries >= self.budget

    def takes(self, candidate: tuple[Action, ...]) -> bool:
        """Runs `candidate`; keeps it if it fails."""
        if self.exhausted:
            return False
        key = json.dumps([action_to_json(action) for action in candidate])
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

    def merge_hosts(self) -> None:
        hosts = list(dict.fromkeys(action.host for action in self.best if isinstance(action, Open | Call)))
        for host in hosts[1:]:
            text = json.dumps([action_to_json(action) for action in self.best])
            merged = text.replace(f'"host": {json.dumps(host)}', f'"host": {json.dumps(hosts[0])}')
            self.takes(tuple(action_from_json(form) for form in json.loads(merged)))

    def simplify(self) -> None:
        for index in range(len(self.best)):
            again = True
            while again and not self.exhausted:
                again = any(
                    self.takes((*self.best[:index], simpler, *self.best[index + 1 :]))
                    for simpler in simpler_actions(self.best[index])
                )


def simpler_actions(action: Action) -> Iterator[Action]:
    """Actions like `action` but simpler, the simplest first. Each is smaller, so this comes to an end."""
    if isinstance(action, AdvanceClock):
        sign = -1 if action.ms < 0 else 1
        for amount in _AMOUNTS:
            if amount < abs(action.ms):
                yield AdvanceClock(sign * amount)
    if isinstance(action, PutBack):
        for index in range(action.index):
            yield PutBack(index)
    if isinstance(action, Open):
        if type(action.initial_max_active_runs) is int and action.initial_max_active_runs > 1:
            yield evolve(action, initial_max_active_runs=1)
        if not action.arbitration:
            yield evolve(action, arbitration=True)
    if isinstance(action, Call):
        for key in sorted(action.arguments):
            yield evolve(
                action, arguments={name: one for name, one in action.arguments.items() if name != key}
            )
        for key, value in sorted(action.arguments.items()):
            for simpler in _simpler_values(value):
                yield evolve(action, arguments={**action.arguments, key: simpler})
    if isinstance(action, Open | Call):
        for disturbances in _fewer(action.disturbances):
            yield evolve(action, disturbances=disturbances)


def _simpler_values(value: Any) -> Iterator[int | str]:
    if type(value) is int:
        for amount in _AMOUNTS:
            if amount < value:
                yield amount
    # Identifiers stay as they are: shorter, they would mean something else.
    if isinstance(value, str) and len(value) > 1 and len(value) != 36:
        yield value[:1]
        if len(value) > 2:
            yield value[: len(value) // 2]


def _fewer(disturbances: tuple[Disturbance, ...]) -> Iterator[tuple[Disturbance, ...]]:
    if len(disturbances) > 1:
        yield ()
    for index, one in enumerate(disturbances):
        yield disturbances[:index] + disturbances[index + 1 :]
        if one.nth > 1:
            yield (*disturbances[:index], evolve(one, nth=1), *disturbances[index + 1 :])
