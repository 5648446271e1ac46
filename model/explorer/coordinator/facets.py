"""The facets of the coordinator's model: small worlds, each exhausted, that together touch every guard.

`BOUNDS` says how large each is, `FACETS` what each profile of a check does with it. Importing this loads no
explorer.
"""

from typing import Any, Final

from attrs import evolve

from model.explorer.coordinator.bounds import Bounds
from model.explorer.coordinator.disturbing import AUTHORITIES, FILES, LAUNCHES, PROOFS, RELEASES, SWEEPS
from model.explorer.coordinator.untested import with_guards
from model.explorer.facet import Facet

SLOT_COMES_BACK: Final = "slot-comes-back"
"""Not an invariant of `model.invariants`; see `properties`."""

_CALLS: Final = frozenset(
    {"reserve", "commit", "renew", "orphan", "release", "read", "snapshot", "dispatch", "project", "abandon"}
)
_LIFECYCLE: Final = _CALLS | {"lease", "open", "close", "clock"}
_FAULTS: Final = ("none", "expired", "malformed", "other-holder", "other-epoch")

_NO_DAY: Final = frozenset({"time-frees-no-committed-row"})
_ONE_EPOCH: Final = frozenset({"epoch-never-falls", "older-hosts-are-fenced"})
_NO_COMMAND: Final = frozenset({"S9", "commands-take-effect-once"})
_ONE_ROW: Final = frozenset({"S8"})
_NO_WAY_OUT: Final = frozenset({SLOT_COMES_BACK})
_NO_SWEEP: Final = frozenset({"time-frees-no-run", "refused-writes-nothing"})
_NO_DISPATCH: Final = frozenset({"launches-are-fenced"})
_NO_PROJECT: Final = frozenset({"S6", "proof-frees", "true-capacity", "time-frees-no-run"})
_NO_LIFE: Final = _NO_PROJECT | _NO_DISPATCH | _NO_WAY_OUT | {"terminal-stays"}
_SMALL: Final = _NO_DAY | _ONE_EPOCH | _NO_COMMAND | _ONE_ROW

_CORE: Final = Bounds(
    ids=3,
    runs=2,
    hosts=2,
    maxima=(1, 2),
    commands=1,
    leases=_FAULTS,
    lease_left=2,
    merge_leases=False,
    groups=_LIFECYCLE | {"force", "maximum", "read-command", "die"},
    genesis=True,
    untested=_NO_DAY,
)

