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

Ints = NDArray[np.int64]


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
    used &= graph.source != graph.target
    # Pairs of node and slot as one number. What is reached needs no way any more, so its edges are dropped.
    flat = reached.ravel()
    source, target = _pairs(graph, used, width)
    while True:
        leads = flat[target]
        if not leads.any():
            break
        flat[source[leads]] = True
        rest = ~flat[source]
        source, target = source[rest], target[rest]
    bad = np.flatnonzero((given & ~reached).any(axis=1))
    return (int(bad[0]) if len(bad) else None), int(given.sum())


def _pairs(graph: Graph[G, S], used: NDArray[np.bool_], width: int) -> tuple[Ints, Ints]:
    """The edges in `used`, once for each slot, between pairs of node and slot."""
    source = graph.source[used].astype(np.int64) * width
    target = graph.target[used].astype(np.int64) * width
    if not graph.positions.shape[1]:
        return source, target
    moved = graph.positions[used]
    slots = range(width)
    return (
        np.concatenate([source + slot for slot in slots]),
        np.concatenate([target + moved[:, slot] for slot in slots]),
    )


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
