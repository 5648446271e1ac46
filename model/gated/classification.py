"""What to do with an operation that stopped half-way, from what of it is durable.

`classify` tries the specification's rows from top to bottom. It says `in_doubt` wherever nothing else is
certain; it never looks at anything but what it is given.
"""

from typing import Literal

from attrs import frozen

Verdict = Literal["in_doubt", "ignore", "resume", "rollback"]


@frozen
class Durable:
    """What is known of the operation. `prepared_state_hash` is that of its prepared state, if recorded."""

    compensator_failed: bool = False
    completed: bool = False
    prepared: bool = False
    prepared_state_hash: str | None = None
    started: bool = False
    required_receipts: frozenset[str] = frozenset()
    receipts: frozenset[str] = frozenset()
    lease_expired: bool = False


def classify(durable: Durable) -> Verdict:
    """The action for it."""
    if durable.compensator_failed:
        return "in_doubt"
    if durable.completed:
        return "ignore"
    if durable.prepared:
        if durable.prepared_state_hash is None:
            return "in_doubt"
        if not durable.started:
            return "rollback"
        return "resume" if durable.required_receipts <= durable.receipts else "in_doubt"
    if durable.started or durable.receipts:
        return "in_doubt"
    return "rollback" if durable.lease_expired else "resume"
