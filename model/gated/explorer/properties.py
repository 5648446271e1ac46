"""What is asked of each facet of the ledger's world: its 31 invariants, and that nobody gets stuck.

`always` invariants are asked of each distinct look, `step` invariants of each transition as it is fired. A
facet names those that it must put to the test; a witness that it promised and never saw leaves the verdict
inconclusive.

Nothing gets stuck: from each world that is not refused for its integrity, a client that opens the store and
asks for one thing after another, with nothing failing, comes to where every request is answered for good.
"""

from collections.abc import Collection
from functools import partial
from typing import Any, Final

from attrs import evolve

from model.explorer.properties import Always, EventuallyPossible, Property, Step
from model.explorer.space import Fired
from model.gated import recovery
from model.gated.explorer.looks import Look
from model.gated.explorer.space import OPEN, LedgerSpace
from model.gated.invariants import INVARIANTS, Invariant

SETTLED: Final = "requests-can-be-settled"
_AGAIN: Final = (", retry", "LEDGER_APPEND_REQUIRED_FAILED, rollback", "SQLITE_MIRROR_FAILED, in_doubt")
"""Outcomes that call for another try."""


def properties(space: LedgerSpace, tested: Collection[str]) -> tuple[Property[Look, str], ...]:
    """All of them, for one facet. `tested` are the ids that it must put to the test."""
    asked: list[Property[Look, str]] = [_asked(space, each, each.id in tested) for each in INVARIANTS]
    return (
        *asked,
        EventuallyPossible(
            SETTLED,
            "From every world that is not refused for its integrity, a client can open the store and have "
            "each request answered for good.",
            given=lambda look, _client: not is_refused(space, look),
            goal=partial(_is_settled, space),
            by=space.plain,
        ),
    )


def _asked(space: LedgerSpace, one: Invariant, tested: bool) -> Property[Look, str]:
    if one.kind == "step":
        return Step(one.id, one.sentence, needs_witness=tested)

    def holds(look: Look, _clients: tuple[Any, ...]) -> bool:
        return bool(one.predicate(space.looks.forge(look)))

    # No client is part of what these say, so a look is asked about once.
    return Always(one.id, one.sentence, holds, project=_nobody, needs_witness=tested)


def _nobody(_slot: str) -> None:
    return None


def is_refused(space: LedgerSpace, look: Look) -> bool:
    """Opening answers LEDGER_INTEGRITY_FAILED: the files say nothing that can be believed."""
    world = space.looks.forge(look)
    return recovery.whole(world.ledger or recovery.EMPTY, world.mirror) is None


def _is_settled(space: LedgerSpace, look: Look, client: str) -> bool:
    """Asked again, each request is answered, and no file and no effect changes."""
    if client != OPEN:
        return False
    return all(
        fired is not None and _changes_nothing(look, fired) and not fired.outcome.endswith(_AGAIN)
        for fired in (space.asked(look, request.name) for request in space.scheme.requests)
    )


def _changes_nothing(look: Look, fired: Fired[Look, str]) -> bool:
    return evolve(fired.shared, acknowledged=look.acknowledged) == look
