"""What a host leaves behind that dies in the middle of a call, where no sequence of other rules leaves it.

A kill leaves the world before or the world after, without the answer and without the host. The first is what
`close` leaves, and the second what the call and then `close` leave: the state of a closed host is not told
apart from that of a dead one. What is left to say is this: a project's ledger that is ahead of the store,
since arbitration had recorded its word; and the state of a genesis whose identity was not written yet.
"""

from collections.abc import Callable
from typing import Literal

from attrs import evolve, frozen

from model.actions import Action, Call, Open
from model.outcomes import Accepted, Outcome
from model.values import World

Step = Callable[[World, Action], tuple[World, Outcome]]


@frozen
class Killed:
    """The host of `during` dies in the middle of it. No action of the model: only a kill gets there."""

    during: Open | Call
    left: Literal["ledger ahead", "state without identity"]


def killed(world: World, kill: Killed, step: Step) -> World | None:
    """The world that is left, or `None` where it is one that was there before or after."""
    after, outcome = step(world, kill.during)
    hosts = tuple(host for host in world.hosts if host.name != kill.during.host)
    if kill.left == "ledger ahead":
        if after.facts == world.facts:
            return None
        return evolve(world, hosts=hosts, facts=after.facts, project_seq=after.project_seq)
    if not isinstance(outcome, Accepted) or world.store is not None:
        return None
    return evolve(world, hosts=hosts, store=after.store, earlier=after.earlier, identity_file=False)
