"""The explored graph as a tour reads it: where a concrete world stands in it, and what to do next there.

A node is a world up to names and relative time. So that the real store can be led along an edge, the space
says how a concrete world looks, and which action of the model a label stands for in it.

It trusts nobody: after each action the world is located again, and `lies` says how it differs from what the
graph had foretold. That is a check of the abstraction, and no news of the store.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from attrs import fields, frozen, has

from model.explorer.graph import Graph
from model.explorer.space import Label, State
from model.explorer.symmetry import Names
from model.values import JSON
from stateful_tests.compare import Difference, differences


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
        self._starts = tuple(node for node, parent in enumerate(self._parents) if parent < 0)

    @property
    def starts(self) -> tuple[int, ...]:
        return self._starts

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
        found: Label = self.graph.labels[self._labels[edge]]
        return found

    def outcome(self, edge: int) -> str:
        return str(self.graph.outcomes[self._outcomes[edge]])

    def locate(self, world: Any) -> Place:
        return Place(*self.graph.locate(self.space.view(world)))

    def action(self, edge: int, place: Place, world: Any) -> Any:
        """The action by which `world`, which stands at `place`, goes along `edge`."""
        return self.space.action(place.names.real(self.label(edge)), world)

    def arrival(self, edge: int, outcome: Any, world: Any) -> tuple[Place, tuple[Difference, ...]]:
        """Where `world` is, reached with `outcome`, and how that differs from what `edge` had foretold."""
        told, seen = self.outcome(edge), self.space.outcome_of(outcome)
        found = [] if told == seen else [Difference("outcome class", told, seen)]
        place = self.locate(world)
        return place, (*found, *self.elsewhere(self.target(edge), place, world))

    def elsewhere(self, node: int, place: Place, world: Any) -> tuple[Difference, ...]:
        """How the view of `world`, which stands at `place`, differs from the state of `node`."""
        if place.node == node:
            return ()
        seen, _ = self.graph.symmetry.canonical(self.space.view(world))
        return differences(plain(self.graph.states[node]), plain(seen), "state") or (
            Difference("state", f"node {node}", "another one"),
        )


def plain(value: Any) -> JSON:
    """A state as JSON, for people: attrs classes as objects, sets as sorted lists, all else as text."""
    if has(type(value)):
        return {field.name: plain(getattr(value, field.name)) for field in fields(type(value))}
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, set | frozenset):
        return [*sorted(str(one) for one in value)]
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    return value if value is None or isinstance(value, bool | int | str) else str(value)
