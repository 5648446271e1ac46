"""Whether a goal can be reached from wherever it should be: backwards through the graph, slot by slot.

Works on the reduced graph too: what is followed is a pair of node and slot, through each edge's
`positions`. Renamings do no harm, since a property may not tell names apart.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from model.explorer.findings import Findings, Spot
from model.explorer.graph import Graph
from model.explorer.properties import EventuallyPossible
from model.explorer.space import G, S


def judge_ways(graph: Graph[G, S], findings: Findings[G, S]) -> None:
    """Judges every `EventuallyPossible` on a complete graph."""
    for asked in findings.properties:
        if isinstance(asked, EventuallyPossible):
            node, cases = stuck(graph, asked)
            findings.cases[asked.id] = cases
            if node is not None:
                findings.saw(Spot(node), asked.id)


def stuck(graph: Graph[G, S], asked: EventuallyPossible[G, S]) -> tuple[int | None, int]:
    """The first node from which the goal cannot be reached, if any; and in how many cases it was asked.

    Expects a complete graph.
    """
    given, reached = _true(graph, asked.given), _true(graph, asked.goal)
    width = given.shape[1]
    used = np.ones(graph.edges, dtype=bool)
    if asked.by is not None:
        allowed = np.array([label.rule in asked.by for label in graph.labels], dtype=bool)
        used = allowed[graph.label]
    source = graph.source[used].astype(np.int64)
    target = graph.target[used].astype(np.int64)
    positions = graph.positions[used]
    while True:
        count = int(reached.sum())
        for slot in range(width):
            there = positions[:, slot] if positions.shape[1] else 0
            leads = reached[target, there]
            reached[source[leads], slot] = True
        if int(reached.sum()) == count:
            break
    bad = np.flatnonzero((given & ~reached).any(axis=1))
    return (int(bad[0]) if len(bad) else None), int(given.sum())


def _true(graph: Graph[G, S], holds: Callable[..., bool]) -> NDArray[np.bool_]:
    """For each node and slot (one, `None`, where there are no slots), whether `holds(shared, slot)`."""
    matrix = graph.matrix
    shared, slots = graph.symmetry.shared.values, graph.symmetry.slots.values
    if matrix.shape[1] == 1:
        return np.array([holds(shared[number], None) for number in matrix[:, 0]], dtype=bool)[:, None]
    answers: dict[int, bool] = {}
    size = len(slots)
    keys = matrix[:, :1].astype(np.int64) * size + matrix[:, 1:]
    flat = np.sort(keys, axis=None)
    distinct = flat[np.concatenate(([True], flat[1:] != flat[:-1]))] if len(flat) else flat
    for key in distinct.tolist():
        answers[key] = bool(holds(shared[key // size], slots[key % size]))
    values = np.array([answers[key] for key in distinct.tolist()], dtype=bool)
    return values[np.searchsorted(distinct, keys)]
