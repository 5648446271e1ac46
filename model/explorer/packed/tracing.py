"""Ways from the start to what was found, rebuilt backwards from the levels: no parents are kept meanwhile.

One sweep for all findings: each level is expanded once more, until every state wanted of the next one has
its predecessor.
"""

from collections.abc import Callable, Iterator

import numpy as np
from attrs import frozen

from model.explorer.packed.layout import Keys
from model.explorer.packed.levels import Levels
from model.explorer.packed.lookup import Ints
from model.explorer.space import Label

Successors = Callable[[int], Iterator[tuple[Ints, Keys, Callable[[int], Label]]]]
"""Of a level: source nodes and target keys, in parts, and the label of each entry of a part."""


@frozen
class Step:
    """How a node was reached: from `source`, by `label`."""

    source: int
    label: Label


def ways(seen: Levels, wanted: set[int], successors: Successors) -> dict[int, Step]:
    """A step to each of the `wanted` nodes, and to all nodes on the ways to them."""
    levels = seen.levels
    steps: dict[int, Step] = {}
    goals = set(wanted)
    for depth in range(len(levels) - 1, 0, -1):
        first = seen.first_node(depth)
        nodes = np.array(sorted(node for node in goals if node >= first), dtype=np.int64)
        open_goals = set(nodes.tolist())
        if not open_goals:
            continue
        goals -= open_goals
        keys = levels[depth][nodes - first]
        for sources, targets, label in successors(depth - 1):
            places = np.minimum(np.searchsorted(keys, targets), len(keys) - 1)
            for hit in np.flatnonzero(keys[places] == targets).tolist():
                node = int(nodes[places[hit]])
                if node in open_goals:
                    open_goals.discard(node)
                    steps[node] = Step(int(sources[hit]), label(hit))
                    goals.add(int(sources[hit]))
            if not open_goals:
                break
        assert not open_goals, "a state has no predecessor in the level before its own"
    return steps


def way(steps: dict[int, Step], node: int) -> list[tuple[int, Label, int]]:
    """The way to `node` as (source, label, target), from the start on."""
    told = []
    while node in steps:
        step = steps[node]
        told.append((step.source, step.label, node))
        node = step.source
    return told[::-1]
