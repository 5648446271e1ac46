"""Some states taken whole, as the reference engine does it, against what the tables say of them.

A residue or a lens that hides something that matters shows here, if it shows in one of the states looked at;
that they suffice everywhere is what tests at small bounds are for.
"""

from collections import Counter

from model.explorer.differences import told_state
from model.explorer.space import G, S, Space, State
from model.explorer.symmetry import Symmetry
from model.explorer.taking import SpaceError, transitions

Told = tuple[str, int | None, str, State[G, S]]


def verify(
    space: Space[G, S], symmetry: Symmetry[G, S], state: State[G, S], tabled: "Counter[Told[G, S]]"
) -> None:
    """Raises `SpaceError` unless the transitions of canonical `state` are what the tables told of it."""
    whole: Counter[Told[G, S]] = Counter()
    for taken, after, _ in transitions(space, state, distinct=symmetry.reduce):
        whole[taken.label.rule, taken.label.slot, taken.outcome, symmetry.canonical(after)[0]] += 1
    for told in (whole - tabled) or (tabled - whole):
        rule, slot, outcome, after = told
        source, other = (
            ("the state whole", "the tables") if told in whole - tabled else ("the tables", "the state whole")
        )
        raise SpaceError(
            f"by {source} and not by {other}, {rule!r} on slot {slot} leads to {outcome!r}: a residue, a "
            f"lens, a scope or the order of a context hides something that matters. From\n"
            f"{told_state(state)}\nit comes to\n{told_state(after)}"
        )
