"""What to do with an operation that stopped half-way, from what is durable of it alone.

Guarantees: the table of the specification, tried from top to bottom; every situation has an answer, and what
nobody can know is "in_doubt", never "ignore" or "rollback".

Doesn't: look anything up, or do anything.
"""

from collections.abc import Iterable
from typing import Literal

from attrs import field, frozen

Classification = Literal["in_doubt", "ignore", "resume", "rollback"]


def _names(names: Iterable[str]) -> frozenset[str]:
    return frozenset(names)


@frozen
class Durable:
    """What is in the ledger about one operation, and whether the lease of who ran it has expired."""

    prepared: bool = False
    prepared_state_hash: str | None = None
    started: bool = False
    completed: bool = False
    compensator_failed: bool = False
    required_receipts: frozenset[str] = field(default=frozenset(), converter=_names)
    receipts: frozenset[str] = field(default=frozenset(), converter=_names)
    lease_expired: bool = False


def classify(durable: Durable) -> Classification:
    """What recovery does about the operation."""
    prepared, started = durable.prepared, durable.started
    if durable.compensator_failed:
        return "in_doubt"
    if durable.completed:
        return "ignore"
    if prepared and durable.prepared_state_hash is None:
        return "in_doubt"
    if prepared and started and durable.required_receipts <= durable.receipts:
        return "resume"
    if prepared and not started:
        return "rollback"
    if prepared:
        return "in_doubt"
    if durable.lease_expired and not started and not durable.receipts:
        return "rollback"
    if not durable.lease_expired and not started and not durable.receipts:
        return "resume"
    return "in_doubt"
