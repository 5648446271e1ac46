"""`Invariant`: one line of the tables of what must be true (`model.invariants`, `model.guards`)."""

from collections.abc import Callable
from typing import Literal

from attrs import frozen

from model.actions import Action
from model.outcomes import Outcome
from model.values import World

Witness = Callable[[World, Action, Outcome, World], bool]
"""Takes a step, `(before, action, outcome, after)`; so does the predicate of a `step` invariant."""


@frozen
class Invariant:
    """`predicate` takes `(world)` if `kind` is `always`, else `(before, action, outcome, after)`.

    `witness` takes the latter: whether a situation in which the invariant matters occurred.
    """

    id: str
    sentence: str
    source: str
    kind: Literal["always", "step"]
    predicate: Callable[..., bool]
    witness: Witness
    of_writing: bool = False
    """Whether it holds of every step that published nothing, and so need not be asked of one."""
