"""Which way a tour goes, so that every edge of its share is taken at least once.

A tour goes down the tree of shortest ways from the start. At each node that it comes to it takes what is
left untaken there: first what leads back to the node itself, then *stretches*: an untaken edge, and from
where that leads another one, for as long as there are any. Then it goes back to the node, and at last on to
its children. Nothing is drawn: the same graph and share make the same tour. Stories stay short, since every
one is a shortest way and at most one stretch.

How one goes back is the vehicle's business: by files put back, or by walking there again from the start.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from attrs import define

SLACK = 12
"""By how much the store's files may grow before one goes back, in publications: each makes all that follow
slower."""


class Roads(Protocol):
    """A graph whose nodes and edges are numbered.

    `parent(node)` is the edge by which a shortest way from a start comes to `node`; -1 for a start.
    """

    @property
    def starts(self) -> Sequence[int]: ...
    @property
    def nodes(self) -> int: ...
    @property
    def edges(self) -> int: ...
    def out(self, node: int, /) -> Sequence[int]:
        """The edges that leave `node`."""

    def source(self, edge: int, /) -> int: ...
    def target(self, edge: int, /) -> int: ...
    def parent(self, node: int, /) -> int: ...


class Vehicle(Protocol):
    """What goes along the edges."""

    @property
    def node(self) -> int:
        """Where it is."""

    @property
    def weight(self) -> int:
        """How often the store has published something on the way here."""

    def begin(self, start: int, /) -> bool:
        """Comes to `start` anew. False, as below."""

    def take(self, edge: int, /) -> bool:
        """Goes along `edge`, which leaves `node`. False: something differed, and the tour is over."""

    def keep(self) -> Any:
        """Something by which to come back here."""

    def back(self, kept: Any, /) -> bool:
        """Comes back to where `kept` was kept. False, as above."""


class Part:
    """The edges whose source is one of `sources`: a tour's share. `done` of its `size` are taken."""

    def __init__(self, roads: Roads, sources: Sequence[int]) -> None:
        self.roads = roads
        self.taken = bytearray(roads.edges)
        self.left = [0] * roads.nodes
        """How many are untaken, by node."""
        self.below = [0] * roads.nodes
        """How many are untaken at the node and all nodes below it in the tree."""
        self.size = self.done = 0
        for node in sources:
            many = len(roads.out(node))
            self.left[node] = many
            self.size += many
            self._below(node, many)

    def _below(self, node: int, many: int) -> None:
        below, roads = self.below, self.roads
        below[node] += many
        edge = roads.parent(node)
        while edge >= 0:
            node = roads.source(edge)
            below[node] += many
            edge = roads.parent(node)

    def lacks(self, edge: int) -> bool:
        """Whether `edge` is part of the share and untaken."""
        return self.left[self.roads.source(edge)] > 0 and not self.taken[edge]

    def note(self, edge: int) -> None:
        """`edge` was taken, be it part of the share or not."""
        if self.lacks(edge):
            node = self.roads.source(edge)
            self.taken[edge] = 1
            self.left[node] -= 1
            self.done += 1
            self._below(node, -1)

    def wanted(self, node: int) -> Iterator[int]:
        """The untaken edges at `node`, those that lead back to it first."""
        if not self.left[node]:
            return
        untaken = [edge for edge in self.roads.out(node) if not self.taken[edge]]
        yield from (edge for edge in untaken if self.roads.target(edge) == node)
        yield from (edge for edge in untaken if self.roads.target(edge) != node)

    def is_due(self, edge: int) -> bool:
        """Whether the tree's `edge` is to be taken, for itself or for what is left down there."""
        return self.lacks(edge) or self.below[self.roads.target(edge)] > 0

    def is_spared(self, edge: int) -> bool:
        """Whether `edge` will be taken on the way down anyhow, and not for what is left right there alone."""
        target = self.roads.target(edge)
        return self.roads.parent(target) == edge and self.below[target] > self.left[target]


@define
class Tour:
    """Takes every edge of `part`, or as many as `most`. `finished` says whether it came to its end."""

    part: Part
    vehicle: Vehicle
    most: int | None = None
    slack: int = SLACK
    ways_back: int = 0
    finished: bool = False
    _over: bool = False

    def run(self) -> None:
        """From each start that something of the share lies below."""
        for start in self.part.roads.starts:
            if self.part.below[start] and not self._over:
                if self.vehicle.begin(start):
                    self._visit(start)
                else:
                    self._over = True
        self.finished = self.part.done == self.part.size

    def _visit(self, start: int) -> None:
        """Depth first along the tree, without recursion: a way can be longer than Python's stack."""
        kept = self.vehicle.keep()
        stack = [(kept, self._at(start, kept))]
        while stack and not self._over:
            kept, children = stack[-1]
            edge = next((edge for edge in children if self.part.is_due(edge)), None)
            if edge is None:
                stack.pop()
                continue
            self._back(kept)
            if self._take(edge):
                child = self.part.roads.target(edge)
                kept = self.vehicle.keep()
                stack.append((kept, self._at(child, kept)))

    def _at(self, node: int, kept: Any) -> Iterator[int]:
        """Takes all that is untaken at `node`; the edges to its children in the tree."""
        roads, part, vehicle = self.part.roads, self.part, self.vehicle
        most = vehicle.weight + self.slack
        for edge in part.wanted(node):
            if self._over:
                break
            if part.taken[edge] or part.is_spared(edge):
                continue
            if vehicle.node != node or vehicle.weight > most:
                self._back(kept)
            if self._take(edge) and roads.target(edge) != node:
                self._stretch(node, most)
        return iter([edge for edge in roads.out(node) if roads.parent(roads.target(edge)) == edge])

    def _stretch(self, home: int, most: int) -> None:
        """From where an untaken edge has led on along untaken ones."""
        part, vehicle = self.part, self.vehicle
        while vehicle.weight <= most and (here := vehicle.node) != home:
            ahead = None
            for edge in part.wanted(here):
                if part.roads.target(edge) != here:
                    if part.is_spared(edge):
                        continue
                    ahead = edge
                    break
                if not self._take(edge) or vehicle.weight > most:
                    return
            if ahead is None or not self._take(ahead):
                return

    def _take(self, edge: int) -> bool:
        if self._over or not self.vehicle.take(edge):
            self._over = True
            return False
        self.part.note(edge)
        if self.most is not None and self.part.done >= self.most:
            self._over = True
        return not self._over

    def _back(self, kept: Any) -> None:
        if not self._over:
            self.ways_back += 1
            self._over = not self.vehicle.back(kept)
