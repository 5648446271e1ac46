"""A tour takes every edge of its share, goes along edges only, and is the same each time."""

import random
from collections.abc import Sequence
from typing import Any

import pytest
from attrs import define, field

from stateful_tests.exploring.route import Part, Tour


class Maze:
    """A graph given by its edges; node 0 is the start, and the tree is that of a breadth-first search."""

    def __init__(self, pairs: Sequence[tuple[int, int]]) -> None:
        reached, parents, pending = {0}, {0: -1}, [0]
        ordered = sorted(pairs)
        while pending:
            node = pending.pop(0)
            for index, (source, target) in enumerate(ordered):
                if source == node and target not in reached:
                    reached.add(target)
                    parents[target] = index
                    pending.append(target)
        self.pairs = ordered
        self.starts = (0,)
        self.nodes = len(reached)
        self.edges = len(ordered)
        self._parents = parents

    def out(self, node: int) -> list[int]:
        return [index for index, (source, _) in enumerate(self.pairs) if source == node]

    def source(self, edge: int) -> int:
        return self.pairs[edge][0]

    def target(self, edge: int) -> int:
        return self.pairs[edge][1]

    def parent(self, node: int) -> int:
        return self._parents[node]


@define
class Walker:
    """Goes along edges, and back only to where something was kept. Every edge publishes."""

    maze: Maze
    node: int = -1
    weight: int = 0
    taken: list[int] = field(factory=list)
    heaviest: int = 0
    stop_at: int = -1

    def begin(self, start: int) -> bool:
        self.node = start
        self.weight = 0
        return True

    def take(self, edge: int) -> bool:
        assert self.maze.source(edge) == self.node, "an edge that does not leave from here"
        self.node = self.maze.target(edge)
        self.weight += 1
        self.heaviest = max(self.heaviest, self.weight)
        self.taken.append(edge)
        return edge != self.stop_at

    def keep(self) -> Any:
        return (self.node, self.weight)

    def back(self, kept: Any) -> bool:
        self.node, self.weight = kept
        return True


def maze_of(seed: int) -> Maze:
    """Some nodes that can all be reached, and edges among them, loops too."""
    draw = random.Random(seed)
    nodes = draw.randint(1, 14)
    pairs = {(draw.randrange(node), node) for node in range(1, nodes)}
    pairs |= {(draw.randrange(nodes), draw.randrange(nodes)) for _ in range(3 * nodes)}
    return Maze(sorted(pairs))


def toured(maze: Maze, sources: Sequence[int], **limits: Any) -> tuple[Tour, Walker]:
    walker = Walker(maze)
    tour = Tour(Part(maze, sources), walker, **limits)
    tour.run()
    return tour, walker


@pytest.mark.parametrize("seed", range(200))
def test_every_edge_of_the_share_is_taken(seed: int) -> None:
    maze = maze_of(seed)
    share = [node for node in range(maze.nodes) if random.Random(seed * 1000 + node).random() < 0.6]
    for sources in (range(maze.nodes), share):
        tour, walker = toured(maze, sources)
        wanted = {edge for node in sources for edge in maze.out(node)}
        assert tour.finished
        assert wanted <= set(walker.taken)
        assert tour.part.done == tour.part.size == len(wanted)


def test_a_share_of_nothing_needs_no_step() -> None:
    tour, walker = toured(maze_of(3), ())
    assert tour.finished
    assert not walker.taken


def test_the_same_graph_makes_the_same_tour() -> None:
    maze = maze_of(5)
    assert toured(maze, range(maze.nodes))[1].taken == toured(maze, range(maze.nodes))[1].taken


def test_stories_stay_short_however_many_edges_there_are() -> None:
    circle = Maze([(node, (node + 1) % 6) for node in range(6)] + [(node, node) for node in range(6)])
    crowd = Maze([(a, b) for a in range(12) for b in range(12)])
    for maze, depth in ((circle, 5), (crowd, 1)):
        _, walker = toured(maze, range(maze.nodes), slack=4)
        assert walker.heaviest <= depth + 2 * 4 + 2


def test_a_tour_ends_with_the_first_difference() -> None:
    maze = maze_of(7)
    whole = toured(maze, range(maze.nodes))[1].taken
    walker = Walker(maze, stop_at=whole[5])
    tour = Tour(Part(maze, range(maze.nodes)), walker)
    tour.run()
    assert not tour.finished
    assert walker.taken == whole[: whole.index(whole[5]) + 1]


def test_a_tour_of_so_many_edges_takes_no_more() -> None:
    maze = maze_of(7)
    tour, _ = toured(maze, range(maze.nodes), most=9)
    assert tour.part.done == 9
    assert not tour.finished


def test_a_way_back_that_fails_ends_the_tour() -> None:
    class Lost(Walker):
        def back(self, kept: Any) -> bool:
            super().back(kept)
            return False

    star = Maze([(0, node) for node in range(1, 6)])
    tour = Tour(Part(star, range(star.nodes)), Lost(star))
    tour.run()
    assert not tour.finished
    assert tour.part.done == 1