_DECLARED: Final[dict[str, Bounds]] = {
    "core": _CORE,
    "core5": evolve(_CORE, ids=5, merge_leases=True, lease_left=None),
    "capacity": Bounds(ids=2, runs=2, groups=_LIFECYCLE - {"renew"}, untested=_SMALL),
    "lifecycle": Bounds(
        ids=2, runs=2, initial=(2,), groups=_LIFECYCLE, merge_stages=False, untested=_SMALL - _ONE_ROW
    ),
    "killed": Bounds(
        commands=1,
        stages=("completed",),
        groups=_LIFECYCLE - {"lease"} | {"force"},
        untested=_SMALL - _NO_COMMAND,
    ),
    "fencing": Bounds(
        hosts=2,
        leases=_FAULTS,
        merge_leases=False,
        merge_closed=False,
        groups=_LIFECYCLE,
        untested=_NO_DAY | _NO_COMMAND | _ONE_ROW,
    ),
    "commands": Bounds(
        ids=2,
        commands=2,
        reasons=2,
        maxima=(1, 2),
        identities=("alice", "operator"),
        operators=("root", "alice"),
        groups=frozenset(
            {"reserve", "snapshot", "force", "maximum", "read-command", "people", "project", "commit"}
        ),
        untested=_NO_DAY | _ONE_EPOCH | _ONE_ROW | _NO_SWEEP | _NO_DISPATCH | _NO_WAY_OUT,
    ),
    "identity": Bounds(
        callers=("alice", "bob", "root", "eve"),
        identities=("alice", "operator", "other-owner", "other-principal", "nobody", "blank", "odd"),
        groups=_LIFECYCLE | {"people"},
        untested=_SMALL,
    ),
    "stages": Bounds(
        groups=_LIFECYCLE,
        merge_stages=False,
        stages=("completed", "failed", "blocked", "cancelled", "parked"),
        untested=_SMALL,
    ),
    "attempts": Bounds(ids=1, groups=_LIFECYCLE | {"attempts", "commit-wrong"}, untested=_SMALL),
    "time": Bounds(
        ttls=(1, 2), back=True, lease_left=2, merge_leases=False, groups=_LIFECYCLE, untested=_SMALL
    ),
    "aging": Bounds(groups=_LIFECYCLE, aging=True, untested=_SMALL - _NO_DAY),
    "elsewhere": Bounds(
        ids=1, runs=2, commands=1, groups=_LIFECYCLE | {"elsewhere", "force"}, untested=_SMALL - _NO_COMMAND
    ),
    "genesis": Bounds(
        genesis=True,
        initial=(1, 2),
        hosts=2,
        leases=("none", "expired", "other-epoch"),
        arbitration=(True, False),
        groups=frozenset(
            {"lease", "open", "close", "reserve", "snapshot", "clock", "epoch", "project", "commit"}
        ),
        untested=_SMALL - _ONE_EPOCH | _NO_DISPATCH | _NO_WAY_OUT,
    ),
    "damage": Bounds(
        genesis=True,
        temps=True,
        groups=frozenset({"lease", "open", "close", "reserve", "snapshot", "damage", "epoch", "temps"}),
        damages=(
            *("state-missing", "state-mode", "identity-missing"),
            *("identity-truncated", "lock-fifo", "directory-removed"),
        ),
        untested=_SMALL | _NO_SWEEP | _NO_LIFE | {"ids-are-used-once"},
    ),
    "arguments": Bounds(
        groups=frozenset({"lease", "reserve", "commit", "project", "arguments"}),
        leases=("none",),
        untested=_SMALL
        | _NO_SWEEP
        | _NO_DISPATCH
        | _NO_WAY_OUT
        | {"terminal-stays", "idle-reads-write-nothing"},
    ),
    "authority": Bounds(
        groups=(_LIFECYCLE - {"project", "orphan"}) | {"disturbed"},
        lease_left=2,
        merge_leases=False,
        back=True,
        disturbed=tuple(AUTHORITIES),
        untested=_SMALL | _NO_PROJECT | _NO_DISPATCH,
    ),
    "proofs": Bounds(
        groups=_LIFECYCLE | {"disturbed", "force"},
        commands=1,
        back=True,
        merge_leases=False,
        disturbed=tuple(PROOFS),
        untested=_SMALL - _NO_COMMAND,
    ),
    "takeover": Bounds(
        hosts=2,
        maxima=(1, 2),
        commands=1,
        leases=("none",),
        stages=("completed",),
        groups=frozenset({"lease", "open", "close", "clock", "reserve", "project", "commit", "attempts"})
        | {"force", "maximum", "read-command", "release", "snapshot"},
        untested=_NO_DAY | _NO_DISPATCH | _ONE_ROW,
    ),
    "bindings": Bounds(
        ids=2,
        runs=4,
        runs_alike=False,
        initial=(2,),
        stages=("completed",),
        groups=frozenset({"reserve", "commit", "snapshot", "clock", "project"}),
        untested=_NO_DAY | _ONE_EPOCH | _NO_COMMAND | _NO_DISPATCH | _NO_WAY_OUT,
    ),
    "due": Bounds(
        ids=3, initial=(3,), groups=frozenset({"reserve", "snapshot", "clock"}), untested=_SMALL | _NO_LIFE
    ),
    "lowering": Bounds(
        ids=2,
        initial=(2,),
        maxima=(1, 2),
        commands=1,
        groups=frozenset({"reserve", "snapshot", "clock", "maximum"}),
        untested=_SMALL - _NO_COMMAND | _NO_LIFE,
    ),
    "sweeps": Bounds(
        ids=2,
        initial=(2,),
        stages=("completed",),
        groups=frozenset({"lease", "open", "reserve", "commit", "snapshot", "clock", "project", "disturbed"}),
        disturbed=tuple(SWEEPS),
        untested=_NO_DAY | _ONE_EPOCH | _NO_COMMAND | _NO_DISPATCH | _NO_WAY_OUT,
    ),
    "releases": Bounds(
        groups=_LIFECYCLE | {"disturbed"}, merge_leases=False, disturbed=tuple(RELEASES), untested=_SMALL
    ),
    "launches": Bounds(
        groups=_LIFECYCLE | {"disturbed"},
        lease_left=2,
        merge_leases=False,
        back=True,
        disturbed=tuple(LAUNCHES),
        untested=_SMALL,
    ),
    "files": Bounds(
        groups=frozenset({"lease", "open", "close", "reserve", "snapshot", "disturbed", "damage"}),
        damages=("lock-symlink", "state-symlink"),
        disturbed=tuple(FILES),
        untested=_SMALL | _NO_SWEEP | _NO_LIFE,
    ),
}

