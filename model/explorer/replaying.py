"""A trace in real ids, from the canonical states that the engines keep.

At each state every transition is tried until one leads to what stands for the next; so a trace is replayed
by being found, and cannot say what the space would not do.
"""

from collections.abc import Callable, Sequence

from model.explorer.properties import Move, Trace
from model.explorer.space import G, S, Space, State
from model.explorer.symmetry import Symmetry
from model.explorer.taking import SpaceError, Taken, transitions


def replay(
    space: Space[G, S],
    symmetry: Symmetry[G, S],
    way: Sequence[State[G, S]],
    last: Callable[[Taken], bool] | None = None,
) -> Trace[G, S]:
    """A trace along `way`, canonical states from a start on; then, with `last`, one transition more: the
    first for which it is true."""
    at = next(start for start in space.initial() if symmetry.canonical(start)[0] == way[0])
    start, moves = at, []
    for goal in [*way[1:], None] if last else way[1:]:
        for taken, after, _ in transitions(space, at):
            if goal is None:
                fits = last is not None and last(taken)
            else:
                fits = symmetry.canonical(after)[0] == goal
            if fits:
                moves.append(Move(taken.label, taken.outcome, after))
                at = after
                break
        else:
            raise SpaceError(
                f"{at} has no transition to {goal or 'what was found'}: it was found in a state said to be the same "
                "but for names; a residue, lens or renaming hides something that matters"
            )
    return Trace(start, tuple(moves))
