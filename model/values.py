"""The values the model speaks in: rows, commands, the durable state, its surroundings.

Every value is frozen, so a `World` can be kept, compared and gone back to. Times are integer milliseconds
since the epoch, sequence numbers are integers from 1. Field names are the specification's in snake case;
`model.forms` renders them in the specification's own JSON terms.

What these values do not hold: hashes, the directory's identity, the instance id. Two audit entries are
compared by their content, which is what a collision-free hash stands for.
"""

from typing import Literal

from attrs import field, frozen

JSON = None | bool | int | float | str | list["JSON"] | dict[str, "JSON"]

State = Literal["reserved", "committed", "orphan-suspect", "released", "expired"]

HOLDING: frozenset[str] = frozenset({"reserved", "committed", "orphan-suspect"})
ADMITTED: frozenset[str] = frozenset({"committed", "orphan-suspect"})
TERMINAL: frozenset[str] = frozenset({"released", "expired"})

Binding = tuple[str, str, str]
"""(project id, project control domain id, run id)."""


@frozen
class Row:
    """One reservation as the store keeps it. `slots` is always 1 and therefore not a field."""

    reservation_id: str
    state: State
    project_id: str
    project_control_domain_id: str
    run_id: str
    coordinator_epoch: int
    owner_id: str
    principal: str
    updated_at: int
    concurrency_guarantee: Literal["enforced", "operator-overridden"] = "enforced"
    project_admit_commit_seq: int | None = None
    attempt_id: str | None = None
    provider_job_handle: str | None = None
    reserved_expires_at: int | None = None
    renewed_at: int | None = None
    admit_run_version: int | None = None
    release_kind: Literal["normal", "force"] | None = None
    release_proof_id: str | None = None
    memo: dict[str, JSON] | None = field(default=None, init=False, eq=False, repr=False)
    """The JSON form, once it was asked for. Derived, so it takes no part in comparisons."""

    @property
    def binding(self) -> Binding:
        return (self.project_id, self.project_control_domain_id, self.run_id)

    @property
    def holds_slot(self) -> bool:
        return self.state in HOLDING


@frozen
class SetMaximum:
    """The request of a `setMaxActiveRuns` command."""

    max_active_runs: int


@frozen
class ForceRelease:
    """The request of a `forceRelease` command; its acknowledgement is always `true`."""

    reservation_id: str
    reason: str


@frozen
class Command:
    """An operator's command that took effect, with the answer it gave then."""

    command_id: str
    request: SetMaximum | ForceRelease
    caller_principal: str
    commit_seq: int
    result: Row | int
    memo: dict[str, JSON] | None = field(default=None, init=False, eq=False, repr=False)
    """The JSON form, once it was asked for."""


@frozen
class Business:
    """What the business digest covers; stands for `stateDigest`."""

    fencing_epoch: int
    max_active_runs: int
    rows: tuple[Row, ...]
    commands: tuple[Command, ...]


@frozen
class AuditEntry:
    commit_seq: int
    epoch: int
    recorded_at: int
    action: str
    principal: str
    digest: Business = field(repr=False)
    memo: dict[str, JSON] | None = field(default=None, init=False, eq=False, repr=False)
    """The JSON form, once it was asked for."""


@frozen
class Store:
    """What `coordinator.json` says, in the order of its rows."""

    fencing_epoch: int
    commit_seq: int
    last_wall_time: int
    max_active_runs: int
    rows: tuple[Row, ...] = ()
    commands: tuple[Command, ...] = ()
    audit: tuple[AuditEntry, ...] = ()
    faults: tuple[str, ...] | None = field(default=None, init=False, eq=False, repr=False)
    """The clauses S1-S10 that this state breaks, once they were looked at (see `model.validity`)."""

    @property
    def held(self) -> int:
        """Slots taken now."""
        return sum(row.state in HOLDING for row in self.rows)

    @property
    def business(self) -> Business:
        return Business(self.fencing_epoch, self.max_active_runs, self.rows, self.commands)


@frozen
class Snapshot:
    """What `snapshot` answers."""

    commit_seq: int
    fencing_epoch: int
    max_active_runs: int
    rows: tuple[Row, ...]
    commands: tuple[Command, ...]


@frozen
class Raw:
    """What the authority answers where it is not of the right form: any JSON value, as JSON text."""

    text: str


@frozen
class Lease:
    """Who may act as host, as the authority says it now."""

    holder_id: str
    fencing_epoch: int
    endpoint: str
    expires_at: int


@frozen
class Identity:
    principal: str
    owner_id: str
    operator: bool = False


@frozen
class Host:
    """A process that has opened the store, or had. `seen` is the last state it read whole or published."""

    name: str
    holder_id: str
    epoch: int
    arbitration: bool = True
    is_open: bool = True
    high_water: int = 0
    seen: Store | None = None


@frozen
class Fact:
    """What a project's own ledger durably says of one reservation.

    `admitted` facts carry how the run stands; `quiescent` is the truth about its processes, which a
    release proof repeats.
    """

    reservation_id: str
    binding: Binding
    kind: Literal["admitted", "abandoned"]
    commit_seq: int
    run_version: int = 0
    status: str = "running"
    stage: str = "running"
    requires_readmission: bool = False
    quiescent: bool = False


@frozen
class World:
    """The store and everything around it: one frozen value.

    `earlier` holds each state ever published, oldest first, for putting one back. `damage` names what has
    been done to the files (see `model.actions.DAMAGES`). `launched` lists the reservations for which an
    activation ran, in order. `dropped` names the assumptions about the surroundings that do not hold in
    this world (see `model.surroundings.ASSUMPTIONS`).

    `temps` counts leftover temporary files. `forgotten` are admitted runs of which the ledgers lost the
    fact. `broken` names what has gone against an assumption that is *not* dropped: `files-stay` once a
    store believed a state that had been rolled back, `proofs-true:<reservation id>` once it believed an
    untrue proof. What follows from that is not held against the store.
    """

    clock: int
    store: Store | None = None
    identity_file: bool = False
    lease: Lease | Raw | None = None
    hosts: tuple[Host, ...] = ()
    people: tuple[tuple[str, Identity | Raw], ...] = ()
    facts: tuple[Fact, ...] = ()
    project_seq: int = 0
    earlier: tuple[Store, ...] = ()
    damage: frozenset[str] = frozenset()
    launched: tuple[str, ...] = ()
    dropped: frozenset[str] = frozenset()
    temps: int = 0
    forgotten: tuple[Fact, ...] = ()
    broken: frozenset[str] = frozenset()
