"""What the explorer keeps of a world: `Shared` for all that exists once, a `Slot` for each reservation id.

Times are relative to the clock, and cut off where nothing can tell the difference. What grows for ever is
left out: commit numbers, audit entries, earlier states, launches. So is what no guard looks at: when a row
was last changed and under which epoch, the numbers in proofs beyond their agreement with the row.
`view` makes these values of a world, `forge` makes a world of them.
"""

from typing import Literal

from attrs import frozen

from model.explorer.space import State as ExplorerState

RowState = Literal["unused", "reserved", "committed", "orphan-suspect", "released", "forced", "expired"]
"""`forced` is released at an operator's risk, as the row's `concurrencyGuarantee` says; `released` is not."""

Stage = Literal[
    "none", "running", "stopped", "completed", "failed", "blocked", "cancelled", "parked", "abandoned"
]
"""What the project's ledger says; `stopped` stands for any of the five after it where bounds merge them."""

HOLDING = frozenset({"reserved", "committed", "orphan-suspect"})
ADMITTED = frozenset({"committed", "orphan-suspect"})
LIVE_STAGES = frozenset({"running", "stopped", "completed", "failed", "blocked", "cancelled", "parked"})
"""The stages of an admitted run."""


@frozen(cache_hash=True)
class Slot:
    """One reservation id: its row, if any, and what its project's ledger says of it.

    `left` is what remains of the TTL, in ms. `matches` is whether the row's admission is the ledger's, `None`
    where the row has none. `rank` is the row's place among those with which it competes (`Space.place`).
    `elsewhere` is the run that the ledger's fact is about, where that isn't the row's. `lied` and `lost`
    follow dropped or broken assumptions: an untrue proof was believed; the fact of an admitted run is gone.
    `old` is a row that was last changed more than a day ago. Runs, owners and commands are numbers from 0.
    """

    state: RowState = "unused"
    run: int | None = None
    owner: int = 0
    left: int | None = None
    stage: Stage = "none"
    quiet: bool = False
    matches: bool | None = None
    rank: int = 0
    attempt: int | None = None
    job: int | None = None
    command: int | None = None
    elsewhere: int | None = None
    lied: bool = False
    lost: bool = False
    old: bool = False

    @property
    def holds(self) -> bool:
        return self.state in HOLDING

    @property
    def is_live(self) -> bool:
        """Its project has admitted a run that is not proven quiescent."""
        return not self.quiet and self.stage in LIVE_STAGES


UNUSED = Slot()


@frozen(cache_hash=True)
class HostView:
    """A host that is there. `ahead` is how far the latest time that it has seen is ahead of the clock."""

    is_open: bool = True
    arbitration: bool = True
    ahead: int = 0


@frozen(cache_hash=True)
class CommandView:
    """An operator's command that took effect. The slot that a force took is told by `Slot.command`."""

    kind: Literal["set", "force"]
    argument: int
    """The maximum that was set, or the number of the reason given."""
    caller: int = 0


@frozen(cache_hash=True)
class LeaseView:
    """`kind` says how the lease stands to the hosts of the bounds; see `model.explorer.coordinator.view`.

    `left` is what remains of it in ms; `None` is longer than anything here takes.
    """

    kind: Literal["none", "malformed", "own", "other-holder", "bad"] = "none"
    epoch: int = 0
    left: int | None = None


@frozen(cache_hash=True)
class Shared:
    """All that exists once. `wall` is how far `lastWallTime` is ahead of the clock. `hosts[k]` has epoch k+1.

    `people` says who each context is now, where bounds let that change. `fresh` is a store of one commit,
    where that matters.
    """

    store: bool = False
    identity: bool = False
    epoch: int = 0
    maximum: int = 0
    commands: tuple[CommandView | None, ...] = ()
    hosts: tuple[HostView | None, ...] = ()
    lease: LeaseView = LeaseView()
    people: tuple[str, ...] = ()
    damage: frozenset[str] = frozenset()
    wall: int = 0
    temps: bool = False
    fresh: bool = False


State = ExplorerState[Shared, Slot]
