"""Predicates over one world: what must be true of it, whatever happened.

What somebody has done to a file since the store was last opened with success is not held against the store:
the predicates that rely on a file ask for it to be unwounded. Nothing else is excused.
"""

from collections import Counter
from collections.abc import Iterator

from model.gated.lines import chain_breaks_at, fold
from model.gated.receipts import COMPENSATED, COMPENSATING
from model.gated.values import Effect, Line, Mirror, Name, World


def lines_of(world: World) -> tuple[Line, ...]:
    """The valid lines of the ledger, in order."""
    return world.ledger.lines if world.ledger is not None else ()


def line_named(world: World, name: Name) -> Line | None:
    return next((each for each in lines_of(world) if each.name == name), None)


def counted(world: World) -> Iterator[Effect]:
    """The effects that the store can know of."""
    return iter(world.effects[world.pardoned :])


def chain_is_whole(world: World) -> bool:
    """Each line of an untouched ledger is valid and follows the one before it."""
    if "ledger" in world.wounds or world.ledger is None:
        return True
    return chain_breaks_at(world.ledger.entries) is None


def mirror_is_never_ahead(world: World) -> bool:
    """What is committed stands in the ledger, at the same place."""
    mirror = world.mirror
    if world.wounds or not isinstance(mirror, Mirror):
        return True
    entries = world.ledger.entries if world.ledger is not None else ()
    return mirror.lines == entries[: mirror.sequence]


def mirror_is_a_fold(world: World) -> bool:
    """The mirror's rows are what the lines it has seen make of nothing."""
    mirror = world.mirror
    if "mirror" in world.wounds or not isinstance(mirror, Mirror):
        return True
    return mirror.state == fold(mirror.lines)


def keys_are_used_once(world: World) -> bool:
    if "ledger" in world.wounds:
        return True
    names = [line.name for line in lines_of(world)]
    return len(set(names)) == len(names)


def effects_happen_once(world: World) -> bool:
    """Those that are not idempotent."""
    counts = Counter((each.run_id, each.key) for each in counted(world) if not each.idempotent)
    return all(many == 1 for many in counts.values())


def receipts_follow_effects(world: World) -> bool:
    """Each receipt is of an effect that happened."""
    if world.wounds:
        return True
    happened = {(each.run_id, each.key) for each in world.effects}
    return all(
        line.name in happened
        for line in lines_of(world)
        if line.record.phase == "receipt" or line.record.event_type == COMPENSATED
    )


def started_before_effect(world: World) -> bool:
    """No step that isn't idempotent had its effect without a durable start."""
    if world.wounds:
        return True
    starts = {line.name for line in lines_of(world) if line.record.phase == "start"}
    return all(
        (each.run_id, f"{each.key}:started") in starts for each in counted(world) if not each.idempotent
    )


def compensation_was_started(world: World) -> bool:
    """No compensator ran without its durable start; and none that isn't idempotent."""
    if world.wounds:
        return True
    starts = {line.name for line in lines_of(world) if line.record.event_type == COMPENSATING}
    return all(
        each.idempotent and any(run == each.run_id and each.key.startswith(f"{key}:") for run, key in starts)
        for each in counted(world)
        if each.kind == "compensator"
    )


def acknowledged_is_durable(world: World) -> bool:
    if world.wounds:
        return True
    return world.acknowledged <= {line.hash for line in lines_of(world)}
