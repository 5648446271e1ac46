"""Faults in how callers' own functions are called, and in which event a key stands for.

Nothing of the first kind shows in files or answers: callers have to keep account of it.
"""

from typing import Final

from crash_tests.planted.plant import Change, Fault

_TRANSACTION: Final = "impl.gated.transaction"

FAULTS: Final = (
    Fault(
        "mutate-called-for-a-known-key",
        "A retry calls mutate, and throws away what it returns.",
        "run_ledger_gated_transaction, 2: mutate is not called",
        (
            Change(
                _TRANSACTION,
                "    def answer(handle: Handle, known: Known) -> TransactionResult:\n",
                "    def answer(handle: Handle, known: Known) -> TransactionResult:\n"
                "        request.mutate(_state(handle.snapshot()))\n",
            ),
        ),
    ),
    Fault(
        "verifier-shown-the-state-before",
        "The verifier is shown the state as it was, not what would be committed.",
        "run_ledger_gated_transaction, 4: verify sees the staged state",
        (Change(_TRANSACTION, "_verify(request, after_text)", "_verify(request, before_text)"),),
    ),
    Fault(
        "event-of-another-kind-taken",
        "Whatever stands under a step's key is taken for its receipt.",
        "apply_receipted_steps: a key that stands for another event: IDEMPOTENCY_CONFLICT",
        (
            Change(
                "impl.gated.events",
                "    if kind != asked or (exactly and found.event_hash != wanted.event_hash):\n",
                "    if exactly and found.event_hash != wanted.event_hash:\n",
            ),
        ),
    ),
)
