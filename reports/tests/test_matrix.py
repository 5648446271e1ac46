"""Properties with their evidence: a verdict of each that says no more than was looked at."""

import json
from pathlib import Path
from typing import Any

from model.gated.invariants import INVARIANTS as OF_THE_LEDGER
from model.invariants import INVARIANTS
from reports.matrix import CHECKS, PINNED_LEDGERS, broken_by, known, properties

KILL = {"kind": "kill", "trial": "kill"}
RACE = {"kind": "kill", "trial": "race"}


def one(system: str, name: str, **given: Any) -> dict[str, Any]:
    """The property of that name, from counts, floors, failures and explorations."""
    told = properties(
        given.get("counts", {}),
        given.get("floors", {}),
        given.get("failures", ()),
        given.get("explorations", ()),
    )
    (found,) = (each for each in told if (each["system"], each["id"]) == (system, name))
    return found


def test_every_invariant_and_check_of_both_systems_is_there_once() -> None:
    assert len(known()) == len(INVARIANTS) + len(OF_THE_LEDGER) + 2 * len(CHECKS)
    assert len({(each.system, each.id) for each in known()}) == len(known())
    assert all(each.sentence for each in known())


def test_what_was_never_looked_at_does_not_hold() -> None:
    assert one("coordinator", "S10")["verdict"] == "not looked at"
    assert one("ledger", "recovery")["verdict"] == "not looked at"


def test_what_was_seen_as_often_as_its_floors_ask_holds() -> None:
    seen = {"invariant/S10": 7, "witness/S10": 1}
    assert one("coordinator", "S10", counts=seen, floors=dict.fromkeys(seen, 1))["verdict"] == "holds"


def test_recovery_was_not_looked_at_where_nobody_was_killed() -> None:
    assert one("ledger", "recovery", counts={"ledger/fault/append": 900})["verdict"] == "not looked at"
    killed = {"ledger/fault/append": 900, "ledger/kill/open/append-torn#1": 1}
    assert one("ledger", "recovery", counts=killed)["verdict"] == "holds"
    lacking = {"ledger/kill/open/append-torn#1": 1}
    assert (
        one("ledger", "recovery", counts={"ledger/fault/append": 9}, floors=lacking)["verdict"]
        == "inconclusive"
    )


def test_a_witness_below_its_floor_is_inconclusive() -> None:
    floors = {"invariant/S10": 1, "witness/S10": 1}
    found = one("coordinator", "S10", counts={"invariant/S10": 7}, floors=floors)
    assert found["verdict"] == "inconclusive"
    assert [(each["how"], each["count"], each["floor"]) for each in found["evidence"]] == [
        ("invariant", 7, 1),
        ("witness", 0, 1),
    ]


def test_the_surplus_of_one_key_makes_up_for_no_other() -> None:
    counts, floors = {"kill/a/x#1": 100}, {"kill/a/x#1": 1, "kill/a/y#1": 1}
    found = one("coordinator", "recovery", counts=counts, floors=floors)
    assert found["verdict"] == "inconclusive"
    assert (
        one("coordinator", "recovery", counts={**counts, "kill/a/y#1": 1}, floors=floors)["verdict"]
        == "holds"
    )


def test_each_system_has_its_own_counts() -> None:
    counts = {"ledger/rule/transact/accepted": 3, "rule/open/accepted": 4}
    for system, seen in (("ledger", 3), ("coordinator", 4)):
        evidence = one(system, "comparison", counts=counts)["evidence"]
        assert {each["how"]: each["count"] for each in evidence} == {"corpus": 0, "conformance": seen}


def test_a_failure_makes_its_property_violated_and_no_other() -> None:
    failures = [{"system": "ledger", "property": "recovery"}] * 2
    counts = {"kill/a/x#1": 1, "ledger/kill/a/x#1": 1}
    assert one("ledger", "recovery", counts=counts, failures=failures)["failures"] == 2
    assert one("ledger", "recovery", counts=counts, failures=failures)["verdict"] == "violated"
    assert one("coordinator", "recovery", counts=counts, failures=failures)["verdict"] == "holds"


def test_an_exploration_is_evidence_and_its_verdict_counts() -> None:
    def space(verdict: str) -> dict[str, Any]:
        told = [{"id": "S10", "verdict": verdict}]
        return {"system": "coordinator", "space": "core", "states": 9, "properties": told}

    for verdict in ("holds", "violated", "inconclusive"):
        found = one("coordinator", "S10", explorations=[space(verdict)])
        assert found["verdict"] == verdict
        assert found["evidence"][-1]["count"] == 9
    assert one("ledger", "comparison", explorations=[space("violated")])["verdict"] == "not looked at"


def test_a_failure_breaks_the_invariant_that_it_names_or_the_check_that_found_it() -> None:
    assert broken_by("coordinator", "S10", "kills", RACE).id == "S10"
    assert broken_by("coordinator", "C6", "kills", KILL).id == "recovery"
    assert broken_by("coordinator", "no slot twice", "kills", RACE).id == "race"
    assert broken_by("ledger", "what it answers", "conformance", {}).id == "comparison"
    assert broken_by("ledger", "what it answers", "corpus", None).system == "ledger"
    assert broken_by("another", "x", "corpus", None).system == "coordinator"


def test_pinned_traces_tell_of_their_own_system_alone() -> None:
    """A check of a target replays the coordinator's alone, and the ledger was said to hold by them."""
    counts = {"corpus/a-read-stores-a-newer-epoch": 1, "rule/open/accepted": 5}
    assert one("coordinator", "comparison", counts=counts)["verdict"] == "holds"
    assert one("ledger", "comparison", counts=counts)["verdict"] == "not looked at"
    theirs = {"corpus/ledger-an-append": 1}
    assert one("coordinator", "comparison", counts=theirs)["verdict"] == "not looked at"
    found = one("ledger", "comparison", counts=theirs, floors=dict.fromkeys([*theirs, *counts], 1))
    assert [each["floor"] for each in found["evidence"]] == [1, None]


def test_the_corpus_names_its_ledgers_traces_as_the_counts_are_read() -> None:
    corpus = Path(__file__).resolve().parents[2] / "stateful_tests" / "corpus"
    for path in corpus.glob("*.json"):
        named = f"corpus/{path.stem}".startswith(PINNED_LEDGERS)
        assert named == (json.loads(path.read_text("utf-8")).get("system") == "ledger"), path.stem
