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
}


def core() -> CoordinatorSpace:
    return CoordinatorSpace(CORE)
