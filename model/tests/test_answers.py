"""What counts as a lease, an identity, a proof: the forms of the authority's answers."""

import pytest

from model import answers
from model.answers import Abandonment, Admission
from model.tests.worlds import DOMAIN, PROJECT, rid, run_id, subject
from model.values import JSON, Fact, Identity, Lease

LEASE: dict[str, JSON] = {"holderId": "alpha", "fencingEpoch": 1, "endpoint": "e", "expiresAt": 5}
WHO: dict[str, JSON] = {"principal": "p", "ownerId": "o", "operator": False}
ADMITTED: dict[str, JSON] = {**subject(), "projectAdmitCommitSeq": 3, "runVersion": 0}
ABANDONED: dict[str, JSON] = {**subject(), "status": "abandoned", "abandonmentCommitSeq": 3, "runVersion": 0}
OVER: dict[str, JSON] = {
    **ADMITTED,
    "proofId": "proof",
    "status": "completed",
    "stage": "terminal",
    "requiresReadmission": False,
    "providerNoLiveProcessTree": True,
    "noAmbiguousJobs": True,
    "reconcileTimeoutOnly": False,
}
BINDING = (PROJECT, DOMAIN, run_id(1))
NO_STRINGS: list[JSON] = [None, 1, True, [], {}, "", "x" * 4097, "\udc00"]
NO_INTEGERS: list[JSON] = [None, True, 1.0, "1", -1, 2**53, []]


def test_a_lease_has_exactly_its_four_values() -> None:
    assert answers.lease(LEASE) == Lease("alpha", 1, "e", 5)
    assert answers.lease({**LEASE, "more": 1}) is None
    for name in LEASE:
        assert answers.lease({key: each for key, each in LEASE.items() if key != name}) is None


@pytest.mark.parametrize("bad", [None, True, 1, "lease", [], {}], ids=repr)
def test_nothing_but_an_object_is_an_answer(bad: JSON) -> None:
    assert answers.lease(bad) is None
    assert answers.identity(bad) is None
    assert answers.verdict(bad) is None
    assert answers.release(bad) is None


@pytest.mark.parametrize("name", ["holderId", "endpoint"])
@pytest.mark.parametrize("bad", NO_STRINGS, ids=lambda bad: repr(bad)[:9])
def test_the_texts_of_a_lease_are_short_sound_and_not_empty(name: str, bad: JSON) -> None:
    assert answers.lease({**LEASE, name: bad}) is None


@pytest.mark.parametrize("name", ["fencingEpoch", "expiresAt"])
@pytest.mark.parametrize("bad", NO_INTEGERS, ids=repr)
def test_the_numbers_of_a_lease_are_integers(name: str, bad: JSON) -> None:
    assert answers.lease({**LEASE, name: bad}) is None


def test_an_identity_may_say_more() -> None:
    assert answers.identity({**WHO, "email": "a@b"}) == Identity("p", "o", False)


@pytest.mark.parametrize("name", ["principal", "ownerId"])
@pytest.mark.parametrize("bad", [*NO_STRINGS, " \t"], ids=lambda bad: repr(bad)[:9])
def test_whoever_is_blank_or_unsound_is_nobody(name: str, bad: JSON) -> None:
    assert answers.identity({**WHO, name: bad}) is None


@pytest.mark.parametrize("bad", [None, 0, 1, "true"], ids=repr)
def test_operator_is_a_boolean(bad: JSON) -> None:
    assert answers.identity({**WHO, "operator": bad}) is None


def test_an_admission_proof_may_say_more_but_has_no_status() -> None:
    assert answers.admission({**ADMITTED, "more": []}) == Admission(rid(1), BINDING, 3, 0)
    assert answers.admission({**ADMITTED, "status": "admitted"}) is None
    assert answers.admission({**ADMITTED, "status": None}) is None


@pytest.mark.parametrize("name", list(subject()))
@pytest.mark.parametrize("bad", NO_STRINGS, ids=lambda bad: repr(bad)[:9])
def test_a_proof_names_its_subject_in_sound_strings(name: str, bad: JSON) -> None:
    assert answers.admission({**ADMITTED, name: bad}) is None
    assert answers.abandonment({**ABANDONED, name: bad}) is None
    assert answers.release({**OVER, name: bad}) is None


