"""Ledger-gated transactions: an append-only JSONL ledger, and a SQLite database that mirrors it.

    with open_ledger(directory) as ledger:
        result = ledger.transact(Request(..., mutate=lambda state: {**state, "run": "started"}))

Guarantees: no mutation commits unless its event was durably appended first and mirrored second. The ledger is
the authority; the mirror can always be rebuilt from it. Failures are `LedgerError`s.

Doesn't: import the model. The two are told independently, from the specification.
"""

from impl.gated.audit import LedgerAuditReport, LedgerFault, audit_ledger
from impl.gated.classify import Classification, Durable, classify
from impl.gated.compensation import run_gated_compensation
from impl.gated.errors import LEDGER_CODES, LedgerCode, LedgerError, Recoverability
from impl.gated.ledger import Ledger, open_ledger
from impl.gated.steps import apply_receipted_steps
from impl.gated.transaction import run_ledger_gated_transaction
from impl.gated.values import (
    ApplyRequest,
    ApplyResult,
    Change,
    CompensationRequest,
    CompensationResult,
    CompensationStep,
    LedgerRecord,
    RecoveryReport,
    Request,
    Step,
    TransactionResult,
)

__all__ = [
    "LEDGER_CODES",
    "ApplyRequest",
    "ApplyResult",
    "Change",
    "Classification",
    "CompensationRequest",
    "CompensationResult",
    "CompensationStep",
    "Durable",
    "Ledger",
    "LedgerAuditReport",
    "LedgerCode",
    "LedgerError",
    "LedgerFault",
    "LedgerRecord",
    "Recoverability",
    "RecoveryReport",
    "Request",
    "Step",
    "TransactionResult",
    "apply_receipted_steps",
    "audit_ledger",
    "classify",
    "open_ledger",
    "run_gated_compensation",
    "run_ledger_gated_transaction",
]
