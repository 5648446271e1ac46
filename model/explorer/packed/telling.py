"""What an exploration with the fast engine has come to: counts from visits, traces from levels, verdicts."""

from collections import Counter

import numpy as np

from model.explorer.findings import Exploration, Findings, dead_rules
from model.explorer.graph import Graph
from model.explorer.packed.edges import EdgeList
from model.explorer.packed.judging import Judge
from model.explorer.packed.lookup import Ints
from model.explorer.packed.successors import Successors
from model.explorer.packed.tracing import way, ways
from model.explorer.properties import Trace
from model.explorer.reaching import judge_ways
from model.explorer.replaying import replay
from model.explorer.space import G, S, Space


def told(
    space: Space[G, S],
    successors: Successors[G, S],
    findings: Findings[G, S],
    judge: Judge[G, S],
    edges: EdgeList[G, S] | None,
    *,
    reason: str,
    full_states: int,
    seconds: float,
) -> Exploration[G, S]:
    """The result, verdicts and traces included."""
    levels, groups = successors.levels, successors.expander.groups
    for table in judge.tables:
        findings.tabulated(table.asked, table.answers.values())
    visits, weights = _visits(successors, "visits"), _visits(successors, "weight")
    _count(space, successors, findings, visits)
    graph: Graph[G, S] | None = None
    if edges is not None:
        outcomes = tuple(successors.expander.table.outcomes.values)
        graph = edges.graph(successors.symmetry, outcomes, complete=not reason)
        if not reason:
            judge_ways(graph, findings)
    taken = dict(findings.taken)
    return Exploration(
        complete=not reason,
        reason=reason,
        reduced=successors.reduce,
        states=len(levels),
        transitions=int(visits.sum()),
        full_states=full_states,
        full_transitions=int(weights.sum()),
        levels=tuple(map(len, levels.levels)),
        fired=sum(group.fired for group in groups),
        seconds=seconds,
        taken=taken,
        dead=dead_rules(space, {rule for rule, _ in taken}, reduced=successors.reduce),
        verdicts=findings.verdicts(
            complete=not reason,
            reason=reason,
            traces=_traces(space, successors, findings),
            graph=graph is not None,
        ),
        graph=graph,
    )


def _visits(successors: Successors[G, S], which: str) -> Ints:
    """How often each learned transition was taken: as often as its situation was visited."""
    told = np.zeros(len(successors.expander.table), dtype=np.int64)
    for group in successors.expander.groups:
        counts, starts = group.count.array, group.start.array
        total = int(counts.sum())
        if total:
            offsets = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
            visits = (group.visits if which == "visits" else group.weight).array
            told[np.repeat(starts, counts) + offsets] = np.repeat(visits, counts)
    return told


def _count(space: Space[G, S], successors: Successors[G, S], findings: Findings[G, S], visits: Ints) -> None:
    table = successors.expander.table
    taken: Counter[tuple[int, int]] = Counter()
    rows = zip(
        table.rule.array.tolist(), table.outcome.array.tolist(), table.witnessed, visits.tolist(), strict=True
    )
    for rule, outcome, witnessed, count in rows:
        if count:
            taken[rule, outcome] += count
            for name in witnessed:
                findings.cases[name] += count
    for (rule, outcome), count in taken.items():
        findings.taken[space.rules[rule].name, table.outcomes.values[outcome]] += count


def _traces(
    space: Space[G, S], successors: Successors[G, S], findings: Findings[G, S]
) -> dict[str, Trace[G, S]]:
    steps = ways(successors.levels, {spot.node for spot in findings.spots.values()}, successors.of_level)
    traces = {}
    for name, spot in findings.spots.items():
        moves = way(steps, spot.node)
        start = successors.state(moves[0][0] if moves else spot.node)
        told = [(label, successors.state(target)) for _, label, target in moves]
        traces[name] = replay(space, successors.symmetry, start, told, spot.label)
    return traces
