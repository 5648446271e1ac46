"""The graph: nodes for orbits, edges in their slots, and the way from a real state to both."""

import itertools

import networkx as nx

from model.explorer import packed
from model.explorer.graph import Graph
from model.explorer.space import State
from model.explorer.taking import transitions
from model.explorer.tests.toys import Leases, Shared, Slot


def explored(*, reduce: bool = True, ids: int = 3) -> Graph[Shared, Slot]:
    graph = packed.explore(Leases(ids, 2), edges=True, reduce=reduce).graph
    assert graph is not None
    return graph


def test_every_real_transition_is_an_edge_told_in_other_names() -> None:
    graph, space = explored(), Leases(3, 2)
    real = packed.explore(space, edges=True).graph
    assert real is not None
    for state in itertools.islice(real.states, 0, None, 7):
        node, names = graph.locate(state)
        assert node is not None
        edges = {(names.real(edge.label), edge.outcome): edge for edge in graph.edges_from(node)}
        for taken, after, _ in transitions(space, state):
            target, there = graph.locate(after)
            edge = edges.get((taken.label, taken.outcome))
            if edge is None:  # it acts on a slot that equals one before it
                assert taken.label.slot is not None
                canonical = graph.states[node].slots
                place = names.slots.index(taken.label.slot)
                assert canonical[place] in canonical[:place]
                continue
            assert edge.target == target
            # Where each slot has come to.
            for place, slot in enumerate(names.slots):
                moved = graph.positions[edge.index, place]
                assert (
                    graph.states[edge.target].slots[moved]
                    == graph.states[edge.target].slots[there.slots.index(slot)]
                )


def test_the_number_of_edges_is_that_of_the_transitions() -> None:
    whole = packed.explore(Leases(3, 2), edges=True, reduce=True)
    assert whole.graph is not None
    assert whole.graph.edges == whole.transitions
    assert whole.graph.nodes == whole.states
    assert (whole.graph.source[1:] >= whole.graph.source[:-1]).all()
    assert (whole.graph.depth[1:] >= whole.graph.depth[:-1]).all()


def test_a_way_to_a_node_is_as_long_as_it_is_deep_and_hangs_together() -> None:
    graph = explored()
    for node in range(0, graph.nodes, 5):
        way = graph.way_to(node)
        assert len(way) == graph.depth[node]
        assert all(one.target == other.source for one, other in itertools.pairwise(way))
        assert not way or (way[-1].target == node and graph.parent[way[0].source] == -1)


def test_a_state_that_was_not_reached_is_not_located() -> None:
    graph = explored(reduce=False, ids=2)
    node, _ = graph.locate(State(Shared(2), (Slot("flying"), Slot())))
    assert node is None


def test_networkx_finds_the_same_distances() -> None:
    graph = explored(ids=2)
    drawn = graph.networkx()
    assert (drawn.number_of_nodes(), drawn.number_of_edges()) == (graph.nodes, graph.edges)
    distances = nx.single_source_shortest_path_length(drawn, 0)
    assert distances == {node: int(graph.depth[node]) for node in range(graph.nodes)}


def test_states_are_unpacked_when_they_are_looked_at() -> None:
    graph = explored(ids=2)
    assert [graph.states[node] for node in range(3)] == list(graph.states[:3])
    assert graph.matrix.shape == (graph.nodes, 3)
    assert len(graph.index) == graph.nodes
