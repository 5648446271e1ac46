"""States whose form and checksums are right, and which break one clause of S1 … S10, or several.

Each is refused with that clause's code by an open store, a fresh opening and `read_durable_epoch`, and
named by `audit_directory`. Where several are broken the first in the specification's order decides. At the
end random states, sealed with right checksums, are judged by `impl` and by the independent judge alike.
"""

import copy
from collections.abc import Iterator
from typing import Any

import pytest

import impl
from impl.tests.clauses import ALLOWED, BINDING, DURABILITY, SEALED, Change, both, clauses, setting
from impl.tests.crafting import Path, Readers, at, seal
from impl.tests.derive_store import T0, digest, without
from impl.tests.workbench import EPOCH, Bench, refusal, workbench


@pytest.fixture
def bench() -> Iterator[Bench]:
    with workbench() as made:
        yield made


@pytest.fixture(params=[True, False], ids=["in our own form", "in another form"])
def readers(bench: Bench, request: pytest.FixtureRequest) -> Readers:
    return Readers(bench, own_form=request.param)


def broken(readers: Readers, change: Change) -> Any:
    state = copy.deepcopy(readers.grown)
    change(state)
    return seal(state)


def named_by_audit(readers: Readers) -> set[str]:
    return {fault.clause for fault in impl.audit_directory(readers.bench.directory).faults}


@pytest.mark.parametrize("clause", SEALED)
def test_a_state_that_breaks_one_clause_is_refused_with_its_code(readers: Readers, clause: str) -> None:
    for name, change, code in SEALED[clause]:
        state = broken(readers, change)
        assert clauses(state)[0] == clause, (name, "the test itself")
        try:
            readers.refused(readers.dump(state), code)
        except AssertionError as error:
            raise AssertionError(f"{clause}, {name}: {error}") from error
        assert clause in named_by_audit(readers), name


def unsealed(value: str, *path: str | int) -> Change:
    """One hash differs; those that cover it are right for that."""

    def change(state: Any) -> None:
        seal(setting_in(state, path, value), tuple(path))

    return change


def setting_in(state: Any, path: Path, value: Any) -> Any:
    at(state, path[:-1])[path[-1]] = value
    return state


@pytest.mark.parametrize("wrong", ["0" * 63 + "1", digest("another"), "f" * 64])
def test_a_wrong_hash_is_refused_wherever_it_stands(readers: Readers, wrong: str) -> None:
    last = len(readers.grown["audit"]) - 1
    wrongs: list[tuple[str, Path]] = [("S2", ("stateHash",)), ("S4", ("audit", last, "stateDigest"))]
    for number in range(last + 1):
        wrongs += [("S3", ("audit", number, "previousHash")), ("S3", ("audit", number, "hash"))]
    wrongs += [("S9", ("commands", key, "record", "requestHash")) for key in readers.grown["commands"]]
    for clause, path in wrongs:
        state = copy.deepcopy(readers.grown)
        unsealed(wrong, *path)(state)
        assert clause in clauses(state)
        readers.refused(readers.dump(state), DURABILITY)
        assert clause in named_by_audit(readers), path


def test_a_hash_in_upper_case_is_refused(readers: Readers) -> None:
    for path in (
        ("stateHash",),
        ("audit", 0, "hash"),
        ("audit", 1, "previousHash"),
        ("audit", 3, "stateDigest"),
    ):
        state = copy.deepcopy(readers.grown)
        seal(setting_in(state, path, at(state, path).upper()), path)
        readers.refused(readers.dump(state), DURABILITY)


def test_an_edit_without_new_checksums_is_refused(readers: Readers) -> None:
    for clause in SEALED:
        for _, change, _ in SEALED[clause]:
            state = copy.deepcopy(readers.grown)
            change(state)
            readers.refused(readers.dump(state), DURABILITY, fresh=False)
            state["stateHash"] = digest(without(state, "stateHash"))
            if business_changed(state, readers.grown):
                readers.refused(readers.dump(state), DURABILITY, fresh=False)


def business_changed(state: Any, former: Any) -> bool:
    names = ("fencingEpoch", "maxActiveRuns", "reservations", "commands")
    return any(state[name] != former[name] for name in names)


def test_what_lies_just_inside_each_clause_is_accepted(readers: Readers) -> None:
    for name, change in ALLOWED:
        state = broken(readers, change)
        assert clauses(state) == [], name
        try:
            readers.accepted(readers.dump(state))
        except Exception as error:
            raise AssertionError(name) from error


@pytest.mark.parametrize(
    ("key", "value"), [("recordedAt", T0), ("epoch", 1), ("epoch", 0), ("action", "of old")]
)
def test_equal_times_older_epochs_and_other_actions_are_a_fine_past(
    readers: Readers, key: str, value: Any
) -> None:
    state = copy.deepcopy(readers.grown)
    for entry in state["audit"]:
        entry[key] = value
    readers.bench.state.write_bytes(readers.dump(seal(state)))
    assert readers.bench.open().call("snapshot", {}, "alice") is not None
    assert impl.read_durable_epoch(readers.bench.directory) == EPOCH
    assert impl.audit_directory(readers.bench.directory).faults == ()


# (first in order, second in order, the code that both together give)
PAIRS: list[tuple[str, int, str, int, str]] = [
    ("S1", 1, "S6", 0, DURABILITY),
    ("S2", 0, "S8", 0, DURABILITY),
    ("S3", 3, "S7", 0, DURABILITY),
    ("S4", 0, "S6", 1, DURABILITY),
    ("S4", 0, "S10", 0, DURABILITY),
    ("S5", 1, "S6", 0, DURABILITY),
    ("S5", 1, "S10", 0, DURABILITY),
    ("S6", 0, "S9", 1, BINDING),
    ("S6", 1, "S10", 0, BINDING),
    ("S7", 0, "S9", 2, BINDING),
    ("S7", 1, "S5", 1, BINDING),
    ("S7", 0, "S10", 0, BINDING),
    ("S8", 0, "S9", 1, BINDING),
    ("S8", 3, "S10", 0, BINDING),
    ("S9", 1, "S10", 0, DURABILITY),
]


def test_of_two_broken_clauses_the_first_in_order_decides(readers: Readers) -> None:
    """S7 stands on row 1 and S5 on row 2: row by row, not clause by clause."""
    for first, one, second, other, code in PAIRS:
        change = both(SEALED[first][one][1], SEALED[second][other][1])
        state = broken(readers, change)
        found = clauses(state)
        assert found[0] == first, (first, second)
        readers.refused(readers.dump(state), code)
        assert named_by_audit(readers) >= set(found), "the audit tells the first fault only"


def test_rows_are_judged_in_the_order_of_the_file(readers: Readers) -> None:
    late, ttl = SEALED["S5"][1][1], SEALED["S7"][0][1]
    state = broken(readers, both(late, ttl))
    readers.refused(readers.dump(state), BINDING)
    state["reservations"] = dict(reversed(state["reservations"].items()))
    readers.refused(readers.dump(seal(state)), DURABILITY)


def test_a_newer_epoch_is_no_fault_of_the_state_but_fences_the_host(readers: Readers) -> None:
    state = broken(readers, setting(("fencingEpoch",), EPOCH + 1))
    readers.bench.state.write_bytes(readers.dump(state))
    refusal(lambda: readers.store.call("snapshot", {}, "alice"), "AUTHORITY_REVOKED")
    refusal(lambda: readers.bench.open(), "AUTHORITY_REVOKED")
    assert impl.read_durable_epoch(readers.bench.directory) == EPOCH + 1
    assert impl.audit_directory(readers.bench.directory).faults == ()
