"""How much an exploration may take. A budget that is spent makes it inconclusive, never wrong.

Seconds are those of the clock that the caller passes in (the model has none of its own; CPU time of the
process is a good one), looked at between parts of a level. Bytes are those of the arrays that hold states and
edges and what making the graph of them will take; what the space itself, its tables and the states at hand
take is not counted, some 100 MB.
"""

from collections.abc import Callable

from attrs import field, frozen


@frozen(kw_only=True)
class Budget:
    """`None` is without limit. `depth` is the number of transitions from the start."""

    states: int | None = None
    seconds: float | None = None
    bytes: int | None = None
    depth: int | None = None
    clock: Callable[[], float] | None = field(default=None, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if self.seconds is not None and self.clock is None:
            raise ValueError("a budget of seconds needs a clock, such as time.process_time")


class Meter:
    """A budget being spent."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self._start = self._now()

    def _now(self) -> float:
        return self.budget.clock() if self.budget.clock is not None else 0.0

    @property
    def seconds(self) -> float:
        """Since the start, by the caller's clock; 0 without one."""
        return self._now() - self._start

    def spent(self, *, states: int, taken: int = 0) -> str | None:
        """Why to stop, if `states` were seen and `taken` bytes are held; `None` to go on."""
        budget = self.budget
        if budget.states is not None and states > budget.states:
            return f"the budget of {budget.states:,} states is spent"
        if budget.bytes is not None and taken > budget.bytes:
            return f"the budget of {budget.bytes / 1e6:,.0f} MB is spent"
        if budget.seconds is not None and self.seconds > budget.seconds:
            return f"the budget of {budget.seconds:g} s is spent"
        return None

    def too_deep(self, depth: int) -> str | None:
        """Why not to look at what is reached by `depth` transitions; `None` to do so."""
        if self.budget.depth is not None and depth > self.budget.depth:
            return f"the bound of {self.budget.depth} transitions from the start is reached"
        return None
