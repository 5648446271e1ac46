"""Two engines, and exploration with and without symmetry: they come to the same."""

from typing import Any

import pytest

from model.explorer import packed, reference
from model.explorer.findings import Exploration
from model.explorer.graph import Graph
from model.explorer.packed import engine, layout, lookup, successors
from model.explorer.properties import Always, EventuallyPossible, Property, Sometimes, Step
from model.explorer.tests.toys import Counters, Leases, Shared, Slot

PROPERTIES: tuple[Property[Shared, Slot], ...] = (
    Always(
        "fits",
        "No more slots are held than there are.",
        lambda capacity, held: sum(held) <= capacity,
        project=lambda slot: slot.kind == "held",
        part=lambda shared: shared.capacity,
    ),
    Step("in-turn", "Nobody is served before those who came earlier."),
    Sometimes("all-held", "All are held.", lambda _, slots: all(slot.kind == "held" for slot in slots)),
    Sometimes("swept", "The line was swept at the latest moment.", lambda shared, _: shared.clock == 2),
    EventuallyPossible(
        "served",
        "Who waits may be done.",
        lambda _, slot: slot.kind == "waiting",
        lambda _, slot: slot.kind == "done",
    ),
)
BUGS = {"none": {}, "line": {"skip_the_line": True}, "both": {"skip_the_line": True, "overbook": True}}


def figures(explored: Exploration[Any, Any]) -> dict[str, Any]:
    """What both engines must agree upon."""
    return {
        "states": explored.states,
        "transitions": explored.transitions,
        "full": (explored.full_states, explored.full_transitions),
        "levels": explored.levels,
        "taken": dict(explored.taken),
        "dead": explored.dead,
        "verdicts": [(v.id, v.verdict, v.reason, v.cases) for v in explored.verdicts],
        "lengths": [v.trace and len(v.trace.moves) for v in explored.verdicts],
    }


@pytest.mark.parametrize("bug", BUGS)
@pytest.mark.parametrize("reduce", [False, True], ids=["full", "reduced"])
@pytest.mark.parametrize("ids", [1, 2, 3])
def test_the_fast_engine_agrees_with_the_reference(ids: int, reduce: bool, bug: str) -> None:
    slow = reference.explore(Leases(ids, 2, **BUGS[bug]), PROPERTIES, reduce=reduce)
    fast = packed.explore(Leases(ids, 2, **BUGS[bug]), PROPERTIES, reduce=reduce, edges=True)
    assert figures(fast) == figures(slow)
    assert slow.states > 2


@pytest.mark.parametrize("bug", BUGS)
@pytest.mark.parametrize("ids", [1, 2, 3])
def test_full_and_reduced_exploration_agree(ids: int, bug: str) -> None:
    full = packed.explore(Leases(ids, 1, **BUGS[bug]), PROPERTIES, edges=True)
    reduced = packed.explore(Leases(ids, 1, **BUGS[bug]), PROPERTIES, edges=True, reduce=True)
    assert reduced.full_states == full.states
    assert reduced.full_transitions == full.transitions
    assert reduced.states < full.states
    assert reduced.depth == full.depth
    assert reduced.dead == full.dead
    for one, other in zip(full.verdicts, reduced.verdicts, strict=True):
        assert (one.id, one.verdict, one.reason) == (other.id, other.verdict, other.reason)
        assert (one.trace is None) == (other.trace is None)
        assert one.trace is None or other.trace is None or len(one.trace.moves) == len(other.trace.moves)


CRAMPED: dict[str, tuple[object, str, int]] = {
    "keys that do not fit into 63 bits": (layout, "BITS", 8),
    "tables too large to be dense": (lookup, "DENSE_CELLS", 256),
    "chunks of seven states": (successors, "CHUNK", 7),
}


@pytest.mark.parametrize("how", CRAMPED)
@pytest.mark.parametrize("reduce", [False, True], ids=["full", "reduced"])
def test_it_agrees_where_space_is_short(how: str, reduce: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    where, name, value = CRAMPED[how]
    roomy = packed.explore(Leases(3, 2, **BUGS["both"]), PROPERTIES, reduce=reduce, edges=True)
    monkeypatch.setattr(where, name, value)
    if where is successors:
        monkeypatch.setattr(engine, name, value)
    cramped = packed.explore(Leases(3, 2, **BUGS["both"]), PROPERTIES, reduce=reduce, edges=True)
    assert figures(cramped) == figures(roomy)
    # Without the graph, traces are rebuilt from the levels.
    plain = packed.explore(Leases(3, 2, **BUGS["both"]), PROPERTIES[:4], reduce=reduce)
    assert figures(plain)["lengths"] == figures(roomy)["lengths"][:4]


def test_the_edges_are_those_of_the_reference() -> None:
    slow = reference.explore(Leases(3, 2), reduce=True).graph
    fast = packed.explore(Leases(3, 2), reduce=True, edges=True).graph
    assert slow is not None
    assert fast is not None
    assert _edges(fast) == _edges(slow)


def _edges(graph: Graph[Shared, Slot]) -> set[tuple[str, str, str]]:
    """Edges with the states themselves, and with slots as multisets: which state stands for its like depends
    on the order in which values were met."""
    told = set()
    for index in range(graph.edges):
        edge = graph.edge(index)
        ends = []
        for node in (edge.source, edge.target):
            state = graph.states[node]
            both = [state] + [
                type(state)(renaming.shared(state.shared), tuple(map(renaming.slot, state.slots)))
                for renaming in Leases.renamings
            ]
            ends.append(min((repr(each.shared), sorted(map(repr, each.slots))) for each in both))
        told.add((edge.label.rule.split()[0], edge.outcome, repr(ends)))
    return told


@pytest.mark.parametrize("reduce", [False, True], ids=["full", "reduced"])
def test_a_space_without_slots_is_explored_like_any_other(reduce: bool) -> None:
    properties: tuple[Property[tuple[int, int], str], ...] = (
        Always("below", "The sum stays below 7.", lambda shared, _: sum(shared) < 7),
        EventuallyPossible(
            "back", "It can start again.", lambda *_: True, lambda shared, _: shared == (0, 0)
        ),
    )
    slow = reference.explore(Counters(4), properties, reduce=reduce)
    fast = packed.explore(Counters(4), properties, reduce=reduce, edges=True)
    assert slow.states == (15 if reduce else 25)
    assert slow.full_states == 25
    for explored in (slow, fast):
        assert [(v.id, v.verdict) for v in explored.verdicts] == [("below", "violated"), ("back", "holds")]
    for name in ("states", "transitions", "full_transitions", "levels", "dead", "taken"):
        assert getattr(fast, name) == getattr(slow, name)


def test_a_space_is_asked_far_less_often_than_it_has_transitions() -> None:
    explored = packed.explore(Leases(4, 2))
    assert explored.transitions > 20 * explored.fired
    assert explored.fired <= 2_500


def test_exploring_twice_gives_the_same_traces() -> None:
    runs = [
        packed.explore(Leases(3, 1, skip_the_line=True), PROPERTIES, reduce=True, edges=True)
        for _ in range(2)
    ]
    assert runs[0].verdicts == runs[1].verdicts
    assert [v.trace for v in runs[0].verdicts] == [v.trace for v in runs[1].verdicts]
