"""How fast checked actions are, measured against bare ones: the same actions, in the same run.

`bare` lets the store alone do them; `checked` adds model, observation and whole comparison. Both run on fresh
stores side by side, action by action, and seconds are those of the processor, so that whatever else the
machine does strikes both alike. File events are left out: bare, nobody watches what was published.

On a disk the seconds of waiting for it are not counted, so this says something for RAM-backed places alone.

`python -m stateful_tests.rates` prints the figures.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from model import walk as walks_of_model
from model.actions import Action, Call, Damage, Disturbance, Happens, LeaveTemp, Mend, Open, PutBack
from stateful_tests.lockstep import Lockstep
from stateful_tests.pair import StepRecord
from stateful_tests.replay import workspace
from stateful_tests.system import Draw
from stateful_tests.target import StoreTarget
from stateful_tests.walks import model_walk

MOST_COMMITS = 50


class FoundError(Exception):
    """There is nothing to measure: the walk of `records` found that the store is broken."""

    def __init__(self, records: Sequence[StepRecord]) -> None:
        super().__init__("the store is broken")
        self.records = tuple(records)


def measure(
    seed: int, *, rounds: int, steps: int = 150, draw: Draw = walks_of_model.draw
) -> Mapping[str, float]:
    """`checked_actions_per_s`, `bare_operations_per_s` and their `ratio`, over `rounds` walks.

    Raises `FoundError` if model and store differ.
    """
    count, bare, checked = 0, 0.0, 0.0
    for number in range(rounds):
        actions = plain_actions(draw, f"rates/{seed}/{number}", steps)
        count += len(actions)
        with workspace() as root:
            seconds = _side_by_side(actions, root)
        bare += seconds[0]
        checked += seconds[1]
    return {
        "checked_actions_per_s": round(count / checked, 1),
        "bare_operations_per_s": round(count / bare, 1),
        "ratio": round(bare / checked, 3),
    }


def plain_actions(draw: Draw, seed: str, steps: int) -> list[Action]:
    """A walk's actions without file events, up to 50 commits."""
    actions: list[Action] = []
    for _, action, after in model_walk(_without_file_events(draw), seed, steps):
        if after.store is not None and after.store.commit_seq > MOST_COMMITS:
            break
        actions.append(action)
    return actions


def _without_file_events(draw: Draw) -> Draw:
    def plain(rng, world):  # type: ignore[no-untyped-def]  # a Draw, as the return type says
        while True:
            action = draw(rng, world)
            if not _meddles(action):
                return action

    return plain


def _meddles(action: Action) -> bool:
    if isinstance(action, Call | Open):
        return any(map(_meddles_meanwhile, action.disturbances))
    return isinstance(action, PutBack | LeaveTemp | Damage | Mend)


def _meddles_meanwhile(disturbance: Disturbance) -> bool:
    return isinstance(disturbance.effect, Happens) and _meddles(disturbance.effect.event)


def _side_by_side(actions: Sequence[Action], root: Path) -> tuple[float, float]:
    """Seconds that the bare and the checked store take for the same `actions`."""
    bare, checked = 0.0, 0.0
    with StoreTarget(root / "bare") as alone, StoreTarget(root / "checked") as target:
        pair = Lockstep(target)
        records: list[StepRecord] = []

        def check(action: Action) -> None:
            records.append(pair.step(action))

        for number, action in enumerate(actions):
            # In turns: whoever comes second finds the caches warm.
            if number % 2:
                checked += _timed(check, action)
            if not records or records[-1].divergence is None:
                bare += _timed(alone.apply, action)
            if not number % 2:
                checked += _timed(check, action)
            if records[-1].divergence is not None:
                raise FoundError(records)
    return bare, checked


def _timed(what: Callable[[Action], object], action: Action) -> float:
    started = time.thread_time()
    what(action)
    return time.thread_time() - started


if __name__ == "__main__":
    for name, figure in measure(0, rounds=20).items():
        print(f"{name:24} {figure:10}")
