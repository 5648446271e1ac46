"""What the store keeps and answers: frozen values, named as the specification names them.

Guarantees: values are immutable, so an answer can be handed out without a copy. Integers in fields marked
`Count` lie in 0 … 2^53 - 1, in `Positive` in 1 … 2^53 - 1; `Text` is non-empty and encodable in UTF-8;
times are integer milliseconds since the epoch. What was read from a file or is about to be written obeys
these marks, since `codec` and `validate` enforce them.

Doesn't: check anything at construction. Mappings are typed read-only, and nobody here changes one. A field
has a default only where the key may be missing in a file: `codec` goes by that.
"""

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from attrs import field, frozen

MAX_INTEGER: Final = 2**53 - 1
"""The largest integer that the format holds: what JavaScript can count exactly."""
MAX_TTL_MS: Final = 86_400_000
"""The longest time to live of a reservation, in milliseconds: one day."""
MAX_TEXT: Final = 4096
"""The longest text in arguments and in answers of the authority, in code points."""

Count = Annotated[int, "an integer of 0 … 2^53 - 1"]
Positive = Annotated[int, "an integer of 1 … 2^53 - 1"]
One = Annotated[int, "exactly 1"]
Yes = Annotated[bool, "exactly true"]
Text = Annotated[str, "a non-empty text without lone surrogates"]
Uuid = Annotated[str, "a canonical lower-case UUID"]
Hash = Annotated[str, "64 lower-case hexadecimal digits"]

State_ = Literal["reserved", "committed", "orphan-suspect", "released", "expired"]
ReleaseKind = Literal["normal", "force"]
Guarantee = Literal["enforced", "operator-overridden"]
CommandKind = Literal["setMaxActiveRuns", "forceRelease"]

HOLDING: Final = frozenset({"reserved", "committed", "orphan-suspect"})
"""The states that hold a slot."""
ADMITTED: Final = frozenset({"committed", "orphan-suspect"})
"""The states whose run was admitted: never freed by time."""


@frozen
class Reservation:
    """One slot asked for by one run. `reserved_expires_at` is there only before admission."""

    reservation_id: Text
    state: State_
    project_id: Text
    project_control_domain_id: Text
    run_id: Text
    coordinator_epoch: Count
    slots: One
    project_admit_commit_seq: Positive | None = None
    attempt_id: Text | None = None
    provider_job_handle: Text | None = None
    reserved_expires_at: Count | None = None
    renewed_at: Count | None = None

    @property
    def binding(self) -> tuple[str, str, str]:
        """The run that this slot is for."""
        return (self.project_id, self.project_control_domain_id, self.run_id)


@frozen
class Row:
    """A reservation with its owner and what is known of its end."""

    reservation: Reservation
    owner_id: Text
    principal: Text
    updated_at: Count
    concurrency_guarantee: Guarantee
    admit_run_version: Count | None = None
    release_kind: ReleaseKind | None = None
    release_proof_id: Text | None = None
    # The canonical JSON of this very row, kept by `canonical.of_row`: a row is hashed and written often.
    text: bytes | None = field(default=None, init=False, eq=False, repr=False)


@frozen
class SetMaxActiveRunsRequest:
    """What an operator asked for: another maximum."""

    max_active_runs: Positive
    kind: Literal["setMaxActiveRuns"]


@frozen
class ForceReleaseRequest:
    """What an operator asked for: a slot back, at their own risk."""

    reservation_id: Text
    reason: Text
    risk_acknowledgement: Yes
    kind: Literal["forceRelease"]


Request = SetMaxActiveRunsRequest | ForceReleaseRequest


@frozen
class CommandRecord:
    """Who gave a command, and the commit that stored it."""

    command_id: Text
    kind: CommandKind
    request_hash: Hash
    caller_principal: Text
    first_commit_seq: Positive
    last_commit_seq: Positive
    status: Text


@frozen
class Command:
    """An operator's command with its one answer. Old stores lack the request."""

    record: CommandRecord
    result: Row | Positive
    request: Request | None = None
    text: bytes | None = field(default=None, init=False, eq=False, repr=False)


@frozen
class AuditEntry:
    """One commit: which operation, by whom, when, and the digests that chain it to the ones before."""

    commit_seq: Count
    epoch: Count
    recorded_at: Count
    action: Text
    principal: Text
    previous_hash: Hash
    state_digest: Hash
    hash: Hash


@frozen
class DirectoryIdentity:
    """Where a store lives: a copy elsewhere is not the store."""

    canonical_path: Text
    dev: Count
    ino: Count
    text: bytes | None = field(default=None, init=False, eq=False, repr=False)


@frozen
class StoreIdentity:
    """The genesis authority: the content of coordinator.identity.json."""

    canonical_path: Text
    dev: Count
    ino: Count
    instance_id: Uuid
    version: One


@frozen
class State:
    """The whole content of coordinator.json. Rows and commands keep their order."""

    fencing_epoch: Count
    commit_seq: Positive
    last_wall_time: Count
    directory_identity: DirectoryIdentity
    instance_id: Uuid
    max_active_runs: Positive
    reservations: Mapping[str, Row]
    commands: Mapping[str, Command]
    audit: tuple[AuditEntry, ...]
    state_hash: Hash
    version: One


@frozen
class Capacity:
    """Slots, counted: `active` is the sum of the three after it."""

    max_active_runs: int
    active: int
    reserved: int
    committed: int
    orphan_suspect: int


@frozen
class Snapshot:
    """All there is, as after this call's own publication."""

    commit_seq: int
    fencing_epoch: int
    capacity: Capacity
    concurrency_guarantee: Guarantee
    reservations: tuple[Row, ...]
    commands: tuple[Command, ...]
