"""What can be asked of a space, and what comes of it.

Four kinds: `Always` (a predicate over states), `Step` (judged by the space itself in `fire`, which reports
ids), `Sometimes` (a witness that must be seen), `EventuallyPossible` (from wherever a slot is in some
situation there is a way to another). All must be indifferent to which slot is which and to renamings.

A verdict has three values. `holds` is said only of what was explored whole and put to the test.
"""

from collections.abc import Callable, Hashable
from typing import Generic, Literal, TypeVar

from attrs import field, frozen

from model.explorer.space import G, Label, S, State

T = TypeVar("T")


def same(value: T) -> T:
    """All of a value: the projection that leaves nothing out."""
    return value


@frozen
class Always(Generic[G, S]):
    """`holds(part(shared), sorted projections of the slots)` in every state.

    Evaluated once for each distinct pair: the coarser the projections, the faster. The order of the
    projections means nothing. With `needs_witness`, some `fire` must report the id as witnessed.
    """

    id: str
    sentence: str
    holds: Callable[..., bool]
    project: Callable[[S], Hashable] = same
    part: Callable[[G], Hashable] = same
    needs_witness: bool = False


@frozen
class Sometimes(Generic[G, S]):
    """Some state in which `holds` is true is reached; or, without `holds`, some `fire` reports the id.

    A witness: one that is never seen leaves its verdict inconclusive, it is no breach.
    """

    id: str
    sentence: str
    holds: Callable[..., bool] | None = None
    project: Callable[[S], Hashable] = same
    part: Callable[[G], Hashable] = same


@frozen
class Step:
    """No transition breaks it: `fire` reports breaches in `violated`, and tests of it in `witnessed`."""

    id: str
    sentence: str
    needs_witness: bool = True


@frozen
class EventuallyPossible(Generic[G, S]):
    """From each state in which `given(shared, slot)` there is a way to `goal(shared, slot)` for that slot.

    Without slots, `slot` is `None`. `by` are the names of the rules that the way may take (all, if `None`).
    Needs the graph.
    """

    id: str
    sentence: str
    given: Callable[..., bool]
    goal: Callable[..., bool]
    by: frozenset[str] | None = None


Property = Always[G, S] | Sometimes[G, S] | Step | EventuallyPossible[G, S]


@frozen
class Move(Generic[G, S]):
    """One transition of a trace: what was done, what came of it, and the state after."""

    label: Label
    outcome: str
    state: State[G, S]


@frozen
class Trace(Generic[G, S]):
    """From an initial state, in real ids. No shorter one shows the same."""

    start: State[G, S]
    moves: tuple[Move[G, S], ...] = ()

    @property
    def last(self) -> State[G, S]:
        return self.moves[-1].state if self.moves else self.start


@frozen
class Verdict(Generic[G, S]):
    """What came of one property. `trace` shows the breach, or the witness of a `Sometimes`."""

    id: str
    sentence: str
    verdict: Literal["holds", "violated", "inconclusive"]
    reason: str = ""
    trace: Trace[G, S] | None = field(default=None, repr=False)
    cases: int = 0
    """How often it was put to the test: distinct projections, transitions that witness it, or slots."""
