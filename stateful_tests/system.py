"""A system under check: all that the machinery has to know of it to walk, replay, shrink and tell.

There are two of them: the coordinator, and the ledger-gated transactions. Traces name theirs, and a trace
that names none is the coordinator's. `system_named` imports a system when it is asked for, and no earlier.
"""

import importlib
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Protocol

from attrs import frozen

from model.values import JSON
from stateful_tests.pair import Judge, Pair, StepRecord, Subject

COORDINATOR: Final = "coordinator"
_PLACES: Final[Mapping[str, str]] = {
    COORDINATOR: "stateful_tests.coordinator:SYSTEM",
    "ledger": "stateful_tests.gated.system:SYSTEM",
}

Draw = Callable[[random.Random, Any], Any]
"""The next action of a walk: a function of its arguments, a generator and the world, alone."""


class Counts(Protocol):
    """Counts what a run has seen, by flat key."""

    counts: Counter[str]

    def see(self, before: Any, record: StepRecord, after: Any, /) -> None:
        """Counts one step that led the model from the world `before` to `after`."""


@frozen
class System:
    """Worlds, actions and outcomes are values of the system's own model; here they are just passed on.

    `initial` makes the world that a trace starts in of the trace's `initial`, and raises a `ValueError`
    that names the place if it can't. `target` makes a store under test in a directory that need not exist
    yet. `actor` is the field of an action that says who acts. `simpler` yields actions like the given one
    but simpler, the simplest first, each of them smaller. `without` yields ways to leave out the action at
    an index in which what stands later is changed as well, so that it goes on meaning the same. `draw` is
    the model's random walk; `on_tour(number, steps)` is that of walk `number` of so many steps, with
    whatever must not be left to chance. What a run has seen is counted under `prefix`.
    """

    name: str
    initial: Callable[[Mapping[str, Any]], Any]
    step: Callable[[Any, Any], tuple[Any, Any]]
    declined: Callable[[Any], bool]
    action_to_json: Callable[[Any], dict[str, JSON]]
    action_from_json: Callable[[object, str], Any]
    outcome_to_json: Callable[[Any], dict[str, JSON]]
    name_of: Callable[[Any], str]
    outcome_name: Callable[[Any], str]
    target: Callable[[Path], Subject]
    pair: Callable[[Any, Any, Judge | None], Pair]
    judge: Judge
    witnessed: Judge
    invariants: tuple[str, ...]
    actor: str
    simpler: Callable[[Any], Iterator[Any]]
    draw: Draw
    on_tour: Callable[[int, int], Draw]
    coverage: Callable[[], Counts]
    without: Callable[[tuple[Any, ...], int], Iterator[tuple[Any, ...]]] = lambda _actions, _index: iter(())
    prefix: str = ""


def system_named(name: str) -> System:
    """The system of that name. `ValueError` if there is none."""
    if name not in _PLACES:
        raise ValueError(f"{name!r} is no system; known are {', '.join(_PLACES)}")
    module, _, attribute = _PLACES[name].partition(":")
    system: System = getattr(importlib.import_module(module), attribute)
    return system
