"""Every outcome that a call can have is met in some facet, and none that nobody has thought of."""

from collections import defaultdict
from typing import Final

import pytest

from model.explorer.packed import explore
from model.gated.explorer.facets import TESTED, space_of
from model.gated.explorer.outcomes import outcome_of
from model.gated.outcomes import CODES, Accepted, Declined, Outcome, Raised, Refused

_APPEND: Final = "LEDGER_APPEND_REQUIRED_FAILED"
_BROKEN: Final = "LEDGER_INTEGRITY_FAILED, operator"
_CONFLICT: Final = "IDEMPOTENCY_CONFLICT, operator"
_DOUBT: Final = "SQLITE_MIRROR_FAILED, in_doubt"
_COMMIT: Final = "SQLITE_COMMIT_AFTER_LEDGER_FAILED, in_doubt"
_VERIFY: Final = "VERIFY_GATE_FAILED, rollback"
_ALSO: Final = "rollback failed"
_REQUIRED: Final = {f"{_APPEND}, {each}" for each in ("retry", "rollback", "in_doubt", "operator")}

OUTCOMES: Final[dict[str, set[str]]] = {
    "OpenLedger": {
        *("intact", "intact, cut", "caught-up", "caught-up, cut"),
        *("rebuilt", "rebuilt, cut", "rebuilt, set aside", "rebuilt, cut, set aside"),
        *(_BROKEN, _DOUBT, f"{_APPEND}, in_doubt"),
    },
    "Transact": {
        *("committed", "noop", "raised mutation", "raised value-error", _VERIFY, _CONFLICT, _BROKEN),
        *(_DOUBT, _COMMIT, "SQLITE_MIRROR_FAILED, retry", *(_REQUIRED - {f"{_APPEND}, retry"})),
        *(f"{each}, {_ALSO}" for each in ("raised mutation", "raised value-error", _VERIFY, _CONFLICT)),
        *(f"{each}, {_ALSO}" for each in (_DOUBT, _COMMIT)),
        *(f"{_APPEND}, {each}, {_ALSO}" for each in ("rollback", "in_doubt")),
    },
    "ApplySteps": {
        *("completed", "in_doubt", "raised step", "raised value-error", _CONFLICT, _BROKEN, _DOUBT),
        *(*_REQUIRED, f"{_APPEND}, rollback, {_ALSO}"),
    },
    "Compensate": {
        *("rolled_back", "raised value-error", "COMPENSATION_FAILED, in_doubt", _CONFLICT, *_REQUIRED),
        *(f"{_APPEND}, {each}, {_ALSO}" for each in ("rollback", "in_doubt")),
    },
    "ReadState": {"accepted", _BROKEN, _DOUBT, f"{_APPEND}, in_doubt", f"{_APPEND}, operator"},
}
"""By call, what can come of it; of tampering, closing and dying there is one outcome each."""


def test_each_call_meets_all_its_outcomes_and_no_other() -> None:
    met: dict[str, set[str]] = defaultdict(set)
    for scheme in TESTED:
        space = space_of(scheme)
        for rule, outcome in explore(space, (), reduce=True).taken:
            meaning = space.meanings[rule]
            if meaning.request is None or meaning.at:
                assert outcome == "accepted"
            else:
                met[type(meaning.request.action).__name__].add(outcome)
    assert met == OUTCOMES


def test_every_code_is_among_them() -> None:
    told = {outcome.partition(",")[0] for outcomes in OUTCOMES.values() for outcome in outcomes}
    assert told >= CODES


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        (Accepted({"status": "committed", "record": {}}), "committed"),
        (Accepted({"status": "completed", "receipts": []}), "completed"),
        (Accepted({"status": "only a row of that name"}), "accepted"),
        (Accepted({"cutBytes": 3, "mirror": "rebuilt", "setAside": True}), "rebuilt, cut, set aside"),
        (Refused("VERIFY_GATE_FAILED", "rollback", True), f"{_VERIFY}, {_ALSO}"),
        (Raised("mutation"), "raised mutation"),
        (Declined("nobody is there"), "declined"),
    ],
)
def test_an_outcome_is_told_in_one_line(outcome: Outcome, told: str) -> None:
    assert outcome_of(outcome) == told
