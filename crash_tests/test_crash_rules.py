"""What the explorer says that a death leaves behind is what the oracle of kills allows, and all of it."""

from functools import cache

from crash_tests.oracle import candidates
from model.actions import Call, Open
from model.explorer.coordinator.bounds import Bounds
from model.explorer.coordinator.crashing import Killed
from model.explorer.coordinator.space import CoordinatorSpace
from model.explorer.coordinator.values import State
from model.explorer.packed import explore
from model.explorer.space import Label

BOUNDS = Bounds(
    ids=2,
    runs=2,
    maxima=(2,),
    commands=1,
    stages=("completed",),
    leases=("none",),
    genesis=True,
    groups=frozenset({"lease", "open", "close", "reserve", "commit", "release", "snapshot", "dispatch"})
    | {"project", "clock", "force", "maximum", "die"},
)


@cache
def reachable() -> frozenset[State]:
    graph = explore(CoordinatorSpace(BOUNDS), edges=True).graph
    assert graph is not None
    return frozenset(graph.states)


def some() -> list[State]:
    """All states in which genesis is not over, and every seventh of the others."""
    states = sorted(reachable(), key=repr)
    return [state for number, state in enumerate(states) if number % 7 == 0 or not state.shared.identity]


def labels(space: CoordinatorSpace) -> list[Label]:
    return [
        Label(rule.name, slot)
        for rule in space.rules
        for slot in (range(BOUNDS.ids) if rule.scope in ("local", "call") else (None,))
    ]


def test_every_world_that_a_kill_may_leave_is_a_state_that_the_explorer_has_seen() -> None:
    """Two due reservations whose arbitration is recorded, and a genesis without its identity, among them."""
    space, seen, left = CoordinatorSpace(BOUNDS), reachable(), set()
    for state in some():
        world = space.forge(state)
        for label in labels(space):
            action = space.action(label, world)
            done = space.perform(world, action) if isinstance(action, Call | Open) else None
            if done is not None:
                for candidate in candidates([world, done[0]], 0):
                    assert candidate.violated == ()
                    kept = space.view(candidate.world)
                    assert kept in seen, (state, label, candidate.label)
                    left.add((candidate.label, kept == state))
    assert {label for label, _ in left} == {"before", "after", "state without identity", "identity completed"}


def test_every_death_of_the_explorer_leaves_what_a_kill_may_leave() -> None:
    space, kinds = CoordinatorSpace(BOUNDS), set()
    for state in some():
        world = space.forge(state)
        for label in labels(space):
            action = space.action(label, world)
            if not isinstance(action, Killed):
                continue
            done = space.perform(world, action)
            after = space.perform(world, action.during)
            if done is not None and after is not None:
                possible = candidates([world, after[0]], 0)
                assert space.view(done[0]) in {space.view(each.world) for each in possible}
                kinds.add(action.left)
    assert kinds == {"ledger ahead", "state without identity"}
