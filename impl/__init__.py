"""The real stores: a file-backed capacity coordinator, and ledger-gated transactions.

    with open_coordinator(directory, initial_max_active_runs=4, epoch=1, holder_id="h", authority=a) as store:
        row = store.reserve(context, project_id=..., project_control_domain_id=..., run_id=..., ttl_ms=60_000)

    with open_ledger(directory) as ledger:
        result = ledger.transact(gated.Request(..., mutate=lambda state: {**state, "run": "started"}))

Guarantees: what is named here is the whole public surface, together with what `impl.gated` names; every
failure of the one is a `CoordinatorError`, of the other a `LedgerError`.

Doesn't: import the model. The two are told independently, from the specification. Nor does it load the second
system, and SQLite with it, before one of its names is asked for.
"""

from typing import TYPE_CHECKING, Any

from impl.audit import AuditReport, Fault, audit_directory
from impl.coordinator import Coordinator, open_coordinator
from impl.epoch import read_durable_epoch
from impl.errors import CODES, CoordinatorError

if TYPE_CHECKING:
    from impl import gated as gated
    from impl.gated import Ledger, LedgerError, audit_ledger, open_ledger

__all__ = [
    "CODES",
    "AuditReport",
    "Coordinator",
    "CoordinatorError",
    "Fault",
    "Ledger",
    "LedgerError",
    "audit_directory",
    "audit_ledger",
    "open_coordinator",
    "open_ledger",
    "read_durable_epoch",
]


def __getattr__(name: str) -> Any:
    if name in ("Ledger", "LedgerError", "audit_ledger", "open_ledger"):
        from impl import gated

        return getattr(gated, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
