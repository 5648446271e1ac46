"""Which facets show the situations in which the invariants of `model.guards` matter, and which don't.

A facet that should show one and doesn't is inconclusive; so is one of which nobody has said it.
"""

from collections.abc import Mapping
from typing import Final

from attrs import evolve

from model.explorer.coordinator.bounds import Bounds

_CORES: Final = frozenset({"core", "core5"})

SHOWN_IN: Final[Mapping[str, frozenset[str]]] = {
    "host-is-open": frozenset({"authority", "fencing", "launches", "proofs", "releases", "sweeps"}),
    "damage-is-refused": frozenset({"damage", "files"}),
    "genesis-happens-once": frozenset({"damage", "genesis"}) | _CORES,
    "older-states-are-refused": frozenset(),  # a kept state has no past: random walks and `rollback` show it
    "clock-is-not-behind": frozenset({"authority", "launches", "proofs", "time"}),
    "lease-is-live": frozenset(
        {"arguments", "authority", "fencing", "genesis", "launches", "proofs", "sweeps", "takeover", "time"}
    )
    | _CORES,
    "older-hosts-are-refused": frozenset({"fencing", "genesis", "takeover"}) | _CORES,
    "caller-is-known": frozenset({"identity"}),
    "rows-belong-to-their-owners": frozenset({"identity"}),
    "operators-alone": frozenset({"arguments", "commands"}),
    "risk-is-acknowledged": frozenset({"commands", "elsewhere", "killed", "proofs", "takeover"}) | _CORES,
    "commands-answer-their-caller": frozenset({"commands", "lowering", "takeover"}) | _CORES,
    "capacity-is-given": frozenset({"capacity", "commands", "lowering", "proofs"}) | _CORES,
    "temps-are-removed": frozenset({"damage"}),
    "durable-epoch-is-told": frozenset({"damage", "genesis"}),
}
"""Those that need something of their own: the facets that have it."""

NOT_IN: Final[Mapping[str, frozenset[str]]] = {
    "arguments-have-their-form": frozenset(
        {"bindings", "capacity", "commands", "damage", "due", "files", "genesis", "lowering", "sweeps"}
    )
    | {"takeover"},
    "rows-follow-the-lifecycle": frozenset({"damage", "files"}),
    "rows-are-as-asked": frozenset({"damage", "files"}),
    "late-rows-are-left": frozenset({"arguments", "commands", "damage", "due", "files", "lowering"}),
    "admissions-are-proven": frozenset({"authority", "damage", "due", "files", "lowering"}),
    "expiries-are-proven": frozenset({"arguments", "commands", "damage", "files"}),
    "releases-are-proven": frozenset(
        {"arguments", "authority", "bindings", "commands", "damage", "due", "files", "genesis", "lowering"}
    )
    | {"sweeps"},
    "bound-values-stay": frozenset({"authority", "damage", "due", "files", "lowering"}),
    "launches-are-answered": frozenset(
        {"bindings", "commands", "damage", "due", "files", "genesis", "lowering", "sweeps", "takeover"}
    ),
}
"""Those that most facets show: the ones that don't."""


def untested_guards(facet: str) -> frozenset[str]:
    """The invariants whose situation this facet doesn't show."""
    return frozenset(
        {name for name, shown in SHOWN_IN.items() if facet not in shown}
        | {name for name, missing in NOT_IN.items() if facet in missing}
    )


def with_guards(bounds: Mapping[str, Bounds]) -> dict[str, Bounds]:
    """The same bounds of facets, these left out of what each must show."""
    return {
        name: evolve(each, untested=each.untested | untested_guards(name)) for name, each in bounds.items()
    }
