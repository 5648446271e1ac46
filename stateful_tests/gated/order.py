"""Whether the steps of a call came in the order that its promises rest on: append, sync, mirror, commit.

What no comparison of states can see, since no power was cut: a record that was mirrored before it was
synced, a new file whose directory was not, a cut that was not. The steps are those that `faults.Watch` saw.
It judges only what was done; that a call did too little shows in its answer.
"""

from collections.abc import Iterator, Sequence

from attrs import define


@define
class _Order:
    appended: bool = False
    """In this transaction of SQLite's."""
    inserted: bool = False
    open: bool = False
    unsynced: str = ""
    """What of the ledger is not synced yet, in words; empty if all is."""
    created: bool = False
    rolled_back: int = 0


def out_of_order(steps: Sequence[str], *, died: bool, failed: bool) -> Iterator[str]:
    """What is wrong with `steps`, in words.

    One who `died` need not have come to the end of them; where a step `failed` what it was to sync may have
    to stay as it is.
    """
    order = _Order()
    for step in steps:
        yield from _next(order, step)
    if died:
        return
    if order.unsynced and not failed:
        yield f"the call ended, and {order.unsynced} was never synced"
    if order.created and not failed:
        yield "ledger.jsonl was created, and its directory never synced"
    if order.open:
        yield "a transaction of SQLite's was begun, and neither committed nor rolled back"


def _next(order: _Order, step: str) -> Iterator[str]:
    if step == "fsync:ledger":
        order.unsynced = ""
    elif step == "fsync:directory":
        order.created = False
    elif step == "ledger-create-after":
        order.created = True
    elif step in ("ledger-append-torn", "ledger-append-after", "ledger-renew-after"):
        order.unsynced, order.appended = "a record", True
    elif step == "ledger-cut-after":
        order.unsynced, order.appended = "a cut", False
    elif step == "mirror-begin-after":
        order.open, order.appended, order.inserted, order.rolled_back = True, False, False, 0
    elif step == "mirror-insert-before":
        if not order.appended:
            yield "a record was mirrored that had not been appended"
        if order.unsynced:
            yield f"a record was mirrored while {order.unsynced} was not synced"
    elif step == "mirror-insert-after":
        order.inserted = True
    elif step == "mirror-commit-before":
        if not order.inserted:
            yield "a transaction was committed whose record had not been mirrored"
    elif step == "mirror-commit-after":
        order.open = False
    elif step == "mirror-rollback-before":
        order.open = False
        order.rolled_back += 1
        if order.rolled_back > 1:
            yield "a transaction was rolled back twice"
