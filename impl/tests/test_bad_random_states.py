"""Random states, sealed with right checksums, are judged by `impl` and by the independent judge alike."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import impl
from impl.tests import independent
from impl.tests.clauses import BINDING, CAPACITY, DURABILITY, clauses
from impl.tests.crafting import Readers, at, paths, seal
from impl.tests.derive_store import T0, digest, uuid
from impl.tests.workbench import Bench, refusal, workbench


@pytest.fixture
def bench() -> Iterator[Bench]:
    with workbench() as made:
        yield made


@pytest.fixture
def readers(bench: Bench) -> Readers:
    return Readers(bench)


LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-1, 5), st.sampled_from([T0, T0 + 3_000, T0 + 3_001,
    2**53 - 1, 2**53]),
    st.sampled_from([1.0, 0.5, "", "committed", "orphan-suspect", "reserved", "released",
    "expired", "normal", "1"]),
    st.sampled_from([uuid(1), uuid(2), uuid(3), uuid(1, 9), uuid(2, 1), "0" * 64, digest("x"), [], {}]),
)  # fmt: skip


MUTATION = st.tuples(
    st.integers(0, 10**6), st.sampled_from(["set", "copy", "drop", "add"]), st.integers(0, 10**6), LEAVES
)


def mutate(state: Any, where: int, how: str, source: int, leaf: Any) -> None:
    """Sets, copies, drops or adds one value somewhere in the state."""
    nodes = [node for node in paths(state) if node[0]]
    path = nodes[where % len(nodes)][0]
    holder, key = at(state, path[:-1]), path[-1]
    if how == "drop":
        del holder[key]
    elif how == "add" and isinstance(holder, dict):
        holder[nodes[source % len(nodes)][0][-1] if source % 2 else "reservedExpiresAt"] = leaf
    elif how == "copy":
        holder[key] = copy.deepcopy(nodes[source % len(nodes)][1])
    else:
        holder[key] = leaf


CODE_OF = {"S6": BINDING, "S7": BINDING, "S8": BINDING, "S10": CAPACITY}


def test_random_states_are_judged_as_the_independent_judge_does(readers: Readers) -> None:
    verdicts: set[str] = set()

    @settings(
        max_examples=500,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(MUTATION, min_size=1, max_size=3))
    def compare(mutations: list[tuple[int, str, int, Any]]) -> None:
        state = copy.deepcopy(readers.grown)
        for mutation in mutations:
            mutate(state, *mutation)
        state = seal(json.loads(json.dumps(state)))  # all keys are texts, and none stands twice
        content = independent.dump(state)
        found = clauses(state)
        if not found and any(
            state[name] != readers.grown[name] for name in ("directoryIdentity", "instanceId")
        ):
            found = ["elsewhere"]
        readers.bench.state.write_bytes(content)
        if not found:
            assert impl.read_durable_epoch(readers.bench.directory) == state["fencingEpoch"]
            verdicts.add("valid")
        else:
            refusal(
                lambda: impl.read_durable_epoch(readers.bench.directory), CODE_OF.get(found[0], DURABILITY)
            )
            verdicts.add(found[0])

    compare()
    assert verdicts >= {"valid", "S1", "S3", "S5", "S6", "S7"}, verdicts
