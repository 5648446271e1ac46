"""The two facets told by worlds have what they are for: each damage met by every call, and all rollbacks."""

from collections.abc import Iterator
from typing import Any

from model.actions import DAMAGES
from model.explorer.reference import explore
from stateful_tests.exploring.corners import FACETS, damages, rollback
from stateful_tests.exploring.told import ToldSpace


def transitions(space: ToldSpace) -> Iterator[tuple[Any, str, str, Any]]:
    """(view before, rule, outcome, view after) of each transition."""
    graph = explore(space).graph
    assert graph is not None
    assert graph.complete
    for index in range(graph.edges):
        edge = graph.edge(index)
        yield (
            graph.states[edge.source].shared,
            edge.label.rule,
            edge.outcome,
            graph.states[edge.target].shared,
        )


def test_each_damage_is_met_by_every_kind_of_call_and_mended() -> None:
    met = set()
    for (_, _, before), rule, outcome, (_, _, after) in transitions(damages()):
        assert len(before) <= 1
        for kind in before:
            met.add((kind, rule.partition(" ")[0], outcome != "accepted", after != before))
    for kind in DAMAGES:
        assert (kind, "snapshot", True, False) in met, kind
        assert (kind, "reserve", True, False) in met, kind
        assert (kind, "mend", False, True) in met, kind
        opens = kind.startswith("directory-")  # a new store in another directory is not this one
        assert opens or (kind, "open", True, False) in met, kind


def test_each_way_of_going_back_is_refused_by_who_has_seen_more() -> None:
    refused = set()
    for (now, hosts, pasts, _), rule, outcome, _ in transitions(rollback()):
        host = next((one for one in hosts if rule == f"snapshot @{one[0]}" and one[1]), None)
        if host is None or outcome != "DURABILITY_FAILED":
            continue
        # A past's length is its number of commits, less the first.
        there, seen = len(pasts[now]), len(pasts[host[2]])
        refused.add("older" if there < seen else "of the same number" if there == seen else "later")
    assert refused == {"older", "of the same number", "later"}


def test_the_facets_tell_their_spaces() -> None:
    assert [facet.name for facet in FACETS] == [damages.__name__, rollback.__name__]
