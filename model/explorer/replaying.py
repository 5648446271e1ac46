"""A trace in real ids, from the canonical states and labels that the engines keep.

Every transition is taken once more, from a real initial state on; so a trace cannot say what the space would
not do, and a symmetry that is none shows here at the latest.
"""

from collections.abc import Sequence

from model.explorer.differences import told_state
from model.explorer.properties import Move, Trace
from model.explorer.space import G, Label, S, Space, State
from model.explorer.symmetry import Symmetry
from model.explorer.taking import SpaceError, take


def replay(
    space: Space[G, S],
    symmetry: Symmetry[G, S],
    start: State[G, S],
    way: Sequence[tuple[Label, State[G, S]]],
    last: Label | None = None,
) -> Trace[G, S]:
    """The trace from canonical state `start` on along `way`, labels and targets told of canonical states;
    then, if given, by the label `last`."""
    rules = {rule.name: rule for rule in space.rules}
    real = next(each for each in space.initial() if symmetry.canonical(each)[0] == start)
    at, moves = real, []
    for label, goal in [*way, (last, None)]:
        if label is None:
            break
        label = symmetry.canonical(at)[1].real(label)
        taken = take(space, rules[label.rule], at, label.slot)
        if taken is None or (goal is not None and symmetry.canonical(taken[1])[0] != goal):
            raise SpaceError(
                f"{label} does not lead from here to {goal or 'what was found'}, though it does from a state "
                "that is said to be the same but for names: a residue, a lens or a renaming hides something "
                f"that matters. Here is\n{told_state(at)}"
            )
        at = taken[1]
        moves.append(Move(label, taken[0].outcome, at))
    return Trace(real, tuple(moves))
