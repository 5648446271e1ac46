"""A graph as GraphML, and as an SVG to look at: layers by depth, drawn without other programs.

For small graphs: beyond `MOST` nodes a picture says nothing, and is refused. GraphML has no such bound but
what memory allows. In the picture, transitions that do not lead deeper are dashed, and those that change
nothing are only counted; GraphML has them all.
"""

from collections.abc import Iterator
from html import escape

from model.explorer.differences import told_state
from model.explorer.graph import Edge, Graph
from model.explorer.space import G, S

MOST = 300
"""Nodes that can be told apart in a picture."""

_ACROSS, _DOWN, _RADIUS = 46, 96, 13


def graphml(graph: Graph[G, S]) -> str:
    """The graph in GraphML (http://graphml.graphdrawing.org): states, depths, labels and outcomes."""
    import networkx as nx

    drawn = graph.networkx()
    for node in range(graph.nodes):
        drawn.nodes[node]["state"] = told_state(graph.states[node])
    return "\n".join(nx.generate_graphml(drawn)) + "\n"


def svg(graph: Graph[G, S], *, title: str) -> str:
    """A picture; each node and edge tells what it is when pointed at. `ValueError` if there are too many."""
    if graph.nodes > MOST:
        raise ValueError(f"{graph.nodes:,} states are too many to be drawn; at most {MOST} are")
    layers = [
        [node for node in range(graph.nodes) if graph.depth[node] == depth] for depth in range(_depths(graph))
    ]
    places = _placed(graph, layers)
    width = max(_ACROSS * (max(map(len, layers)) + 1), 420)
    height = _DOWN * len(layers) + 60
    body = [*_edges(graph, places), *_nodes(graph, places)]
    loops = sum(int(source == target) for source, target in zip(graph.source, graph.target, strict=True))
    caption = (
        f"{graph.nodes} states, {graph.edges} transitions, of which {loops} change nothing and are not drawn"
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-width / 2:.0f} -50 {width} {height}" '
            f'width="{width}" height="{height}" font-family="sans-serif" font-size="11">',
            f"<title>{escape(title)}</title>",
            f'<rect x="{-width / 2:.0f}" y="-50" width="{width}" height="{height}" fill="#ffffff"/>',
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" '
            'orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" fill="#666"/></marker></defs>',
            f'<text x="0" y="-30" text-anchor="middle" font-weight="bold">{escape(title)}</text>',
            f'<text x="0" y="-16" text-anchor="middle" fill="#444">{escape(caption)}</text>',
            *body,
            "</svg>",
            "",
        ]
    )


def _depths(graph: Graph[G, S]) -> int:
    return int(graph.depth.max()) + 1 if graph.nodes else 0


def _placed(graph: Graph[G, S], layers: list[list[int]]) -> dict[int, tuple[float, float]]:
    """Coordinates: each layer ordered by the mean place of those from which its nodes come."""
    places: dict[int, tuple[float, float]] = {}
    come_from: dict[int, list[int]] = {node: [] for node in range(graph.nodes)}
    for source, target in zip(graph.source.tolist(), graph.target.tolist(), strict=True):
        if graph.depth[source] < graph.depth[target]:
            come_from[target].append(source)
    for depth, layer in enumerate(layers):

        def wish(node: int) -> float:
            sources = come_from[node]
            return sum(places[source][0] for source in sources) / len(sources) if sources else 0.0

        layer.sort(key=lambda node: (wish(node), node))
        for place, node in enumerate(layer):
            places[node] = ((place - (len(layer) - 1) / 2) * _ACROSS, depth * _DOWN + 30.0)
    return places


def _edges(graph: Graph[G, S], places: dict[int, tuple[float, float]]) -> Iterator[str]:
    """One line for each pair of states, however many transitions there are between them."""
    between: dict[tuple[int, int], list[Edge]] = {}
    for index in range(graph.edges):
        edge = graph.edge(index)
        if edge.source != edge.target:
            between.setdefault((edge.source, edge.target), []).append(edge)
    for (source, target), edges in between.items():
        (x1, y1), (x2, y2) = places[source], places[target]
        length = max(((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5, 1.0)
        cut_x, cut_y = (x2 - x1) / length * _RADIUS, (y2 - y1) / length * _RADIUS
        forward = graph.depth[target] > graph.depth[source]
        level = graph.depth[target] == graph.depth[source]
        dashes = "" if forward else ' stroke-dasharray="4 3"'
        # Beside the way there, or over the nodes between, where both are of one depth.
        bend_x, bend_y = (0.0, 0.0) if forward else (0.0, -44.0) if level else (18.0, 0.0)
        control_x, control_y = (x1 + x2) / 2 + bend_x, (y1 + y2) / 2 + bend_y
        told = "\n".join(f"{edge.label}: {edge.outcome}" for edge in edges)
        yield (
            f'<path d="M{x1 + cut_x:.1f} {y1 + cut_y:.1f}Q{control_x:.1f} {control_y:.1f} '
            f'{x2 - cut_x:.1f} {y2 - cut_y:.1f}" fill="none" stroke="#666" marker-end="url(#tip)"'
            f"{dashes}><title>{escape(told)}</title></path>"
        )


def _nodes(graph: Graph[G, S], places: dict[int, tuple[float, float]]) -> Iterator[str]:
    for node, (x, y) in places.items():
        told = f"state {node}, depth {graph.depth[node]}\n{told_state(graph.states[node])}"
        yield (
            f'<g><circle cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS}" fill="#eef3fb" stroke="#335"/>'
            f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle">{node}</text>'
            f"<title>{escape(told)}</title></g>"
        )
