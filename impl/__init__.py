"""The real, file-backed capacity coordinator.

    with open_coordinator(directory, initial_max_active_runs=4, epoch=1, holder_id="h", authority=a) as store:
        row = store.reserve(context, project_id=..., project_control_domain_id=..., run_id=..., ttl_ms=60_000)

Guarantees: what is named here is the whole public surface; every failure is a `CoordinatorError`.

Doesn't: import the model. The two are told independently, from the specification.
"""

from impl.audit import AuditReport, Fault, audit_directory
from impl.coordinator import Coordinator, open_coordinator
from impl.epoch import read_durable_epoch
from impl.errors import CODES, CoordinatorError

__all__ = [
    "CODES",
    "AuditReport",
    "Coordinator",
    "CoordinatorError",
    "Fault",
    "audit_directory",
    "open_coordinator",
    "read_durable_epoch",
]
