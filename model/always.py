"""Predicates over one world: what must hold in every state that can be reached.

The clauses S1-S10 are `model.validity`'s; here are those that take the surroundings into account. What
follows from a broken assumption is excused (see `World.broken`), unless the world has dropped that
assumption: then its consequences must show.
"""

from model.values import Fact, Row, Store, World


def standing_store_is_excused(world: World) -> bool:
    """A state that somebody rolled back is no reason to blame the store, whether it was believed or not."""
    if "files-stay" in world.dropped:
        return False
    if "files-stay" in world.broken:
        return True
    return bool(world.earlier) and world.store is not world.earlier[-1] and world.store != world.earlier[-1]


def live_runs(world: World) -> list[Fact]:
    """Admitted runs not proven quiescent, leaving out those about which the store was told an untruth."""
    return [
        fact
        for fact in (*world.facts, *world.forgotten)
        if fact.kind == "admitted"
        and not fact.quiescent
        and f"proofs-true:{fact.reservation_id}" not in world.broken
    ]


def row_of(store: Store | None, reservation_id: str) -> Row | None:
    if store is not None:
        for row in store.rows:
            if row.reservation_id == reservation_id:
                return row
    return None


def each_live_run_has_its_slot(world: World) -> bool:
    live = live_runs(world)
    if not live or standing_store_is_excused(world):
        return True
    for fact in live:
        row = row_of(world.store, fact.reservation_id)
        if row is None or row.binding != fact.binding:
            return False
        if not row.holds_slot and row.concurrency_guarantee != "operator-overridden":
            return False
    return True


def live_runs_fit(world: World) -> bool:
    live = live_runs(world)
    if not live or standing_store_is_excused(world):
        return True
    if world.store is None:
        return False
    risked = {
        row.reservation_id for row in world.store.rows if row.concurrency_guarantee == "operator-overridden"
    }
    return sum(fact.reservation_id not in risked for fact in live) <= world.store.max_active_runs
