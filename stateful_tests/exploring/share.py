"""Which part of a graph one of several jobs tours: a stretch of the tree of shortest ways, by its edges.

The nodes in the order in which one comes to them when going depth first, cut where each job has about the
same number of edges: so what a job has to pass through beside its own is one way down from the start. A
function of the graph alone.
"""

from stateful_tests.exploring.chart import Chart


def preorder(chart: Chart) -> list[int]:
    """All nodes, depth first along the tree of shortest ways; children in the order of their edges."""
    children: list[list[int]] = [[] for _ in range(chart.nodes)]
    for node in range(chart.nodes - 1, -1, -1):
        edge = chart.parent(node)
        if edge >= 0:
            children[chart.source(edge)].append(node)
    order: list[int] = []
    pending = list(reversed(chart.starts))
    while pending:
        node = pending.pop()
        order.append(node)
        pending.extend(children[node])
    return order


def share(chart: Chart, part: int, parts: int, *, depth: int | None = None) -> list[int]:
    """The nodes whose edges are part number `part` (from 0) of `parts`, of those `depth` deep at most."""
    if not 0 <= part < parts:
        raise ValueError(f"part {part} of {parts}: there is no such part")
    nodes = [node for node in preorder(chart) if depth is None or chart.graph.depth[node] <= depth]
    whole = sum(len(chart.out(node)) for node in nodes)
    first, end = whole * part // parts, whole * (part + 1) // parts
    chosen, before = [], 0
    for node in nodes:
        if first <= before < end:
            chosen.append(node)
        before += len(chart.out(node))
    return chosen
