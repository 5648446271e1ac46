"""The graphs of facets, explored once in a run and read by all its jobs.

The first job that needs a facet's graph explores it and leaves it in the run's scratch folder; others that
come meanwhile wait for it. Outside of a run every process explores for itself. What is kept is the states and
the arrays, never the space: that is code, and made anew.
"""

import fcntl
import os
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from model.explorer.facet import load
from model.explorer.graph import Graph
from model.explorer.packed import explore
from model.explorer.symmetry import Symmetry
from stateful_tests.exploring.chart import Chart
from stateful_tests.exploring.places import facet_named

SCRATCH = "HOLDTRUE_SCRATCH"
"""The environment variable that names the run's scratch folder."""

_ARRAYS = ("source", "label", "outcome", "target", "depth", "parent", "positions")


@cache
def charted(system: str, facet: str) -> Chart:
    """The chart of a facet. `LookupError` if there is no such facet."""
    space = load(facet_named(system, facet).space)()
    scratch = os.environ.get(SCRATCH)
    if scratch is None:
        return Chart(space, explored(space))
    path = Path(scratch) / f"graph-{system}-{facet}.pickle"
    with _alone(path.with_suffix(".lock")):
        if path.exists():
            return Chart(space, thawed(space, path.read_bytes()))
        graph = explored(space)
        fresh = path.with_suffix(".new")
        fresh.write_bytes(frozen_text(graph))
        fresh.replace(path)
    return Chart(space, graph)


def explored(space: Any) -> Graph[Any, Any]:
    """The whole graph of `space`, up to its symmetries."""
    graph = explore(space, (), reduce=True, edges=True).graph
    assert graph is not None
    return graph


def frozen_text(graph: Graph[Any, Any]) -> bytes:
    """`graph` without its space, for `thawed`."""
    symmetry = graph.symmetry
    return pickle.dumps(
        {
            "states": list(graph.states),
            "arrays": {name: getattr(graph, name) for name in _ARRAYS},
            "labels": graph.labels,
            "outcomes": graph.outcomes,
            "complete": graph.complete,
            "reduce": symmetry.reduce,
            "met": (list(symmetry.shared.values), list(symmetry.slots.values)),
        },
        protocol=pickle.HIGHEST_PROTOCOL,
    )


def thawed(space: Any, text: bytes) -> Graph[Any, Any]:
    """The graph of `space` that was frozen, with values numbered as they were then."""
    kept = pickle.loads(text)
    symmetry: Symmetry[Any, Any] = Symmetry(space, reduce=kept["reduce"])
    for interner, values in zip((symmetry.shared, symmetry.slots), kept["met"], strict=True):
        for value in values:
            interner.number(value)
    return Graph(
        states=kept["states"],
        labels=kept["labels"],
        outcomes=kept["outcomes"],
        symmetry=symmetry,
        complete=kept["complete"],
        **kept["arrays"],
    )


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
