"""What people and other tools look at: differences, ITF traces, GraphML and pictures."""

import io
import json
from xml.etree import ElementTree

import itf_py  # type: ignore[import-untyped]  # it comes without types
import networkx as nx
import pytest
from attrs import evolve, frozen

from model.explorer import packed
from model.explorer.differences import differences, told, told_state
from model.explorer.drawing import MOST, graphml, svg
from model.explorer.graph import Graph
from model.explorer.itf import expression, itf
from model.explorer.space import State
from model.explorer.tests.test_engines import PROPERTIES
from model.explorer.tests.toys import Leases, Shared, Slot


@frozen
class Inner:
    kind: str = "own"
    left: int | None = None


@frozen
class Outer:
    epoch: int
    lease: Inner | None
    hosts: tuple[Inner, ...] = ()
    tags: frozenset[str] = frozenset()
    closed: bool = False


ABSENT = {"tag": "Absent", "value": "U_OF_UNIT"}
BEFORE = State(Outer(1, Inner(), (Inner(), Inner("b"))), (Slot(), Slot("held", "a")))


def changed(after: State[Outer, Slot]) -> list[str]:
    return [str(each) for each in differences(BEFORE, after)]


def test_only_the_fields_that_changed_are_told() -> None:
    shared = evolve(
        BEFORE.shared, epoch=2, hosts=(Inner(), Inner("b", 3)), tags=frozenset({"y", "x"}), closed=True
    )
    assert changed(State(shared, (Slot(), Slot("done", "a")))) == [
        "epoch: 1 → 2",
        "hosts[2].left: - → 3",
        "tags: {} → {x, y}",
        "closed: no → yes",
        "r2.kind: held → done",
    ]


def test_what_appears_or_goes_is_told_whole() -> None:
    assert changed(State(evolve(BEFORE.shared, lease=None), BEFORE.slots)) == ["lease: Inner() → -"]
    assert changed(State(evolve(BEFORE.shared, hosts=(Inner(), Inner("b"), Inner("c"))), BEFORE.slots)) == [
        "hosts[3]: - → Inner(kind=c)"
    ]
    assert changed(State(evolve(BEFORE.shared, hosts=(Inner("c"),)), BEFORE.slots)) == [
        "hosts: (Inner(), Inner(kind=b)) → (Inner(kind=c))"
    ]
    assert changed(BEFORE) == []


def test_values_without_fields_are_told_as_they_are() -> None:
    assert [str(each) for each in differences(State((0, 1)), State((0, 2)))] == ["[2]: 1 → 2"]
    assert [str(each) for each in differences(State("a"), State("b"))] == ["state: a → b"]
    assert told({"a": 1, "": None}) == "{a: 1, '': -}"
    assert told_state(State("open", ("x", "y"))) == "open\nr1: x\nr2: y"


def counterexample() -> str:
    verdict = packed.explore(Leases(2, 1, overbook=True), PROPERTIES[:2]).verdict("fits")
    assert verdict.trace is not None
    return itf(verdict.trace, source="toys.Leases", description="fits: violated")


def test_a_trace_is_written_as_adr_015_says() -> None:
    trace = json.loads(counterexample())
    assert set(trace) == {"#meta", "vars", "states"}
    assert trace["#meta"]["format"] == "ITF"
    assert trace["vars"] == ["action_taken", "outcome", "capacity", "clock", "owner", "slots"]
    assert len(trace["states"]) == 7
    for index, state in enumerate(trace["states"]):
        assert state["#meta"] == {"index": index}
        assert set(state) == {"#meta", *trace["vars"]}
    last = trace["states"][-1]
    assert last["capacity"] == {"#bigint": "1"}
    assert [slot["kind"] for slot in last["slots"]] == ["held", "held"]
    assert last["slots"][0]["rank"] == {"#bigint": "0"}


def test_a_reader_of_the_format_reads_it_back() -> None:
    read = itf_py.trace_from_json(json.loads(counterexample()))
    told = [state.values["action_taken"] for state in read.states]
    assert told[0] == "start"
    assert sorted(told[1:]) == ["take r1", "take r2", "tick", "tick", "wait a r1", "wait a r2"]
    last = read.states[-1].values
    assert (last["capacity"], last["clock"]) == (1, 2)
    assert [slot.kind for slot in last["slots"]] == ["held", "held"]


def test_there_are_no_plain_numbers_in_a_trace() -> None:
    def walk(value: object) -> None:
        assert isinstance(value, dict | list | str | bool), value
        for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            walk(each)

    for state in json.loads(counterexample())["states"]:
        walk({name: value for name, value in state.items() if name != "#meta"})


def test_every_kind_of_value_has_its_form() -> None:
    assert expression((1, "a", True)) == [{"#bigint": "1"}, "a", True]
    assert expression(frozenset({"b", "a"})) == {"#set": ["a", "b"]}
    assert expression({"k": -5}) == {"#map": [["k", {"#bigint": "-5"}]]}
    assert expression(None) == ABSENT
    assert expression(Inner()) == {"kind": "own", "left": ABSENT}
    assert expression(1.5) == {"#unserializable": "1.5"}


def small() -> Graph[Shared, Slot]:
    graph = packed.explore(Leases(2, 1), edges=True, reduce=True).graph
    assert graph is not None
    return graph


def test_graphml_is_read_back_whole() -> None:
    graph = small()
    read = nx.read_graphml(io.BytesIO(graphml(graph).encode()), force_multigraph=True)
    assert (read.number_of_nodes(), read.number_of_edges()) == (graph.nodes, graph.edges)
    assert read.nodes["0"]["depth"] == 0
    assert "r2: Slot()" in read.nodes["0"]["state"]
    assert {data["outcome"] for *_, data in read.edges(data=True)} == set(graph.outcomes)


def test_a_picture_shows_every_state_and_every_pair_of_states_that_are_joined() -> None:
    graph = small()
    picture = ElementTree.fromstring(svg(graph, title="Leases & <queues>"))
    space = "{http://www.w3.org/2000/svg}"
    assert len(picture.findall(f".//{space}circle")) == graph.nodes
    joined = {(a, b) for a, b in zip(graph.source.tolist(), graph.target.tolist(), strict=True) if a != b}
    assert len(picture.findall(f"{space}path")) == len(joined)
    titles = [each.text or "" for each in picture.iter(f"{space}title")]
    assert titles[0] == "Leases & <queues>"
    assert any("tick: later" in title for title in titles)
    texts = [each.text or "" for each in picture.findall(f"{space}text")]
    assert any(text.startswith(f"{graph.nodes} states") for text in texts)


def test_no_two_states_are_drawn_in_one_place() -> None:
    picture = ElementTree.fromstring(svg(small(), title="x"))
    places = [(c.get("cx"), c.get("cy")) for c in picture.iter("{http://www.w3.org/2000/svg}circle")]
    assert len(set(places)) == len(places)


def test_a_graph_too_large_to_look_at_is_refused() -> None:
    graph = packed.explore(Leases(3, 2), edges=True).graph
    assert graph is not None
    with pytest.raises(ValueError, match=f"2,088 states are too many to be drawn; at most {MOST} are"):
        svg(graph, title="x")
