"""Random states, sealed with right checksums, are judged by `impl` and by the independent judge alike.

Seeds are pinned: the same 400 states, in two forms of writing, on every run. Most are off by one value of
the right kind, so that each clause comes up, and valid states too.
"""

import copy
import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

import impl
from impl.codec import to_json
from impl.tests.clauses import BINDING, CAPACITY, DURABILITY, clauses
from impl.tests.crafting import Path, Readers, at, paths, seal
from impl.tests.derive_store import T0, digest, uuid
from impl.tests.workbench import Bench, refusal, workbench


@pytest.fixture
def bench() -> Iterator[Bench]:
    with workbench() as made:
        yield made


@pytest.fixture(params=[True, False], ids=["in our own form", "in another form"])
def readers(bench: Bench, request: pytest.FixtureRequest) -> Readers:
    return Readers(bench, own_form=request.param)


NUMBERS = (0, 1, 2, 3, 4, 5, 7, T0, T0 + 1_000, T0 + 3_000, T0 + 3_001, T0 + 10**9, 2**53 - 1)
TEXTS = (
    "committed", "orphan-suspect", "reserved", "released", "expired", "normal", "force", "enforced",
    "completed", uuid(1), uuid(2), uuid(3), uuid(1, 1), uuid(1, 2), uuid(1, 3), uuid(1, 9),
    "0" * 64, digest("x"), "x",
)  # fmt: skip
WRONG: tuple[Any, ...] = (None, True, 1.0, 0.5, -1, 2**53, "", [], {}, "3", 0)
OPTIONAL = (
    "projectAdmitCommitSeq", "reservedExpiresAt", "renewedAt", "attemptId", "admitRunVersion", "releaseKind",
    "request",
)  # fmt: skip


def mutate(state: Any, chance: random.Random) -> str:
    """One change somewhere in the state, more often than not to a value of the same kind. Tells which."""
    nodes = [(path, value) for path, value in paths(state) if path]
    path, value = chance.choice(nodes)
    how = chance.choice(["near", "near", "near", "same", "copy", "wrong", "optional", "optional", "drop"])
    if how == "near":
        leaves = [node for node in nodes if type(node[1]) in (int, str)]
        path, value = chance.choice(leaves)
        new = chance.choice(NUMBERS if type(value) is int else TEXTS)
    elif how == "same":
        new = chance.choice([other for _, other in nodes if type(other) is type(value)])
    elif how == "copy":
        new = chance.choice(nodes)[1]
    elif how == "wrong":
        new = chance.choice(WRONG)
    elif how == "optional":
        holders = [node for node in nodes if isinstance(node[1], dict) and "state" in node[1]] or [nodes[0]]
        path, value = chance.choice(holders)
        return optional(at(state, path), path, chance)
    else:
        del at(state, path[:-1])[path[-1]]
        return f"drop {path}"
    at(state, path[:-1])[path[-1]] = copy.deepcopy(new)
    return f"{how} {path} = {new!r:.60}"


def optional(holder: Any, path: Path, chance: random.Random) -> str:
    name = chance.choice(OPTIONAL)
    if isinstance(holder, dict) and holder.pop(name, None) is None:
        holder[name] = chance.choice(TEXTS if name == "attemptId" else NUMBERS)
    return f"optional {path} {name}"


CODE_OF = {"S6": BINDING, "S7": BINDING, "S8": BINDING, "S10": CAPACITY}


def expected(state: Any, grown: Any) -> str:
    """The first clause that is broken, "elsewhere" for another directory's state, or "" for a valid one."""
    found = clauses(state)
    if found:
        return found[0]
    moved = any(state[name] != grown[name] for name in ("directoryIdentity", "instanceId"))
    return "elsewhere" if moved else ""


def test_random_states_are_judged_as_the_independent_judge_does(readers: Readers) -> None:
    """By the epoch's reader, and by an open store, which may also know too much to accept a valid state."""
    verdicts: Counter[str] = Counter()
    for seed in range(400):
        chance = random.Random(seed)
        state = copy.deepcopy(readers.grown)
        told = [mutate(state, chance) for _ in range(chance.choice([1, 1, 1, 2, 3]))]
        state = seal(json.loads(json.dumps(state)))
        verdict = expected(state, readers.grown)
        verdicts[verdict] += 1
        try:
            compare(readers, state, verdict)
        except Exception as error:
            raise AssertionError(f"seed {seed}, {verdict or 'valid'}: {told}: {error}") from error
    assert set(verdicts) >= {"", "S1", "S3", "S5", "S6", "S7", "S9", "elsewhere"}, verdicts


def compare(readers: Readers, state: Any, verdict: str) -> None:
    bench = readers.bench
    bench.state.write_bytes(readers.good)
    with bench.open() as store:
        bench.state.write_bytes(readers.dump(state))
        if verdict:
            code = CODE_OF.get(verdict, DURABILITY)
            refusal(lambda: impl.read_durable_epoch(bench.directory), code)
            refusal(lambda: store.call("snapshot", {}, "alice"), code)
            return
        assert impl.read_durable_epoch(bench.directory) == state["fencingEpoch"]
        try:
            shown = to_json(store.call("snapshot", {}, "alice"))
        except impl.CoordinatorError as caught:
            refused = caught.code
            assert refused in (DURABILITY, "AUTHORITY_REVOKED")  # rolled back, or ahead of this host
        else:
            assert shown["reservations"] == list(state["reservations"].values())
            assert shown["commands"] == list(state["commands"].values())
