"""`Space`: how a finite world is declared, so that it can be explored fast.

A state is `(shared, slots)`: one frozen, hashable value for all that exists once, and a tuple of N frozen,
hashable values, one for each interchangeable id (an id that is not used yet is such a value too). A rule is
one scheme of actions. What a rule can see and change is its scope; the engines call `fire` once for each
distinct thing seen, not once for each state, so a scope that is declared too narrow gives wrong answers:
the declarer tests that full and reduced exploration, and the reference engine, agree.

The simplest space has no slots, and rules of scope `whole`.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Generic, Literal, TypeVar

from attrs import frozen

G = TypeVar("G", bound=Hashable)
S = TypeVar("S", bound=Hashable)

Scope = Literal["local", "call", "whole", "weather"]
"""What a rule sees, and what it may change:

- `local`: shared and one slot; nothing of the other slots.
- `call`: shared, one slot, and the residues of the others; the others too, where residue is the slot itself.
- `whole`: shared and the residues of all slots; those too, where residue is the slot itself.
- `weather`: shared alone; each slot drifts on its own (see `Space.drift`)."""


@frozen
class Rule:
    """One scheme of actions. `lens` names the part of the shared value that it sees and changes (see
    `Space.part`); the empty lens is all of it."""

    name: str
    scope: Scope
    lens: str = ""


@frozen
class Label:
    """A rule applied: to the slot of this index, or (`whole`, `weather`) to none."""

    rule: str
    slot: int | None = None

    def __str__(self) -> str:
        return self.rule if self.slot is None else f"{self.rule} r{self.slot + 1}"


@frozen
class State(Generic[G, S]):
    """One state of a space."""

    shared: G
    slots: tuple[S, ...] = ()


@frozen
class Fired(Generic[G, S]):
    """What came of a rule.

    `others` is parallel to the context that `fire` was given: the new slot, or `None` where it stays; empty
    means that all stay. `violated` are ids of properties that this transition breaks, `witnessed` those
    that it puts to the test. A transition may leave everything as it is (a refusal): it is a transition.
    """

    outcome: str
    shared: G
    slot: S | None = None
    others: tuple[S | None, ...] = ()
    violated: tuple[str, ...] = ()
    witnessed: tuple[str, ...] = ()


@frozen
class Renaming(Generic[G, S]):
    """A symmetry besides that of the slots, such as two runs or two principals changing their names.

    A one-to-one mapping of states on states: whatever can happen before, can happen after under the rule
    that `rule` gives for a rule's name. A space's renamings, with the identity, must be a group.
    """

    name: str
    shared: Callable[[G], G]
    slot: Callable[[S], S]
    rule: Callable[[str], str]


class Space(Generic[G, S]):
    """A finite world, declared. Subclasses give `initial`, `rules` and `fire`, the rest as needed."""

    rules: Sequence[Rule] = ()
    """In the order in which they are tried; names are unique."""
    renamings: Sequence[Renaming[G, S]] = ()
    slot_word: str = "r"
    """What people call a slot, before its number: `r2`."""

    def initial(self) -> Sequence[State[G, S]]:
        """Where exploration starts; all with the same number of slots."""
        raise NotImplementedError

    def fire(
        self, rule: Rule, shared: G, slot: S | None, context: tuple[Hashable, ...]
    ) -> Fired[G, S] | None:
        """What comes of `rule`, or `None` where it cannot happen.

        `slot` is the slot acted on (`local`, `call`), else `None`. `context` holds the residues of the other
        slots (`call`), of all slots (`whole`), or nothing; its order means nothing.
        """
        raise NotImplementedError

    def drift(self, rule: Rule, shared: G, slot: S) -> S:  # noqa: ARG002  # for subclasses
        """What a slot becomes where `rule`, of scope `weather`, happens under `shared` (as it was before)."""
        return slot

    def drifts(self, rule: Rule) -> bool:  # noqa: ARG002
        """Whether slots drift at all under `rule`, of scope `weather`. Saying no saves asking."""
        return True

    def residue(self, slot: S) -> Hashable:
        """What transitions of others can see of this slot. Where they can change it: the slot itself."""
        return slot

    def part(self, lens: str, shared: G) -> Hashable:  # noqa: ARG002
        """What rules with this lens see of `shared`: of two with equal parts they make the same."""
        return shared

    def merge(self, lens: str, shared: G, after: G) -> G:  # noqa: ARG002
        """`shared` with the part under `lens` taken from `after`; the rest of `after` is not looked at."""
        return after

    def place(self, slot: S) -> tuple[Hashable, int] | None:  # noqa: ARG002
        """The queue in which this slot stands, and its rank there (from 0), or `None`.

        Where the order of some slots matters, and only their order. Engines keep ranks dense: who joins a
        queue stands last, who leaves makes room, whatever rank `fire` gave.
        """
        return None

    def kinds(self, shared: G) -> tuple[Hashable, ...]:  # noqa: ARG002
        """What lenses leave out of `shared` though guards look at it. The first state of each kind is taken
        whole and held against the tables, so that a guard that is broken for one of them is seen."""
        return ()

    def unhidden(self) -> "Space[G, S] | None":
        """The same space with nothing hidden from any rule, or `None` if it has no such form.

        It is explored where tables over what rules see turn out to be wrong (`packed.engine`).
        """
        return None

    def placed(self, slot: S, rank: int) -> S:  # noqa: ARG002
        """`slot` with another rank in its queue."""
        return slot


def settled(space: Space[G, S], before: Sequence[S], after: Sequence[S]) -> tuple[S, ...]:
    """`after`, which came of `before`, with dense ranks: who joined a queue stands behind the others."""
    places = [space.place(slot) for slot in after]
    if not any(places):
        return tuple(after)
    keys: list[tuple[Hashable, tuple[bool, int]] | None] = []
    for old, now in zip(before, places, strict=True):
        if now is None:
            keys.append(None)
            continue
        was = space.place(old)
        keys.append((now[0], (was is None or was[0] != now[0], now[1])))
    settled_slots = []
    for slot, place, key in zip(after, places, keys, strict=True):
        if place is None or key is None:
            settled_slots.append(slot)
            continue
        rank = sum(other is not None and other[0] == key[0] and other[1] < key[1] for other in keys)
        settled_slots.append(slot if rank == place[1] else space.placed(slot, rank))
    return tuple(settled_slots)
