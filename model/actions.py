"""Everything that can happen: operations on the store, and events in its surroundings.

One set of classes and one JSON form (`model.forms`) for the explorer, the Hypothesis machines, the
injector and trace files alike. Arguments of an operation and answers of a callback are raw JSON values, so
that nonsense can be said too.
"""

from collections.abc import Mapping
from typing import Literal

from attrs import field, frozen

from model.values import JSON

OPERATIONS: tuple[str, ...] = (
    "reserve",
    "commit",
    "renew",
    "markOrphanSuspect",
    "normalRelease",
    "forceRelease",
    "setMaxActiveRuns",
    "readReservation",
    "readCommand",
    "snapshot",
    "dispatch",
)

Moment = Literal[
    "read_lease",
    "authorize",
    "read_admission",
    "abandon_admission_if_absent",
    "read_release",
    "prepare",
    "activation",
    "rename",
]
"""Where something can interfere with a transaction: a callback's call (before it answers), or `rename`,
the moment between the temporary file's fsync and the last look at the clock before the rename of the
state file."""

DAMAGES: tuple[str, ...] = (
    "state-missing",
    "state-symlink",
    "state-hardlink",
    "state-mode",
    "state-fifo",
    "state-directory",
    "state-truncated",
    "state-bitflip",
    "state-duplicate-key",
    "state-float",
    "state-unsealed",
    "state-digest",
    "state-chain",
    "identity-missing",
    "identity-symlink",
    "identity-hardlink",
    "identity-mode",
    "identity-fifo",
    "identity-truncated",
    "identity-duplicate-key",
    "identity-float",
    "lock-symlink",
    "lock-hardlink",
    "lock-mode",
    "lock-fifo",
    "directory-removed",
    "directory-replaced",
)
"""What can be done to the files of a store that has been opened. While any of these stands, every
operation is refused with DURABILITY_FAILED and nothing is written. `-removed` and `-replaced` move the
directory aside (and put an empty one in its place); mending brings the same inode back. `-unsealed`,
`-digest` and `-chain` are forgeries in which one link alone is wrong: stateHash, the last stateDigest, or a
previousHash."""


@frozen
class Raises:
    """The callback raises: a coordinator error with this code, or, with `None`, any other exception."""

    code: str | None = None


@frozen
class Answers:
    """The callback answers this JSON value instead of the truth."""

    value: JSON


@frozen
class Reenters:
    """The callback calls the same open store (its `snapshot`) and passes on what that raises."""


@frozen
class Happens:
    """Meanwhile something else happens; then the callback answers as the surroundings now stand."""

    event: "Event"


Effect = Raises | Answers | Reenters | Happens


@frozen
class Disturbance:
    """`effect` strikes at the `nth` (from 1) arrival at `moment` within one transaction."""

    moment: Moment
    nth: int
    effect: Effect


@frozen
class Open:
    """A host opens the store: `open_coordinator`, which runs `initialize`. Replaces a host of that name."""

    host: str
    holder_id: JSON
    epoch: JSON
    initial_max_active_runs: JSON
    arbitration: bool = True
    disturbances: tuple[Disturbance, ...] = ()


@frozen
class Call:
    """An operation on an open (or closed) store. `arguments` carry the specification's names."""

    host: str
    context: str
    operation: str
    arguments: Mapping[str, JSON] = field(factory=dict)
    disturbances: tuple[Disturbance, ...] = ()


@frozen
class Close:
    host: str


@frozen
class ReadEpoch:
    """`read_durable_epoch` on the directory, without a host."""


@frozen
class AdvanceClock:
    """The wall clock moves by `ms`; negative is backwards."""

    ms: int


@frozen
class SetLease:
    """The authority's lease from now on, as raw JSON; `None` is no lease."""

    lease: JSON


@frozen
class SetIdentity:
    """Who `context` is from now on; with `None`, `authorize` answers `None` for it."""

    context: str
    identity: JSON


@frozen
class Admit:
    """A project admits a run under a reservation, in its own ledger."""

    reservation_id: str
    project_id: str
    project_control_domain_id: str
    run_id: str


@frozen
class Abandon:
    """A project's own arbitration records ABANDON for a reservation that it never admitted."""

    reservation_id: str
    project_id: str
    project_control_domain_id: str
    run_id: str


@frozen
class Finish:
    """An admitted run reaches a terminal status; its processes may still live (see `Quiesce`)."""

    reservation_id: str
    status: Literal["completed", "failed", "blocked", "cancelled"]


@frozen
class Park:
    """An admitted run is parked; it may run again only under a new reservation."""

    reservation_id: str


@frozen
class Quiesce:
    """The last process of a finished or parked run is gone, and that is proven."""

    reservation_id: str


@frozen
class Resume:
    """A parked or finished run starts again under its *old* reservation (a dropped assumption)."""

    reservation_id: str


@frozen
class Forget:
    """A project's ledger loses what it knew of a reservation (a dropped assumption)."""

    reservation_id: str


@frozen
class PutBack:
    """Someone puts back `World.earlier[index]` in place of `coordinator.json`."""

    index: int


@frozen
class LeaveTemp:
    """A killed writer's temporary file stands in the directory."""


@frozen
class Damage:
    kind: str


@frozen
class Mend:
    """Undoes `Damage(kind)`: the files stand as before it."""

    kind: str


Event = (
    Close
    | AdvanceClock
    | SetLease
    | SetIdentity
    | Admit
    | Abandon
    | Finish
    | Park
    | Quiesce
    | Resume
    | Forget
    | PutBack
    | LeaveTemp
    | Damage
    | Mend
)
Action = Open | Call | ReadEpoch | Event
