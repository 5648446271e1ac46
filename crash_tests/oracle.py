"""Which worlds a kill may leave behind, and the verdict when the disk shows none of them.

A process that is killed in the middle of an action leaves the durable world before that action or the one
after it, whole; what it had acknowledged before is there for good, and so is what it had launched. Genesis
has one more: the state is there and the identity is not yet. The project's own ledger survives by itself,
so a ledger that is ahead of the store is legal, and the other way round is not.

It judges by what can be read from the disk, not by how the store got there.
"""

from collections.abc import Iterator, Mapping, Sequence

from attrs import evolve, field, frozen

from model.forms import store_to_json
from model.invariants import check_world
from model.values import JSON, World
from stateful_tests.compare import Difference, differences, fact_to_json, same_store
from stateful_tests.lockstep import Divergence
from stateful_tests.observe import Observation

OLD_OR_NEW = "crash-matrix: the state before or the state after, whole"
ACKNOWLEDGED = "crash-matrix: acknowledged is for good"
LAUNCHED = "dispatch: launched only after publication"
WHOLE = "S1-S4: what a kill leaves is whole"
STUCK = "forward progress: the store works on after a kill"
TEMPS = "C6: a killed writer leaves one temporary file of each kind at most"


@frozen
class Violation:
    """What a trial found to be wrong: the rule's name, one line, and where expected and observed differ.

    `action` is the index of the action that failed among those performed after the kill; -1 is the kill
    itself.
    """

    clause: str
    title: str
    differences: tuple[Difference, ...] = ()
    action: int = -1

    def to_json(self) -> dict[str, JSON]:
        return {
            "clause": self.clause,
            "title": self.title,
            "differences": [difference.to_json() for difference in self.differences],
            "action": self.action,
        }


@frozen
class Candidate:
    """A world that the killed process may have left behind, without its hosts: they died with it.

    `violated` names the invariants that it breaks. None should: what may be left must hold true.
    """

    label: str
    world: World
    store: Mapping[str, JSON] | None = field(eq=False, repr=False)
    facts: Mapping[str, JSON] = field(eq=False, repr=False)
    violated: tuple[str, ...] = ()

    def shown_by(self, seen: Observation) -> bool:
        return (
            self.world.identity_file == seen.identity
            and self.world.launched == seen.launched
            and self.facts == seen.facts
            and same_store(self.store, seen.store)
        )


def candidates(worlds: Sequence[World], acknowledged: int) -> tuple[Candidate, ...]:
    """What may be found when `acknowledged` of the actions between `worlds` had answered.

    `worlds` are the model's, one more than there are actions in flight.
    """
    before = worlds[acknowledged]
    after = worlds[min(acknowledged + 1, len(worlds) - 1)]
    return tuple(_candidates(before, after))


def _candidates(before: World, after: World) -> Iterator[Candidate]:
    durable = [("before", before), *_between(before, after), ("after", after)]
    changes = before.store != after.store
    seen: list[World] = []
    for label, store in durable:
        # A ledger may be ahead of the store, never behind; a launch may come after publication, never before.
        new = store.store == after.store
        for ledger in (after,) if changes and new else (before, after):
            for launch in (before, after) if new else (before,):
                world = evolve(
                    before,
                    store=store.store,
                    identity_file=store.identity_file,
                    earlier=store.earlier,
                    facts=ledger.facts,
                    project_seq=ledger.project_seq,
                    launched=launch.launched,
                    hosts=(),
                )
                if world not in seen:
                    seen.append(world)
                    yield _candidate(label, world)


def _between(before: World, after: World) -> Iterator[tuple[str, World]]:
    """Genesis publishes the state first and its identity second; so does whoever completes it."""
    if before.identity_file or not after.identity_file:
        return
    if before.store is None:
        yield "state without identity", evolve(after, identity_file=False)
    else:
        yield "identity completed", evolve(before, identity_file=True)


def _candidate(label: str, world: World) -> Candidate:
    return Candidate(
        label,
        world,
        None if world.store is None else store_to_json(world.store),
        {fact.reservation_id: fact_to_json(fact) for fact in world.facts},
        check_world(world),
    )


def decide(
    seen: Observation,
    possible: Sequence[Candidate],
    worlds: Sequence[World],
    acknowledged: int,
    *,
    struck: str = "kill",
) -> Candidate | Violation:
    """The candidate that the disk shows, or why it is none of them. `struck` says what the store suffered."""
    if seen.problems:
        return Violation(WHOLE, f"what the {struck} left is not whole: {seen.problems[0]}")
    for candidate in possible:
        if candidate.shown_by(seen):
            if candidate.violated:
                title = (
                    f"the world that the {struck} left ({candidate.label}) violates {candidate.violated[0]}"
                )
                return Violation(candidate.violated[0], title)
            return evolve(candidate, world=evolve(candidate.world, temps=seen.temps))
    for lost, world in enumerate(worlds[:acknowledged]):
        if _candidate("", world).shown_by(evolve(seen, launched=world.launched)):
            missing = acknowledged - lost
            return Violation(
                ACKNOWLEDGED,
                f"{missing} acknowledged action(s) are gone after the {struck}",
                differences(possible[0].store, seen.store),
            )
    if seen.launched != worlds[acknowledged].launched:
        found = differences(possible[-1].store, seen.store)
        return Violation(LAUNCHED, "a run was launched whose publication is not there", found)
    nearest = min(possible, key=lambda candidate: len(_differences(candidate, seen)))
    return Violation(
        OLD_OR_NEW,
        f"the {struck} left neither the world before nor the world after (nearest: {nearest.label})",
        _differences(nearest, seen),
    )


def _differences(candidate: Candidate, seen: Observation) -> tuple[Difference, ...]:
    return (
        differences(candidate.store, seen.store)
        + differences(candidate.world.identity_file, seen.identity, "coordinator.identity.json is there")
        + differences(candidate.facts, seen.facts, "ledgers")
        + differences(list(candidate.world.launched), list(seen.launched), "launched")
    )


def after_all(divergence: Divergence, struck: str = "kill") -> Violation:
    """What went wrong when the store was used again, after it was `struck`: by a kill, or by a fault."""
    kind = "works on differently" if divergence.kind != "outcome" else "does not work on"
    return Violation(
        f"{STUCK} ({divergence.clause})",
        f"after the {struck} the store {kind}: {divergence.title}",
        divergence.differences,
        divergence.index,
    )
