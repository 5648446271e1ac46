"""Model and store side by side, one action at a time, whichever system they are of.

The model goes first; an action that it declines is never sent. Then the store, and then everything is
compared, which is what a subclass is for; the model's own invariants must hold of the step, too. It stops
at the first difference: after one, the two worlds have nothing to say to each other.
"""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from attrs import frozen

from model.values import JSON
from stateful_tests.compare import Difference

Judge = Callable[[Any, Any, Any, Any], tuple[str, ...]]
"""The ids of the invariants that a step violates: of the world before, action, outcome, world after."""

Found = tuple[str, str, tuple[Difference, ...]]
"""A difference: its kind, the clause that it is about, and where expected and observed differ."""


class Shown(Protocol):
    """What came of an action, as a trace tells it."""

    def to_json(self) -> dict[str, JSON]: ...


class Subject(Protocol):
    """A store under test, of any system."""

    def apply(self, action: Any, /) -> Shown:
        """Lets `action` happen. `LookupError` if it names what is not there."""

    def observe(self) -> Any:
        """What the store shows now."""

    @property
    def struck(self) -> tuple[str, ...]:
        """What of the last action's disturbances really struck, as `coverage` counts it."""

    @property
    def meddled(self) -> int:
        """How often the files have been changed from outside so far."""

    def close(self) -> None:
        """Closes whatever is open."""


@frozen
class Divergence:
    """The first difference: at step `index`, in `kind` of thing, against `clause`.

    `kind` is invariant, or one of those that the system's comparison names: outcome, code, answer, crashed …
    `clause` is the rule as the specification names it, or an invariant's id.
    """

    index: int
    kind: str
    clause: str
    name: str
    differences: tuple[Difference, ...] = ()

    @property
    def signature(self) -> tuple[str, str, str]:
        """What makes two divergences the same failure."""
        return (self.kind, self.clause, self.name)

    @property
    def title(self) -> str:
        """One line for a person."""
        if self.kind == "invariant":
            return f"{self.name}: invariant {self.clause} is violated"
        shown = f" ({self.differences[0]})" if self.differences else ""
        return f"{self.name}: {self.kind} differs{shown}"

    def to_json(self) -> dict[str, JSON]:
        return {
            "index": self.index,
            "kind": self.kind,
            "clause": self.clause,
            "name": self.name,
            "differences": [difference.to_json() for difference in self.differences],
        }


@frozen
class StepRecord:
    """One step: the model's outcome, the store's result (none if declined), and what differed."""

    index: int
    action: Any
    expected: Any
    observed: Shown | None = None
    divergence: Divergence | None = None
    struck: tuple[str, ...] = ()
    declined: bool = False
    disk: Mapping[str, JSON] | None = None
    """What was on disk afterwards, where somebody looked."""


class DivergedError(AssertionError):
    """Model and store differ. `record` is the step at which."""

    def __init__(self, record: StepRecord) -> None:
        assert record.divergence is not None
        super().__init__(record.divergence.title)
        self.record = record


class Pair:
    """Walks `target` and the model's `world` through the same actions. `judge=None` skips the invariants."""

    def __init__(self, target: Subject, world: Any, *, judge: Judge | None = None) -> None:
        self.world = world
        self.target = target
        self.observation = target.observe()
        self.steps = 0
        self._judge = judge

    def step(self, action: Any) -> StepRecord:
        """Lets `action` happen on both sides. A difference stands in the record; nothing is raised for it."""
        index, self.steps = self.steps, self.steps + 1
        before = self.world
        after, outcome, declined = self.expect(action)
        if declined:
            return StepRecord(index, action, outcome, declined=True)
        result = self.target.apply(action)
        seen, self.observation = self.observation, self.target.observe()
        self.world = after
        found = self.differs(action, before, outcome, result, seen)
        if found is None and self._judge is not None:
            violated = self._judge(before, action, outcome, after)
            if violated:
                found = ("invariant", violated[0], ())
        if found is None:
            return StepRecord(index, action, outcome, result, None, self.target.struck)
        divergence = Divergence(index, found[0], found[1], self.name_of(action), found[2])
        return StepRecord(index, action, outcome, result, divergence, self.target.struck)

    def check(self, action: Any) -> StepRecord:
        """`step`, but a difference is raised as `DivergedError`."""
        record = self.step(action)
        if record.divergence is not None:
            raise DivergedError(record)
        return record

    def expect(self, action: Any) -> tuple[Any, Any, bool]:
        """The model's next world and outcome, and whether it declines."""
        raise NotImplementedError

    def differs(self, action: Any, before: Any, outcome: Any, result: Any, seen: Any) -> Found | None:
        """The first difference after `action`; `self.world` and `self.observation` are those after it."""
        raise NotImplementedError

    def name_of(self, action: Any) -> str:
        """The operation's name as the specification writes it."""
        raise NotImplementedError
