"""Outcomes by class: what a transition is told apart by, as one short text.

Answers are told by their status, openings by what became of the mirror, refusals by code and recoverability.
What exactly was answered is not part of the class: the store is compared with the model, not with the graph.
"""

from model.gated.outcomes import Accepted, Outcome, Raised, Refused


def outcome_of(outcome: Outcome) -> str:
    """`committed`, `noop`, `completed`, `in_doubt`, `rolled_back`, `intact`, `caught-up`, `rebuilt`,
    `accepted`, `raised …`, `CODE, recoverability`, or `declined`; also whether a rollback failed."""
    if isinstance(outcome, Accepted):
        value = outcome.value if isinstance(outcome.value, dict) else {}
        if "cutBytes" in value:
            cut = ", cut" if value["cutBytes"] else ""
            aside = ", set aside" if value["setAside"] else ""
            return f"{value['mirror']}{cut}{aside}"
        # A state can have a row of that name; it has no record.
        if "record" in value or "receipts" in value:
            return str(value["status"])
        return "accepted"
    if isinstance(outcome, Refused):
        name = f"{outcome.code}, {outcome.recoverability}"
    elif isinstance(outcome, Raised):
        name = f"raised {outcome.kind}"
    else:
        return "declined"
    return f"{name}, rollback failed" if outcome.rollback_failed else name
