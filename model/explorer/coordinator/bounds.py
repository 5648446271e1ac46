"""`Bounds`: how large a world is explored, and which kinds of things can happen in it.

One value for each facet (see `facets`): small enough to be exhausted, and all of them together touch every
guard. Nothing here is looked at by `model`.
"""

from typing import Any

from attrs import fields, frozen


@frozen(kw_only=True)
class Bounds:
    """What may happen within one facet.

    `groups` names groups of rules (see `alphabet`). Host k has epoch k; each opens with one of `initial` as
    its initial maximum. With `merge_leases` every lease that is good for nobody counts as one, with
    `merge_stages` all ways in which a run can have stopped; with `merge_closed` a closed host counts as one
    that was never there, which is also what is left of one that died.
    """

    ids: int = 1
    runs: int = 1
    runs_alike: bool = True
    """Whether a world stands for those in which runs have changed their names. They differ in project,
    control domain, or run id (see `naming`)."""
    hosts: int = 1
    initial: tuple[int, ...] = (1,)
    maxima: tuple[int, ...] = ()
    """What a command may set the maximum to."""
    commands: int = 0
    reasons: int = 1
    ttls: tuple[int, ...] = (1,)
    steps: tuple[int, ...] = (1,)
    """By how many ms the clock may move on."""
    back: bool = False
    """Whether the clock may go back, by 1 ms, where the store has seen the present."""
    leases: tuple[str, ...] = ()
    """What else than a long lease of a host's own there may be."""
    lease_left: int | None = None
    """How long a lease lasts in ms; `None` is for ever."""
    callers: tuple[str, ...] = ("alice",)
    operators: tuple[str, ...] = ("root",)
    identities: tuple[str, ...] = ()
    """Who alice may become."""
    stages: tuple[str, ...] = ("completed", "parked")
    groups: frozenset[str] = frozenset()
    disturbed: tuple[str, ...] = ()
    """Names of disturbances (see `disturbing`)."""
    damages: tuple[str, ...] = ()
    arbitration: tuple[bool, ...] = (True,)
    """Whether hosts open with a callback that arbitrates."""
    genesis: bool = False
    """Starts from an empty directory, not from a store that host 1 has opened."""
    merge_leases: bool = True
    merge_stages: bool = True
    merge_closed: bool = True
    temps: bool = False
    """Whether leftover temporary files are told apart from none."""
    aging: bool = False
    """Whether rows that were last changed a day ago are told apart."""
    dropped: frozenset[str] = frozenset()
    """Assumptions about the surroundings that do not hold."""

    untested: frozenset[str] = frozenset()
    """Invariants of which the facet doesn't show the situation in which they matter."""

    def __attrs_post_init__(self) -> None:
        assert not (self.back and self.merge_leases), "a lease that ran out may be good again: don't merge"

    def told(self) -> dict[str, Any]:
        """What isn't the default, as JSON."""
        told: dict[str, Any] = {}
        for field in fields(Bounds):
            value = getattr(self, field.name)
            if value != field.default:
                told[field.name] = sorted(value) if isinstance(value, frozenset) else value
        return told
