"""How fast worlds are explored: states per CPU second, side by side on one model in one run.

    python -m benchmarks.explorer [--ids 4] [--slow-states 20000]

Measured are the explorer without symmetry and with it; building frozen attrs values into a networkx graph on
the way, which is what one writes first; musil, a model checker in Python, where it is installed (`pip install
musil`; it needs Python 3.12); and a calibration loop, so that figures of two machines can be compared. The
slow ones explore the first `--slow-states` states of the same model, which is enough for a rate: they slow
down further on. CPU time of this process, so that other load matters little.
"""

import argparse
import functools
import importlib
import importlib.util
import sys
import time
from collections.abc import Callable, Sequence

import networkx as nx
from attrs import frozen

from benchmarks.reservations import Plain, Reservations, after, labels, starts, successors
from model.explorer.packed import explore
from stateful_tests.exploring.rate import calibration


@frozen
class Rate:
    """What was explored in so many CPU seconds; `full_states` are those that the states stand for."""

    engine: str
    states: int
    transitions: int
    seconds: float
    full_states: int

    @property
    def per_second(self) -> float:
        """States explored per CPU second."""
        return self.states / self.seconds


def ours(ids: int, *, reduce: bool = False) -> Rate:
    """The explorer, whole; learning its tables is part of it."""
    start = time.process_time()
    explored = explore(Reservations(ids), reduce=reduce)
    seconds = time.process_time() - start
    assert explored.complete
    name = "holdtrue, with symmetry" if reduce else "holdtrue"
    return Rate(name, explored.states, explored.transitions, seconds, explored.full_states)


def networkx_on_the_way(ids: int, most: int) -> Rate:
    """Breadth-first, each state a node and each transition an edge of a networkx graph."""
    graph: nx.MultiDiGraph[Plain] = nx.MultiDiGraph()
    start = time.process_time()
    queue = starts(ids)
    graph.add_nodes_from(queue)
    at = 0
    while at < len(queue) and at < most:
        state = queue[at]
        at += 1
        for label, reached in successors(state):
            if reached not in graph:
                queue.append(reached)
            graph.add_edge(state, reached, label=label)
    return Rate("attrs into networkx", at, graph.number_of_edges(), time.process_time() - start, at)


def musil(ids: int, most: int) -> Rate | None:
    """musil's own search over the same frozen values, with one action for each rule and row."""
    if importlib.util.find_spec("musil") is None:
        return None
    library = importlib.import_module("musil")
    actions = [
        library.Action(
            name if place is None else f"{name} {place}",
            functools.partial(_enabled, name=name, place=place),
            functools.partial(after, name=name, place=place),
        )
        for name, place in labels(ids)
    ]
    model = library.Model(init=starts(ids), actions=actions, terminal=lambda _state: True)
    start = time.process_time()
    result = library.check(model, max_states=most)
    return Rate("musil", result.states_explored, 0, time.process_time() - start, result.states_explored)


def _enabled(state: Plain, *, name: str, place: int | None) -> bool:
    return after(state, name, place) is not None


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.explorer", description=__doc__.split("\n")[0])
    parser.add_argument("--ids", type=int, default=4, metavar="N", help="reservation ids (4)")
    parser.add_argument(
        "--slow-states", type=int, default=20_000, metavar="N", help="for the slow ones (20000)"
    )
    chosen = parser.parse_args(arguments)
    print(f"calibration loop: {calibration():.2f} s CPU")
    measured: list[Callable[[], Rate | None]] = [
        lambda: ours(chosen.ids),
        lambda: ours(chosen.ids, reduce=True),
        lambda: networkx_on_the_way(chosen.ids, chosen.slow_states),
        lambda: musil(chosen.ids, chosen.slow_states),
    ]
    rates = [rate for rate in (measure() for measure in measured) if rate is not None]
    print(f"{'':<24} {'states':>10} {'transitions':>12} {'CPU s':>8} {'states/s':>10} {'holdtrue is':>14}")
    for rate in rates:
        ours_first = (
            "" if rate.engine.startswith("holdtrue") else f"{rates[0].per_second / rate.per_second:.0f} x"
        )
        transitions = f"{rate.transitions:,}" if rate.transitions else "-"
        print(
            f"{rate.engine:<24} {rate.states:>10,} {transitions:>12} {rate.seconds:>8.2f} "
            f"{rate.per_second:>10,.0f} {ours_first and ours_first + ' as fast':>14}"
        )
    reduced = rates[1]
    print(f"{reduced.states:,} orbits stand for {reduced.full_states:,} states")
    if not any(rate.engine == "musil" for rate in rates):
        print("musil is not installed, and was not measured")
    return 0


if __name__ == "__main__":
    sys.exit(main())
