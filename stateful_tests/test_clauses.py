"""Every code leads to a rule, whichever side gave it."""

import pytest

from model.outcomes import CODES
from stateful_tests.clauses import BY_CODE, of_outcome


def test_every_code_has_its_rule() -> None:
    assert set(BY_CODE) == CODES


@pytest.mark.parametrize("code", sorted(CODES))
def test_the_rule_is_that_of_the_code_whichever_side_gave_it(code: str) -> None:
    assert of_outcome(code, "accepted") == of_outcome("accepted", code) == BY_CODE[code]


def test_where_both_refuse_the_model_names_the_rule() -> None:
    assert of_outcome("POLICY_DENIED", "AUTHORITY_REVOKED") == BY_CODE["POLICY_DENIED"]


def test_a_code_outside_the_set_is_told_as_such() -> None:
    assert of_outcome("accepted", "OUT_OF_LUCK") == "Error codes: a closed set"
