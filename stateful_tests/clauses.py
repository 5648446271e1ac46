"""Which rule a difference is about, in the specification's own names, for people.

A difference between outcomes is about the rule behind the code that one side gave and the other didn't; the
rest is known from the kind of thing that differs. It is a signpost, no proof: the trace is what counts.
"""

from typing import Final

BY_CODE: Final = {
    "CAPACITY_EXCEEDED": "slots held never exceed maxActiveRuns (S10)",
    "ADMISSION_BINDING_CONFLICT": "the guards on the row's state and binding, and on its proof (S6-S8)",
    "AUTHORITY_REVOKED": "clock, fence and authority (One transaction, 4-6 and 9-11), and other owners",
    "POLICY_DENIED": "operators, acknowledgement and reason",
    "COMMAND_FAILED": "arguments are checked before the transaction (C2, C3, C11, C15, C17)",
    "DURABILITY_FAILED": "the files are what they must be, and only ever go forward (S1-S5, S9, C4, C12-C14)",
    "RECONCILE_REQUIRED": "a release needs its whole proof",
    "IDEMPOTENCY_CONFLICT": "a command id has one effect and one answer (Command rules)",
    "CROSS_PRINCIPAL_COMMAND": "a command belongs to its principal (Command rules)",
}
ANSWER: Final = "what it answers"
CRASHED: Final = "every failure is a coordinator error (Error codes)"
SIDE_EFFECTS: Final = "refusals have no side effects, failures may (One transaction)"
REFUSED: Final = "a refused operation leaves the same bytes"
PUBLISHED: Final = "what is swept, applied and published (One transaction, 7-10)"
FILES: Final = "the files themselves: shape, hashes, chain, modes (S1-S5, C12)"
GENESIS: Final = "state and identity stand together (Genesis, C1)"
TEMPS: Final = "no temporary file outlives the next transaction (C5, C6)"
LEDGERS: Final = "projects record what arbitration was asked for, and nothing else (The authority)"
SHOWN: Final = "authorize is shown the operation, and the reservation as it stands (The authority)"
LAUNCHES: Final = "an activation runs once, after the checks of step 11 (dispatch)"


def of_outcome(expected: str, observed: str) -> str:
    """The rule behind two outcomes, each `accepted` or a code, that differ."""
    return BY_CODE.get(expected) or BY_CODE.get(observed) or "Error codes: a closed set"
