"""Whether the steps of a call came in the order that its promises rest on: append, sync, mirror, commit.

What no comparison of states can see, since no power was cut: a record that was mirrored before it was
synced, or synced more often than it costs; a new file whose content or directory was not synced, a cut that
was not; what a dead writer had left, mirrored without being written again. The steps are those that
`faults.Watch` saw. It judges only what was done; that a call did too little shows in its answer.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from attrs import define

RECORDED: Final = (
    "mirror-commit-after",
    "ledger-append-after",
    "ledger-renew-after",
    "ledger-cut-after",
    "ledger-create-after",
    "mirror-aside-after",
    "mirror-rename-after",
)
"""The steps that make a call worth counting as one whose recorded steps were judged."""


@define
class _Order:
    appended: bool = False
    """In this transaction of SQLite's."""
    inserted: bool = False
    open: bool = False
    unsynced: str = ""
    """What of the ledger is not synced yet, in words; empty if all is."""
    syncs: int = 0
    """Of the ledger, since the last record was appended."""
    renewing: bool = False
    renewed: bool = False
    """What a dead writer may have left unsynced was written again and synced."""
    unnamed: str = ""
    """What was given a name in the directory, which was not synced since, in words."""
    building: bool = False
    unbuilt: bool = False
    """A new mirror's content is not synced yet."""
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
    if order.unnamed and not failed:
        yield f"{order.unnamed}, and the directory was never synced"
    if order.open:
        yield "a transaction of SQLite's was begun, and neither committed nor rolled back"


def _next(order: _Order, step: str) -> Iterator[str]:
    if step.startswith("fsync:"):
        _synced(order, step)
    elif step.startswith("ledger-"):
        _ledger(order, step)
    elif step.startswith(("mirror-build", "mirror-aside", "mirror-rename")):
        yield from _new_mirror(order, step)
    else:
        yield from _transaction(order, step)


def _synced(order: _Order, step: str) -> None:
    if step == "fsync:ledger":
        order.unsynced = ""
        order.syncs += 1
        order.renewed = order.renewed or order.renewing
    elif step == "fsync:directory":
        order.unnamed = ""
    else:
        order.unbuilt = False


def _ledger(order: _Order, step: str) -> None:
    if step == "ledger-create-after":
        order.unnamed = "ledger.jsonl was created"
    elif step in ("ledger-append-torn", "ledger-append-after", "ledger-renew-after"):
        order.unsynced, order.appended, order.syncs = "a record", True, 0
        order.renewing = step == "ledger-renew-after"
    elif step == "ledger-cut-after":
        order.unsynced, order.appended = "a cut", False


def _new_mirror(order: _Order, step: str) -> Iterator[str]:
    if step == "mirror-build-before":
        order.building = True
    elif step == "mirror-build-after":
        order.unbuilt = True
    elif step == "mirror-aside-after":
        order.unnamed = "a mirror was set aside"
    elif step == "mirror-rename-before":
        if order.unbuilt:
            yield "a new mirror was renamed in whose content was not synced"
        if order.unnamed:
            yield f"a new mirror was renamed in, but {order.unnamed}, and the directory was not synced"
    elif step == "mirror-rename-after":
        order.building = False
        order.unnamed = "a new mirror was renamed in"


def _transaction(order: _Order, step: str) -> Iterator[str]:
    if step == "mirror-begin-after":
        order.open, order.appended, order.inserted, order.rolled_back = True, False, False, 0
    elif step == "mirror-insert-before":
        if not order.appended:
            yield "a record was mirrored that had not been appended"
        elif order.syncs > 1:
            yield f"a record was synced {order.syncs} times before it was mirrored"
        if order.unsynced:
            yield f"a record was mirrored while {order.unsynced} was not synced"
    elif step == "mirror-insert-after":
        order.inserted = True
    elif step == "mirror-commit-before":
        if not order.inserted:
            yield "a transaction was committed whose record had not been mirrored"
    elif step == "mirror-commit-after":
        order.open = False
    elif step == "mirror-replay-commit-before":
        if not order.building and not order.renewed:
            yield "what a dead writer may have left unsynced was mirrored without being written again"
    elif step == "mirror-rollback-before":
        order.open = False
        order.rolled_back += 1
        if order.rolled_back > 1:
            yield "a transaction was rolled back twice"