BOUNDS: Final = with_guards(_DECLARED)

_TOURED: Final[dict[str, str]] = {
    "stages": "every way in which a run can stop",
    "attempts": "values bound when committing and afterwards, and wrong admissions",
    "aging": "rows that nobody touched for more than a day",
    "elsewhere": "ledgers that say something of an id before it is granted, or of another run",
    "releases": "release proofs that would free a slot but for one thing",
    "files": "files that change in the middle of a call",
    "arguments": "arguments that are refused before anything is looked at",
    "due": "three rows due at once, and all that is swept by one call",
    "lowering": "the maximum lowered to what is still held once due rows are swept",
    "damage": "files that are gone, unreadable or not what they were; leftover temporary files",
    "time": "TTLs and leases of 1 and 2 ms, before, at and after their ends; a clock that goes back",
    "capacity": "two reservations for one slot",
    "lifecycle": "what becomes of two reservations of two runs, however their runs stop",
    "takeover": "a host of a newer epoch takes over what another reserved, bound, commanded and forced",
    "bindings": "two reservations whose runs are the same, or differ in project, control domain or run id",
    "sweeps": "two rows due at once, where the question about either fails, or a fence between",
    "launches": "what can happen around a publication and a launch",
    "authority": "callbacks for lease and caller that fail, lie, take time, or close the store",
    "proofs": "callbacks for admission and arbitration that fail, lie, take time, or see it change",
    "genesis": "the first opening: initial maxima, two epochs, with and without arbitration",
    "fencing": "two hosts of two epochs, every kind of lease, closed hosts",
    "identity": "four callers, and all that alice can become",
    "commands": "two commands, two maxima, two reasons, two operators",
}
"""The smallest first: planted faults are hunted in this order."""


def _facet(name: str, about: str, **more: Any) -> Facet:
    place = "model.explorer.coordinator.spaces"
    return Facet(
        name=name,
        about=about,
        space=f"{place}:{name}",
        properties=f"{place}:properties_of_{name}",
        bounds=BOUNDS[name].told(),
        **more,
    )


_QUICK: Final = frozenset(
    {"stages", "attempts", "aging", "elsewhere", "releases", "files", "arguments", "damage", "capacity"}
    | {"due", "lowering"}
)
"""Those small enough for a quick check to tour whole."""

_JOBS: Final[dict[str, int]] = {
    "lifecycle": 2, "launches": 2, "authority": 2, "proofs": 2, "genesis": 2, "fencing": 2, "identity": 3,
    "commands": 6,
}  # fmt: skip
"""In how many jobs the larger ones are toured: some 15,000 transitions each."""


_KILLED: Final[dict[str, int]] = {"attempts": 6, "capacity": 6}
"""Those that a deep check kills along as well, in how many jobs."""


def _profiles(name: str) -> dict[str, Any]:
    quick = name in _QUICK
    jobs = _JOBS.get(name, 1)
    return {
        "explored": ("quick", "ci", "deep") if quick else ("ci", "deep"),
        "toured": {"ci": jobs, "deep": jobs} | ({"quick": 1} if quick else {}),
        "killed": {"deep": _KILLED[name]} if name in _KILLED else {},
    }


FACETS: Final[tuple[Facet, ...]] = (
    _facet(
        "core",
        "three reservations, two runs, capacity 1 to 2, two epochs, one command, lease faults, crashes",
        explored=("quick", "ci", "deep"),
    ),
    _facet("core5", "the same with five reservations", explored=("deep",)),
    _facet(
        "killed",
        "one of everything, small enough for a kill at every point of every transition",
        explored=("quick", "ci", "deep"),
        toured={"ci": 1, "deep": 1},
        killed={"quick": 1, "ci": 4, "deep": 4},
        depth={"quick": 1},
    ),
    *(_facet(name, about, **_profiles(name)) for name, about in _TOURED.items()),
)
