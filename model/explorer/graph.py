"""`Graph`: the explored states and transitions, explicitly, as both engines give it.

Parallel arrays rather than objects: a graph of a million edges has to fit. Nodes are numbered so that depth
never falls; edges are sorted by source. With symmetry, a node stands for its orbit, an edge's label is told
in the slots of its canonical source, and `positions` says where each of them is in the canonical target.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic

import numpy as np
from attrs import define, frozen
from numpy.typing import NDArray

from model.explorer.space import G, Label, S, State
from model.explorer.symmetry import Names, Symmetry

if TYPE_CHECKING:
    import networkx as nx


@frozen
class Edge:
    """One transition of a graph."""

    index: int
    source: int
    label: Label
    outcome: str
    target: int


@define(eq=False, slots=False)
class Graph(Generic[G, S]):
    """`states[n]` for nodes; for edges the parallel `source`, `label`, `outcome`, `target` (int32 arrays).

    `labels[label[e]]` and `outcomes[outcome[e]]` say what they mean. `depth[n]` is the length of a shortest
    way from the start, `parent[n]` the edge by which it came there (-1 for a start). `positions[e, p]` is
    the slot of the target that is the source's slot `p` (uint8). `complete` is false where a budget ended
    the exploration: the nodes of the last depth then have no edges.
    """

    states: Sequence[State[G, S]]
    source: NDArray[np.int32]
    label: NDArray[np.int32]
    outcome: NDArray[np.int32]
    target: NDArray[np.int32]
    labels: tuple[Label, ...]
    outcomes: tuple[str, ...]
    depth: NDArray[np.int32]
    parent: NDArray[np.int32]
    positions: NDArray[np.uint8]
    symmetry: Symmetry[G, S]
    complete: bool

    @property
    def nodes(self) -> int:
        return len(self.states)

    @property
    def edges(self) -> int:
        return len(self.source)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where each node's edges begin: those of node `n` are `starts[n]` to `starts[n + 1]` - 1."""
        return np.searchsorted(self.source, np.arange(self.nodes + 1))

    @cached_property
    def matrix(self) -> NDArray[np.int32]:
        """A row for each node: the number of its shared value, then those of its slots, in `symmetry`."""
        number, slot = self.symmetry.shared.number, self.symmetry.slots.number
        rows = [[number(state.shared), *map(slot, state.slots)] for state in self.states]
        return np.array(rows, dtype=np.int32)

    @cached_property
    def index(self) -> dict[State[G, S], int]:
        """The node of each canonical state."""
        return {state: node for node, state in enumerate(self.states)}

    def locate(self, state: State[G, S]) -> tuple[int | None, Names]:
        """The node that stands for `state`, or `None`, and how its names relate to those of `state`."""
        canonical, names = self.symmetry.canonical(state)
        return self.index.get(canonical), names

    def edge(self, index: int) -> Edge:
        return Edge(
            index,
            int(self.source[index]),
            self.labels[self.label[index]],
            self.outcomes[self.outcome[index]],
            int(self.target[index]),
        )

    def edges_from(self, node: int) -> Iterator[Edge]:
        return (self.edge(i) for i in range(int(self.starts[node]), int(self.starts[node + 1])))

    def way_to(self, node: int) -> list[Edge]:
        """A shortest way from a start."""
        way: list[Edge] = []
        while (index := int(self.parent[node])) >= 0:
            way.append(self.edge(index))
            node = way[-1].source
        return way[::-1]

    def networkx(self) -> nx.MultiDiGraph[Any]:
        """The same as a networkx graph: nodes are numbers, edges are keyed by their index. For small ones."""
        import networkx as nx

        graph: nx.MultiDiGraph[Any] = nx.MultiDiGraph()
        graph.add_nodes_from((node, {"depth": int(self.depth[node])}) for node in range(self.nodes))
        for index in range(self.edges):
            edge = self.edge(index)
            graph.add_edge(edge.source, edge.target, key=index, label=str(edge.label), outcome=edge.outcome)
        return graph
