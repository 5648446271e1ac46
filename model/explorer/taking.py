"""One rule applied to one whole state: what the tables of the fast engine stand for, told slowly.

The reference engine explores with it, and traces are replayed with it.
"""

from collections.abc import Iterator

from attrs import frozen

from model.explorer.space import Fired, G, Label, Rule, S, Space, State, settled


class SpaceError(ValueError):
    """A space is not what it declares itself to be. Mend the space: nothing explored of it can be trusted."""


@frozen
class Taken:
    """A transition without its target: what `fire` said of it."""

    label: Label
    outcome: str
    violated: tuple[str, ...]
    witnessed: tuple[str, ...]


def take(
    space: Space[G, S], rule: Rule, state: State[G, S], slot: int | None
) -> tuple[Taken, State[G, S]] | None:
    """What comes of `rule` in `state`, on the slot of this index if it acts on one; `None` if it cannot."""
    places = _seen(rule, slot, len(state.slots))
    context = tuple(space.residue(state.slots[place]) for place in places)
    fired = space.fire(rule, state.shared, None if slot is None else state.slots[slot], context)
    if fired is None:
        return None
    slots = list(state.slots)
    if rule.scope == "weather" and space.drifts(rule):
        slots = [space.drift(rule, state.shared, each) for each in slots]
    if slot is not None and fired.slot is not None:
        slots[slot] = fired.slot
    check_fired(space, rule, slot, context, fired)
    for place, changed in zip(places, fired.others, strict=bool(fired.others)):
        if changed is not None:
            slots[place] = changed
    shared = space.merge(rule.lens, state.shared, fired.shared) if rule.lens else fired.shared
    after = State(shared, settled(space, state.slots, slots))
    return Taken(Label(rule.name, slot), fired.outcome, fired.violated, fired.witnessed), after


def _seen(rule: Rule, slot: int | None, slots: int) -> tuple[int, ...]:
    if rule.scope == "whole":
        return tuple(range(slots))
    if rule.scope == "call":
        return tuple(place for place in range(slots) if place != slot)
    return ()


def check_fired(
    space: Space[G, S], rule: Rule, slot: object | None, context: tuple[object, ...], fired: Fired[G, S]
) -> None:
    """Raises `SpaceError` where `fired` changes what its rule's scope cannot see whole."""
    if fired.slot is not None and slot is None:
        raise SpaceError(f"{rule.name} acts on no slot, but fire changed one")
    if not fired.others:
        return
    if len(fired.others) != len(context):
        raise SpaceError(f"{rule.name}: {len(fired.others)} other slots came of {len(context)}")
    for residue, changed in zip(context, fired.others, strict=True):
        if changed is None or changed == residue:
            continue
        if type(residue) is not type(changed) or space.residue(residue) != residue:
            raise SpaceError(f"{rule.name} changed a slot of which it sees only the residue {residue!r}")


def transitions(
    space: Space[G, S], state: State[G, S], *, distinct: bool = False
) -> Iterator[tuple[Taken, State[G, S], int]]:
    """Every transition of `state`, in the order of rules, then slots, and for how many slots it stands.

    With `distinct`, of equal slots only the first is acted on, for all of them.
    """
    for rule in space.rules:
        if rule.scope in ("whole", "weather"):
            taken = take(space, rule, state, None)
            if taken is not None:
                yield *taken, 1
            continue
        for place, slot in enumerate(state.slots):
            if distinct and slot in state.slots[:place]:
                continue
            taken = take(space, rule, state, place)
            if taken is not None:
                yield *taken, state.slots.count(slot) if distinct else 1
