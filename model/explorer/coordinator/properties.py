"""What must be true of the coordinator's space: the invariants of `model.invariants`, by their ids.

Those that judge a step are judged where the step is taken (`space`). Those that judge a world are told anew
here, over what the explorer keeps of it, since they look at all slots at once; a test holds them against the
originals on forged worlds. Three are added: whoever holds a slot can be freed by what can happen in the
facet, the store can be opened again, and no step of the model ends in an exception.
"""

from collections.abc import Callable, Hashable, Iterator

from model.explorer.coordinator.bounds import Bounds
from model.explorer.coordinator.facets import SLOT_COMES_BACK
from model.explorer.coordinator.forge import forge
from model.explorer.coordinator.naming import slot_id
from model.explorer.coordinator.space import OF_STATES, OUTCOME_COMES, WITNESSED_IN_STATES
from model.explorer.coordinator.values import ADMITTED, Shared, Slot, State
from model.explorer.properties import Always, EventuallyPossible, Property, Sometimes, Step
from model.invariants import INVARIANTS, SLOW
from model.surroundings import fact_of
from model.ways_out import operator_can_free, proof_can_free

Properties = tuple[Property[Shared, Slot], ...]
_SENTENCES = {each.id: each.sentence for each in INVARIANTS}

STORE_OPENS = "store-opens"


def properties(bounds: Bounds) -> Properties:
    """All of them. Each must be put to the test, but for those that are `untested` in the facet."""
    return (*_steps(bounds), *_states(bounds), *_situations(bounds), *_ways(bounds))


def situation(name: str) -> str:
    """The id of the `Sometimes` that says that the situation was met in which invariant `name` matters."""
    return f"{name} is tested"


def _steps(bounds: Bounds) -> Iterator[Step]:
    for each in INVARIANTS:
        if each.id not in OF_STATES:
            yield Step(each.id, each.sentence, needs_witness=each.id not in bounds.untested)
    yield Step(OUTCOME_COMES, "Whatever happens, an outcome comes back.")


def _states(bounds: Bounds) -> Iterator[Always[Shared, Slot]]:
    for name, project, holds, part in _OF_STATES:
        seen_in_steps = name not in WITNESSED_IN_STATES and name not in bounds.untested
        asked = Memo(project) if name in SLOW else project
        yield Always(name, _SENTENCES[name], holds, asked, part, seen_in_steps)


def _none(_part: object, projections: tuple[object, ...]) -> bool:
    return not any(projections)


def _at_most(most: int, projections: tuple[int, ...]) -> bool:
    return sum(projections) <= most


def _no_two_alike(_part: object, projections: tuple[int | None, ...]) -> bool:
    there = [each for each in projections if each is not None]
    return len(set(there)) == len(there)


def _breaks_s6(slot: Slot) -> bool:
    return slot.state in ADMITTED and (slot.matches is None or slot.left is not None)


def _breaks_s7(slot: Slot) -> bool:
    return slot.state == "reserved" and (slot.matches is not None or slot.left is None)


def _admitted_run(slot: Slot) -> int | None:
    return slot.run if slot.state in ADMITTED else None


def _holds(slot: Slot) -> int:
    return int(slot.holds)


def is_bare(slot: Slot) -> bool:
    """An admitted run, not proven quiescent, without a slot of its own, and without an operator's risk."""
    if slot.lied or not (slot.is_live or slot.lost):
        return False
    return slot.elsewhere is not None or not (slot.holds or slot.state == "forced")


def _live_runs(slot: Slot) -> int:
    """Those for which no operator took the risk."""
    return 0 if slot.lied or slot.state == "forced" else int(slot.is_live) + int(slot.lost)


class Memo:
    """A question about slots that takes steps of the model: once for each slot. As long-lived as the
    properties it is made for: of another model the answers are others."""

    def __init__(self, ask: Callable[[Slot], Hashable]) -> None:
        self._ask = ask
        self._known: dict[Slot, Hashable] = {}

    def __call__(self, slot: Slot) -> Hashable:
        found = self._known.get(slot)
        if found is None:
            found = self._known[slot] = self._ask(slot)
        return found


_ALONE = Shared(True, True, 1, 9)


def is_stuck_for_an_operator(slot: Slot) -> bool:
    """Its row holds a slot that forceRelease does not take, though all around it is as good as can be."""
    store = forge(State(_ALONE, (slot,)), Bounds()).store
    assert store is not None
    return slot.holds and not operator_can_free(store, store.rows[0])


def is_stuck_for_proof(slot: Slot) -> bool:
    """The same of arbitration, or of a proof that the run is over."""
    world = forge(State(_ALONE, (slot,)), Bounds())
    assert world.store is not None
    return slot.holds and not proof_can_free(world.store, world.store.rows[0], fact_of(world, slot_id(0)))


def _nothing(_shared: Shared) -> None:
    return None


def _maximum(shared: Shared) -> int:
    return shared.maximum


_OF_STATES: tuple[
    tuple[str, Callable[[Slot], Hashable], Callable[..., bool], Callable[[Shared], Hashable]], ...
] = (
    ("S6", _breaks_s6, _none, _nothing),
    ("S7", _breaks_s7, _none, _nothing),
    ("S8", _admitted_run, _no_two_alike, _nothing),
    ("S10", _holds, _at_most, _maximum),
    ("true-capacity", is_bare, _none, _nothing),
    ("live-runs-fit", _live_runs, _at_most, _maximum),
    ("nothing-gets-stuck", is_stuck_for_an_operator, _none, _nothing),
    ("proof-frees", is_stuck_for_proof, _none, _nothing),
)
assert {each[0] for each in _OF_STATES} == OF_STATES


def _situations(bounds: Bounds) -> Iterator[Sometimes[Shared, Slot]]:
    if "S8" not in bounds.untested:
        sentence = "A reserved row has the binding of one that is admitted."
        yield Sometimes(situation("S8"), sentence, _is_contested, _claim, _nothing)
    if "true-capacity" not in bounds.untested:
        sentence = "All slots are held, one of them by a live run."
        yield Sometimes(situation("true-capacity"), sentence, _is_full, _holding, _maximum)


def _claim(slot: Slot) -> tuple[str, int | None]:
    return ("admitted" if slot.state in ADMITTED else slot.state if slot.holds else "", slot.run)


def _is_contested(_part: object, claims: tuple[tuple[str, int | None], ...]) -> bool:
    return any(("admitted", run) in claims for state, run in claims if state == "reserved")


def _holding(slot: Slot) -> tuple[bool, bool]:
    return slot.holds, slot.holds and slot.is_live


def _is_full(maximum: int, slots: tuple[tuple[bool, bool], ...]) -> bool:
    return sum(holds for holds, _ in slots) == maximum and any(live for _, live in slots)


def _ways(bounds: Bounds) -> Iterator[EventuallyPossible[Shared, Slot]]:
    if SLOT_COMES_BACK not in bounds.untested:
        yield EventuallyPossible(
            SLOT_COMES_BACK,
            "Whatever slot is held, what can happen here can free it.",
            lambda _shared, slot: slot.holds,
            lambda _shared, slot: not slot.holds,
        )
    if "open" in bounds.groups and not bounds.dropped:
        yield EventuallyPossible(
            STORE_OPENS,
            "Whatever has happened, the store can be opened again.",
            lambda _shared, _slot: True,
            lambda shared, _slot: any(host is not None and host.is_open for host in shared.hosts),
        )
