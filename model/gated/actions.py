"""Everything that can happen to the ledger-gated store: calls, failures, crashes, tampering.

One set of classes and one JSON form (`model.gated.forms`) for the walk, the Hypothesis machines, the
injector and trace files alike. What a caller's functions do is said as JSON: a mutation, a verifier, a step
that raises before or after its effect.
"""

from typing import Final, Literal

from attrs import field, frozen

from model.values import JSON

PHASES: Final[tuple[str, ...]] = (
    "prepare", "start", "apply", "receipt", "verify", "commit", "rollback", "compensate",
)  # fmt: skip

FAULTS: Final[dict[str, tuple[str, ...]]] = {
    "begin": ("fails", "locked"),
    "append": ("fails", "full"),
    "append-fsync": ("fails",),
    "cut": ("fails",),
    "cut-fsync": ("fails",),
    "mirror": ("fails", "full", "locked"),
    "commit": ("fails", "full", "locked"),
    "rollback": ("fails",),
    "catch-up": ("fails", "full", "locked"),
}
"""Moments at which a disk step can fail, and how: `fails` is EIO with nothing done, `full` is ENOSPC (at
`append` after the first half of the line was written), `locked` is SQLite's `database is locked`."""

TAMPERINGS: Final[tuple[str, ...]] = (
    "tail-torn",
    "tail-cut",
    "line-removed",
    "line-swapped",
    "line-repeated",
    "line-edited",
    "line-appended",
    "ledger-deleted",
    "mirror-deleted",
    "mirror-emptied",
    "mirror-corrupt",
    "mirror-schema",
    "mirror-edited",
    "mirror-behind",
    "mirror-foreign",
)
"""See `Tamper`."""

RECEIPT_EVENT: Final = "scheduler.node.receipt"

Raising = Literal["before", "after"]
"""A step raises before its effect, or after it."""


@frozen
class Fault:
    """The `nth` (from 1) arrival at `moment` within one action fails. One that is never reached is none."""

    moment: str
    nth: int
    kind: str


@frozen
class OpenLedger:
    """A client opens the store, and recovers it. An open client of that name is closed first."""

    client: str
    faults: tuple[Fault, ...] = ()


@frozen
class CloseLedger:
    client: str


@frozen
class Transact:
    """`run_ledger_gated_transaction`.

    `mutation` is what `mutate` does: `{"set": {name: value}, "remove": [names]}` (either may be left out;
    removing what is not there does nothing), `{"increment": name}` (a row that is not there counts as 0,
    one that is no integer makes it raise), `{"raises": true}`, or `{"garbage": value}`, which is returned
    in place of a state (and is one, if it has the form of one). `verifier` says yes, no, or raises.
    """

    client: str
    operation_id: str
    run_id: str
    node_id: str
    event_type: str
    phase: str
    idempotency_key: str
    mutation: dict[str, JSON]
    intent: JSON = None
    attempt_id: str | None = None
    verifier: bool | Literal["raises"] | None = None
    faults: tuple[Fault, ...] = ()


@frozen
class Step:
    """A side-effecting step. Its effect is counted in the world under its run and its receipt id."""

    id: str
    receipt_id: str
    sequence: int
    idempotent: bool
    before_state_hash: str
    after_state_hash: str
    raises: Raising | None = None


@frozen
class ApplySteps:
    """`apply_receipted_steps`."""

    client: str
    run_id: str
    node_id: str
    operation_id: str
    steps: tuple[Step, ...]
    attempt_id: str | None = None
    event_type: str = RECEIPT_EVENT
    faults: tuple[Fault, ...] = ()


@frozen
class CompensationStep:
    """A compensator. Its effect is counted under its run and `<idempotency key>:<id>`."""

    id: str
    sequence: int
    idempotent: bool
    applied: bool
    raises: Raising | None = None


@frozen
class Compensate:
    """`run_gated_compensation`."""

    client: str
    run_id: str
    node_id: str
    operation_id: str
    idempotency_key: str
    before_state_hash: str
    after_state_hash: str
    steps: tuple[CompensationStep, ...]
    attempt_id: str | None = None
    faults: tuple[Fault, ...] = ()


@frozen
class ReadState:
    """`Ledger.state()`."""

    client: str
    faults: tuple[Fault, ...] = ()


@frozen
class Tamper:
    """Somebody changes a file behind the store's back. Lines count from 1.

    Of the ledger, at any time: `tail-torn` appends the first `n` bytes of the last whole line, without a
    newline; `tail-cut` cuts the last `n` bytes of the file; `line-removed` removes line `line`, its newline
    too; `line-swapped` swaps it with the next; `line-repeated` inserts it once more after itself;
    `line-edited` flips the lowest bit of its byte `n` (from 0; the newline is the last); `line-appended`
    appends it once more at the end of the file; `ledger-deleted` deletes the file.

    Of the mirror, while no client is open, all its files together (`-wal` and `-shm` are gone afterwards):
    `mirror-deleted`; `mirror-emptied`, to 0 bytes; `mirror-corrupt`, its first page overwritten;
    `mirror-schema`, another schema version; `mirror-edited`, one row more than there should be;
    `mirror-behind`, as it was at sequence `n`; `mirror-foreign`, that of another ledger at sequence `n`.
    """

    kind: str
    line: int = 0
    n: int = 0


@frozen
class Crash:
    """The client dies (SIGKILL) at a small step of `inside`: `at` is `<moment>` or `<moment>:<nth>`.

    The moments are those of `model.gated.steps`. With no `inside` it dies idle, and `at` is `idle`.
    """

    client: str
    at: str = "idle"
    inside: "Call | None" = field(default=None)


Call = OpenLedger | Transact | ApplySteps | Compensate | ReadState
"""What a client does, and can die in."""

Action = Call | CloseLedger | Tamper | Crash