@pytest.mark.parametrize("bad", [*NO_INTEGERS, 0], ids=repr)
def test_a_proven_sequence_counts_from_one(bad: JSON) -> None:
    assert answers.admission({**ADMITTED, "projectAdmitCommitSeq": bad}) is None
    assert answers.abandonment({**ABANDONED, "abandonmentCommitSeq": bad}) is None
    assert answers.release({**OVER, "projectAdmitCommitSeq": bad}) is None


@pytest.mark.parametrize("bad", NO_INTEGERS, ids=repr)
def test_a_run_version_counts_from_nought(bad: JSON) -> None:
    assert answers.admission({**ADMITTED, "runVersion": bad}) is None
    assert answers.abandonment({**ABANDONED, "runVersion": bad}) is None
    assert answers.release({**OVER, "runVersion": bad}) is None


def test_an_abandonment_says_so() -> None:
    assert answers.verdict(ABANDONED) == Abandonment(rid(1), BINDING)
    assert answers.verdict({**ABANDONED, "status": "not-admitted"}) is None
    assert answers.verdict({**ABANDONED, "status": "Abandoned"}) is None


@pytest.mark.parametrize("status", ["completed", "failed", "blocked", "cancelled"])
def test_a_run_that_is_over_frees_its_slot(status: str) -> None:
    proof = answers.release({**OVER, "status": status, "stage": "any", "more": 1})
    assert proof is not None
    assert proof.frees


def test_a_run_that_is_over_needs_no_stage_but_a_parked_one_does() -> None:
    without = {name: each for name, each in OVER.items() if name != "stage"}
    proofs = [answers.release({**without, **change}) for change in ({}, {"status": "paused"})]
    assert [proof is not None and proof.frees for proof in proofs] == [True, False]


def test_a_parked_run_frees_its_slot_only_if_it_must_be_admitted_anew() -> None:
    parked = {**OVER, "status": "paused", "stage": "parked", "requiresReadmission": True}
    proofs = [
        answers.release({**parked, **change})
        for change in ({}, {"requiresReadmission": 1}, {"stage": "paused"}, {"status": "parked"})
    ]
    assert [proof is not None and proof.frees for proof in proofs] == [True, False, False, False]


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("providerNoLiveProcessTree", False),
        ("providerNoLiveProcessTree", 1),
        ("providerNoLiveProcessTree", None),
        ("noAmbiguousJobs", False),
        ("noAmbiguousJobs", "true"),
        ("reconcileTimeoutOnly", True),
        ("reconcileTimeoutOnly", 0),
        ("reconcileTimeoutOnly", None),
        ("status", "running"),
        ("status", "paused"),
    ],
)
def test_a_proof_that_leaves_something_alive_frees_nothing(name: str, bad: JSON) -> None:
    proof = answers.release({**OVER, name: bad})
    assert proof is not None
    assert not proof.frees


@pytest.mark.parametrize("name", ["proofId", "status", "stage"])
@pytest.mark.parametrize("bad", NO_STRINGS, ids=lambda bad: repr(bad)[:9])
def test_the_texts_of_a_release_proof_are_sound(name: str, bad: JSON) -> None:
    assert answers.release({**OVER, name: bad}) is None


def test_a_proof_without_a_name_is_none() -> None:
    assert answers.release({**OVER, "proofId": "  "}) is None


def test_what_a_truthful_ledger_says_has_the_form_that_is_asked_for() -> None:
    fact = Fact(rid(1), BINDING, "admitted", 3, 2, "paused", "parked", True, True)
    proof = answers.true_release(fact)
    assert proof is not None
    assert proof.frees
    assert proof.proof_id == "proof-3-2"
    assert answers.truth(fact) == Admission(rid(1), BINDING, 3, 2)
    assert answers.truth(Fact(rid(1), BINDING, "abandoned", 3)) == Abandonment(rid(1), BINDING)
    assert answers.truth(None) is None
    assert answers.true_release(None) is None
