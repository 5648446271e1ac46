"""Which rule of the second system a difference is about, in the specification's own words, for people.

A signpost, no proof: the trace is what counts.
"""

from typing import Final

BY_CODE: Final = {
    "LEDGER_APPEND_REQUIRED_FAILED": "append and fsync, or cut off again (run_ledger_gated_transaction, 4)",
    "LEDGER_INTEGRITY_FAILED": "what is cut and what is refused (Recovery)",
    "SQLITE_MIRROR_FAILED": "begin, catch-up and mirror (run_ledger_gated_transaction, 1 and 5; L6)",
    "SQLITE_COMMIT_AFTER_LEDGER_FAILED": "commit after the ledger (run_ledger_gated_transaction, 6)",
    "IDEMPOTENCY_CONFLICT": "keys first, matched by requestHash (run_ledger_gated_transaction, 2; L1)",
    "VERIFY_GATE_FAILED": "the verifier looks at the stage (run_ledger_gated_transaction, 3)",
    "COMPENSATION_FAILED": "who may be compensated (run_gated_compensation)",
}
ANSWER: Final = "what it answers"
CRASHED: Final = "every failure is a ledger error that says where it struck (Errors)"
RECOVERABILITY: Final = "each error carries its recoverability (Errors)"
ROLLBACK: Final = "a rollback that fails never hides the first error (L5)"
RAISED: Final = "what mutate or a step raises passes through; L4 is a ValueError"
LEDGER: Final = "what stands in the ledger (Records; Recovery)"
MIRROR: Final = "mirror = fold of the ledger (Recovery)"
UNCHANGED: Final = "a refusal for integrity changes no byte (Recovery)"
EFFECTS: Final = "effects and receipts (apply_receipted_steps, run_gated_compensation; L2, L3)"
ORDER: Final = "appended and synced first, mirrored second, then committed (The promise; Durability rules)"
FILES: Final = "the files themselves: private, regular, a WAL (Durability rules)"


def of_outcome(expected: str, observed: str) -> str:
    """The rule behind two outcomes that differ: each `accepted`, a code, or what was raised."""
    if expected in BY_CODE or observed in BY_CODE:
        return BY_CODE.get(expected) or BY_CODE[observed]
    return RAISED
