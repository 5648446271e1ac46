"""The explored graph as a tour reads it: where a concrete world stands in it, and what to do next there.

A node is a world up to names and relative time. So that the real store can be led along an edge, the space
says how a concrete world looks, and which action of the model a label stands for in it.

It trusts nobody: after each action the world is located again, and `lies` says how it differs from what the
graph had foretold. That is a check of the abstraction, and no news of the store.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from attrs import frozen

from model.explorer.graph import Graph
from model.explorer.space import Label, State
from model.explorer.symmetry import Names
from stateful_tests.compare import Difference


class Toured(Protocol):
    """What a space offers besides being explored, to be toured on a real store.

    `beginnings` is parallel to its initial states: actions that lead there from the world in which nothing
    has happened. Slot `i` of what `view` shows is always the same real id. `action` is told a label of that
    view, not of a canonical state. `outcome_of` is the outcome class of a transition.
    """

    def beginnings(self) -> Sequence[tuple[Any, ...]]: ...
    def view(self, world: Any, /) -> State[Any, Any]: ...
    def action(self, label: Label, world: Any, /) -> Any: ...
    def outcome_of(self, outcome: Any, /) -> str: ...


@frozen
class Place:
    """Where a world stands: its node, or `None` if the graph has none for it, and the names there."""

    node: int | None
    names: Names


class Chart:
    """`graph` of `space`, in plain lists: they are asked for one element after another."""

    def __init__(self, space: Toured, graph: Graph[Any, Any]) -> None:
        if not graph.complete:
            raise ValueError("a tour needs the whole graph, and a budget ended its exploration")
        self.space = space
        self.graph = graph
        self._sources = graph.source.tolist()
        self._targets = graph.target.tolist()
        self._labels = graph.label.tolist()
        self._outcomes = graph.outcome.tolist()
        self._parents = graph.parent.tolist()
        self._begins = graph.starts.tolist()
        self.starts = tuple(node for node, parent in enumerate(self._parents) if parent < 0)

    @property
    def nodes(self) -> int:
        return len(self._parents)

    @property
    def edges(self) -> int:
        return len(self._sources)

    def out(self, node: int) -> range:
        return range(self._begins[node], self._begins[node + 1])

    def source(self, edge: int) -> int:
        return int(self._sources[edge])

    def target(self, edge: int) -> int:
        return int(self._targets[edge])

    def parent(self, node: int) -> int:
        return int(self._parents[node])

    def label(self, edge: int) -> Label:
        return self.graph.labels[self._labels[edge]]

    def outcome(self, edge: int) -> str:
        return self.graph.outcomes[self._outcomes[edge]]

    def locate(self, world: Any) -> Place:
        return Place(*self.graph.locate(self.space.view(world)))

    def action(self, edge: int, place: Place, world: Any) -> Any:
        """The action by which `world`, which stands at `place`, goes along `edge`."""
        return self.space.action(place.names.real(self.label(edge)), world)

    def lies(self, edge: int, outcome: Any, after: Place) -> tuple[Difference, ...]:
        """How the graph was wrong about `edge`, if the model says `outcome` and the world then is `after`."""
        found = []
        told, seen = self.outcome(edge), self.space.outcome_of(outcome)
        if told != seen:
            found.append(Difference("outcome class", told, seen))
        if after.node != self.target(edge):
            found.append(Difference("node", self.target(edge), after.node))
        return tuple(found)
