"""Every facet is exhausted, holds true, and puts to the test what it is for; none of its rules is dead."""

import ast
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from attrs import evolve

import model.gated.explorer as here
from model.explorer.facet import load
from model.explorer.packed import explore as explore_fast
from model.explorer.reference import explore
from model.explorer.taking import SpaceError
from model.gated.actions import FAULTS, TAMPERINGS
from model.gated.explorer.damage import tampering_once
from model.gated.explorer.facets import LARGE, PROPERTIES, TESTED, Scheming, space_of
from model.gated.explorer.names import FACETS
from model.gated.explorer.properties import SETTLED
from model.gated.explorer.space import LedgerSpace
from model.gated.explorer.transactions import clients, transact
from model.gated.invariants import INVARIANTS
from model.gated.running import MOMENTS

EVERY = pytest.mark.parametrize("scheme", TESTED, ids=lambda scheme: scheme.__name__)


@EVERY
def test_a_facet_is_exhausted_and_every_property_holds(scheme: Scheming) -> None:
    found = explore(space_of(scheme), PROPERTIES[f"{scheme.__name__}_properties"](), reduce=True)
    assert found.complete
    assert [each for each in found.verdicts if each.verdict != "holds"] == []
    assert found.dead == ()
    assert found.verdict(SETTLED).cases > 0


@EVERY
def test_both_engines_agree(scheme: Scheming) -> None:
    space, asked = space_of(scheme), PROPERTIES[f"{scheme.__name__}_properties"]()
    slow, fast = explore(space, asked, reduce=True), explore_fast(space, asked, reduce=True, edges=True)
    for name in ("states", "transitions", "full_states", "full_transitions", "levels", "taken", "dead"):
        assert getattr(slow, name) == getattr(fast, name), name
    assert [each.verdict for each in slow.verdicts] == [each.verdict for each in fast.verdicts]


@EVERY
def test_with_and_without_symmetry_the_same_is_seen(scheme: Scheming) -> None:
    space = space_of(scheme)
    whole, reduced = explore(space), explore(space, reduce=True)
    assert (whole.states, whole.transitions) == (reduced.full_states, reduced.full_transitions)
    assert len(whole.levels) == len(reduced.levels)
    outcomes = {outcome for _, outcome in whole.taken}
    assert outcomes == {outcome for _, outcome in reduced.taken}


@pytest.mark.parametrize("scheme", [transact, clients], ids=lambda scheme: scheme.__name__)
def test_symmetry_is_worth_it_where_it_is_declared(scheme: Scheming) -> None:
    found = explore(space_of(scheme), reduce=True)
    assert found.full_states > 2 * found.states


def test_between_them_the_facets_test_every_invariant() -> None:
    assert frozenset().union(*TESTED.values()) == {each.id for each in INVARIANTS}


def test_between_them_the_facets_meet_every_failing_step_death_and_tampering() -> None:
    met: set[tuple[str, str]] = set()
    deaths: dict[str, set[str]] = defaultdict(set)
    tampered: set[str] = set()
    for scheme in TESTED:
        for meaning in space_of(scheme).meanings.values():
            met |= {(each.moment, each.kind) for each in meaning.faults}
            if meaning.at and meaning.request is not None:
                deaths[type(meaning.request.action).__name__].add(meaning.at.partition(":")[0])
            if meaning.tampering is not None:
                tampered.add(meaning.tampering.kind)
    assert met == {(moment, kind) for moment, kinds in FAULTS.items() for kind in kinds}
    assert tampered == set(TAMPERINGS)
    building = {"open", "ledger-created", "aside", "set-aside", "build", "built", "renamed"}
    mending = {"catch-up", "caught-up", "cut", "cut-done", "cut-fsync", "cut-synced", "reply"}
    writing = set(MOMENTS) - building
    assert deaths["OpenLedger"] == building | mending
    assert deaths["Transact"] == writing - {"run", "ran"}
    # After a step has failed, one death there stands for those that leave the same behind.
    quiet = {"cut-fsync", "cut-synced", "rolled-back"}
    assert deaths["ApplySteps"] | quiet == writing
    assert deaths["Compensate"] | quiet == writing


@pytest.mark.parametrize("scheme", LARGE, ids=lambda scheme: scheme.__name__)
def test_what_only_the_deep_profile_explores_holds_true_as_well(scheme: Scheming) -> None:
    asked = PROPERTIES[f"{scheme.__name__}_properties"]()
    found = explore_fast(space_of(scheme), asked, reduce=True, edges=True)
    assert [each for each in found.verdicts if each.verdict != "holds"] == []
    assert found.dead == ()
    assert found.full_transitions > 100_000


def test_the_table_names_every_facet_and_what_it_names_is_there() -> None:
    assert {facet.name.replace("-", "_") for facet in FACETS} == {
        scheme.__name__ for scheme in (*TESTED, *LARGE)
    }
    for facet in FACETS:
        space = load(facet.space)()
        assert isinstance(space, LedgerSpace)
        assert load(facet.properties)()
        assert facet.toured.get("deep") or facet.killed["deep"]
        assert not facet.toured.get("quick") or "quick" in facet.explored
    with pytest.raises(AttributeError, match="no facet 'nonsense'"):
        load("model.gated.explorer.facets:nonsense")


@pytest.mark.parametrize("module", ["model.gated", "model.gated.explorer.names"])
def test_the_model_and_the_table_are_read_without_the_explorer(module: str) -> None:
    heavy = {"numpy", "networkx", "model.explorer.space", "model.gated.explorer.space"}
    code = f"import sys, {module}; print({heavy} & set(sys.modules))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "set()"


def test_a_world_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("model.gated.explorer.space._TOO_MANY", 20)
    with pytest.raises(SpaceError, match="more than 20 states: is each fault bounded"):
        LedgerSpace(transact())
    assert LedgerSpace(transact(), most=5).rules


def test_files_whose_bytes_tell_names_are_not_renamed() -> None:
    with pytest.raises(AssertionError):
        evolve(tampering_once(), alike=(("k1", "k2"),))


MODULES = sorted(Path(here.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=[path.stem for path in MODULES])
def test_a_module_is_pure_and_small(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    named: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            named.update(each.name.partition(".")[0] for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            named.add((node.module or "").partition(".")[0])
        elif isinstance(node, ast.FunctionDef):
            assert (node.end_lineno or 0) - node.lineno < 70, node.name
    assert named <= {"attrs", "collections", "functools", "hashlib", "itertools", "model", "typing"}
    assert ast.get_docstring(tree)
    assert text.count("\n") <= 300
