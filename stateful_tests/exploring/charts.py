"""Facets explored once in a run: what was found, for the report, and the graph, for tours and kills.

The first job that needs a facet explores it and leaves it in the run's scratch folder; others that come
meanwhile wait for it. Outside of a run every process explores for itself. What is kept is the states and the
arrays, never the space: that is code, and made anew.
"""

import fcntl
import os
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from attrs import frozen

from model.explorer.facet import load
from model.explorer.graph import Graph
from model.explorer.symmetry import Symmetry
from stateful_tests.exploring.chart import Chart
from stateful_tests.exploring.findings import Found, explored
from stateful_tests.exploring.places import facet_named

SCRATCH = "HOLDTRUE_SCRATCH"
"""The environment variable that names the run's scratch folder."""

_ARRAYS = ("source", "label", "outcome", "target", "depth", "parent", "positions")


@frozen
class Charted:
    """A facet's chart, and what its exploration found."""

    chart: Chart
    found: Found


@cache
def charted(system: str, facet: str) -> Charted:
    """The facet, explored. `LookupError` if there is no such facet."""
    scratch = os.environ.get(SCRATCH)
    if scratch is None:
        return _explored(system, facet)
    path = Path(scratch) / f"explored-{system}-{facet}.pickle"
    with _alone(path.with_suffix(".lock")):
        if path.exists():
            return thawed(system, facet, path.read_bytes())
        here = _explored(system, facet)
        fresh = path.with_suffix(".new")
        fresh.write_bytes(frozen_text(here))
        fresh.replace(path)
    return here


def _explored(system: str, facet: str) -> Charted:
    space, graph, found = explored(system, facet)
    return Charted(Chart(space, graph), found)


def frozen_text(one: Charted) -> bytes:
    """`one` without its space, for `thawed`."""
    graph, symmetry = one.chart.graph, one.chart.graph.symmetry
    return pickle.dumps(
        {
            "states": list(graph.states),
            "arrays": {name: getattr(graph, name) for name in _ARRAYS},
            "labels": graph.labels,
            "outcomes": graph.outcomes,
            "complete": graph.complete,
            "reduce": symmetry.reduce,
            "met": (list(symmetry.shared.values), list(symmetry.slots.values)),
            "found": one.found,
        },
        protocol=pickle.HIGHEST_PROTOCOL,
    )


def thawed(system: str, facet: str, text: bytes) -> Charted:
    """The facet that was frozen, with values numbered as they were then."""
    kept = pickle.loads(text)
    space = load(facet_named(system, facet).space)()
    symmetry: Symmetry[Any, Any] = Symmetry(space, reduce=kept["reduce"])
    for interner, values in zip((symmetry.shared, symmetry.slots), kept["met"], strict=True):
        for value in values:
            interner.number(value)
    graph: Graph[Any, Any] = Graph(
        states=kept["states"],
        labels=kept["labels"],
        outcomes=kept["outcomes"],
        symmetry=symmetry,
        complete=kept["complete"],
        **kept["arrays"],
    )
    return Charted(Chart(space, graph), kept["found"])


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
