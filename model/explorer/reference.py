"""The reference engine: breadth-first over whole states, in a dictionary. Slow, readable, trusted.

It fires every rule in every state, so nothing depends on what a space declares of its residues and lenses
being enough. The fast engine (`model.explorer.packed`) must agree with it; tests see to that.
"""

from collections.abc import Sequence
from typing import Generic

import numpy as np
from attrs import field, frozen

from model.explorer.budget import Budget, Meter
from model.explorer.findings import Exploration, Findings, Spot, dead_rules
from model.explorer.graph import Graph
from model.explorer.properties import Property, Trace
from model.explorer.reaching import judge_ways
from model.explorer.replaying import replay
from model.explorer.space import G, Label, S, Space, State
from model.explorer.symmetry import Symmetry
from model.explorer.tabulating import Table, tables
from model.explorer.taking import transitions


@frozen
class _Seen(Generic[G, S]):
    """What has been explored so far; edges are (source, label, outcome, target, positions)."""

    nodes: dict[State[G, S], int] = field(factory=dict)
    depth: list[int] = field(factory=list)
    parent: list[int] = field(factory=list)
    edges: list[tuple[int, Label, str, int, tuple[int, ...]]] = field(factory=list)

    def node(self, state: State[G, S], depth: int, parent: int) -> int:
        found = self.nodes.get(state)
        if found is None:
            found = self.nodes[state] = len(self.depth)
            self.depth.append(depth)
            self.parent.append(parent)
        return found


def explore(
    space: Space[G, S],
    properties: Sequence[Property[G, S]] = (),
    *,
    reduce: bool = False,
    budget: Budget | None = None,
) -> Exploration[G, S]:
    """Explores `space` from its initial states on; always gives the graph. `reduce` uses its symmetries."""
    meter, findings = Meter(budget or Budget()), Findings(properties)
    symmetry = Symmetry(space, reduce=reduce)
    predicates: list[Table[G, S]] = tables(properties)
    seen: _Seen[G, S] = _Seen()
    for start in space.initial():
        seen.node(symmetry.canonical(start)[0], 0, -1)
    full_states = full_transitions = 0
    reason = ""
    at = 0
    queue: list[State[G, S]] = list(seen.nodes)
    while at < len(queue):
        state, depth = queue[at], seen.depth[at]
        orbit = symmetry.orbit_size(state)
        full_states += orbit
        for table in predicates:
            if table.interesting(state):
                findings.saw(Spot(at), table.asked.id)
        reason = reason or meter.spent(states=len(queue)) or meter.too_deep(depth + 1) or ""
        if not reason:
            for taken, after, count in transitions(space, state, distinct=reduce):
                full_transitions += orbit * count
                canonical, names = symmetry.canonical(after)
                target = seen.node(canonical, depth + 1, len(seen.edges))
                if target == len(queue):
                    queue.append(canonical)
                findings.note(Spot(at, taken.label), taken)
                findings.count(taken)
                positions = tuple(names.slots.index(slot) for slot in range(len(state.slots)))
                seen.edges.append((at, taken.label, taken.outcome, target, positions))
        at += 1
    for table in predicates:
        findings.tabulated(table.asked, table.answers.values())
    graph = _graph(seen, symmetry, complete=not reason)
    return _told(space, findings, graph, reason, full_states, full_transitions, meter.seconds)


def _told(
    space: Space[G, S],
    findings: Findings[G, S],
    graph: Graph[G, S],
    reason: str,
    full_states: int,
    full_transitions: int,
    seconds: float,
) -> Exploration[G, S]:
    if not reason:
        judge_ways(graph, findings)
    taken = dict(findings.taken)
    return Exploration(
        complete=not reason,
        reason=reason,
        reduced=graph.symmetry.reduce,
        states=graph.nodes,
        transitions=graph.edges,
        full_states=full_states,
        full_transitions=full_transitions,
        levels=tuple(np.bincount(graph.depth).tolist()),
        fired=graph.edges,
        seconds=seconds,
        taken=taken,
        dead=dead_rules(space, {name for name, _ in taken}, reduced=graph.symmetry.reduce),
        verdicts=findings.verdicts(
            complete=not reason, reason=reason, traces=_traces(space, findings, graph)
        ),
        graph=graph,
    )


def _traces(space: Space[G, S], findings: Findings[G, S], graph: Graph[G, S]) -> dict[str, Trace[G, S]]:
    traces = {}
    for name, spot in findings.spots.items():
        way = graph.way_to(spot.node)
        start = graph.states[way[0].source if way else spot.node]
        told = [(edge.label, graph.states[edge.target]) for edge in way]
        traces[name] = replay(space, graph.symmetry, start, told, spot.label)
    return traces


def _graph(seen: _Seen[G, S], symmetry: Symmetry[G, S], *, complete: bool) -> Graph[G, S]:
    labels: dict[Label, int] = {}
    outcomes: dict[str, int] = {}
    width = len(next(iter(seen.nodes)).slots) if seen.nodes else 0
    rows = seen.edges
    return Graph(
        states=tuple(seen.nodes),
        source=np.array([row[0] for row in rows], dtype=np.int32),
        label=np.array([labels.setdefault(row[1], len(labels)) for row in rows], dtype=np.int32),
        outcome=np.array([outcomes.setdefault(row[2], len(outcomes)) for row in rows], dtype=np.int32),
        target=np.array([row[3] for row in rows], dtype=np.int32),
        labels=tuple(labels),
        outcomes=tuple(outcomes),
        depth=np.array(seen.depth, dtype=np.int32),
        parent=np.array(seen.parent, dtype=np.int32),
        positions=np.array([row[4] for row in rows], dtype=np.uint8).reshape(len(rows), width),
        symmetry=symmetry,
        complete=complete,
    )
