"""The facets of the coordinator's model: small worlds, each exhausted, that together touch every guard."""

from typing import Final

from model.explorer.coordinator.bounds import Bounds
from model.explorer.coordinator.space import CoordinatorSpace

_LIFECYCLE: Final = frozenset(
    {
        "lease", "open", "close", "reserve", "commit", "renew", "orphan", "release", "read", "snapshot",
        "dispatch", "project", "abandon", "clock",
    }
)  # fmt: skip

CORE: Final = Bounds(
    ids=3,
    runs=2,
    hosts=2,
    initial=(1,),
    maxima=(1, 2),
    commands=1,
    leases=("none", "expired", "malformed", "other-holder", "other-epoch"),
    groups=_LIFECYCLE | {"force", "maximum", "read-command", "die"},
    genesis=True,
)

FACETS: Final[dict[str, Bounds]] = {
    "core": CORE,
    "time": Bounds(ids=1, ttls=(1, 2), back=True, lease_left=2, merge_leases=False, groups=_LIFECYCLE),
    "fresh": Bounds(ids=1, genesis=True, temps=True, merge_leases=False, damages=("identity-missing","state-missing"), groups=frozenset({"lease","open","reserve","snapshot","damage","clock"})),
}


def core() -> CoordinatorSpace:
    return CoordinatorSpace(CORE)
