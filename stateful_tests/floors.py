"""What a run must have seen at the least to be worth a verdict, as counts by `coverage` key.

The table of operations and codes is the specification's: a pair stands in it if some state, argument or
disturbance leads to it. A pair that stands here and was never seen makes a run inconclusive. Codes that only
a raising callback can bring about, by passing through, are covered by `moment/…/raises` instead.
"""

from collections.abc import Mapping
from typing import Final, get_args

from model.actions import DAMAGES, Moment
from model.invariants import INVARIANTS

_ALWAYS: Final = ("accepted", "AUTHORITY_REVOKED", "COMMAND_FAILED", "DURABILITY_FAILED")
_CONFLICT: Final = "ADMISSION_BINDING_CONFLICT"
_COMMANDS: Final = ("POLICY_DENIED", "IDEMPOTENCY_CONFLICT", "CROSS_PRINCIPAL_COMMAND")

OUTCOMES: Final[Mapping[str, tuple[str, ...]]] = {
    "open": _ALWAYS,
    "reserve": (*_ALWAYS, _CONFLICT, "CAPACITY_EXCEEDED"),
    "commit": (*_ALWAYS, _CONFLICT),
    "renew": (*_ALWAYS, _CONFLICT),
    "markOrphanSuspect": (*_ALWAYS, _CONFLICT),
    "normalRelease": (*_ALWAYS, _CONFLICT, "RECONCILE_REQUIRED"),
    "forceRelease": (*_ALWAYS, _CONFLICT, *_COMMANDS),
    "setMaxActiveRuns": (*_ALWAYS, "CAPACITY_EXCEEDED", *_COMMANDS),
    "readReservation": _ALWAYS,
    "readCommand": (*_ALWAYS, "CROSS_PRINCIPAL_COMMAND"),
    "snapshot": _ALWAYS,
    "dispatch": (*_ALWAYS, _CONFLICT),
    "readEpoch": ("accepted", "DURABILITY_FAILED"),
    "close": ("accepted",),
    "advanceClock": ("accepted",),
    "setLease": ("accepted",),
    "setIdentity": ("accepted",),
    "admit": ("accepted",),
    "abandon": ("accepted",),
    "finish": ("accepted",),
    "park": ("accepted",),
    "quiesce": ("accepted",),
    "putBack": ("accepted",),
    "leaveTemp": ("accepted",),
    "damage": ("accepted",),
    "mend": ("accepted",),
}
"""Each operation and event, with every outcome that can be brought about. (`resume` and `forget` break an
assumption about the surroundings, so no conformance run has them.)"""


def conformance(least: int) -> dict[str, int]:
    """Every operation with every outcome, every moment with every effect, every damage: `least` times."""
    keys = [f"rule/{name}/{outcome}" for name, outcomes in OUTCOMES.items() for outcome in outcomes]
    for moment in get_args(Moment):
        effects = ("happens",) if moment == "rename" else ("raises", "answers", "happens", "reenters")
        keys += [f"moment/{moment}/{effect}" for effect in effects]
    keys += [f"damage/{kind}" for kind in DAMAGES]
    keys += [f"hosts/{count}" for count in (1, 2)]
    return dict.fromkeys(keys, least)


def invariants(least: int) -> dict[str, int]:
    """Every invariant checked, and its witness seen, `least` times."""
    keys = [f"{what}/{each.id}" for each in INVARIANTS for what in ("invariant", "witness")]
    return dict.fromkeys(keys, least)
