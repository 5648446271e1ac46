"""The world before anything has happened: an empty directory, no lease, and four people.

`initial_world` is where every trace of the harness starts. Nothing here says what may follow.
"""

from model.values import Identity, World

START_CLOCK: int = 1_790_000_000_000
"""Wall clock at the start, in milliseconds since the epoch."""

PEOPLE: tuple[tuple[str, Identity], ...] = (
    ("alice", Identity("p-alice", "o-alice")),
    ("bob", Identity("p-bob", "o-bob")),
    ("root", Identity("p-root", "o-root", operator=True)),
)
"""Whom the authority knows by which context; anybody else, such as `eve`, is unknown to it."""


def initial_world(*, clock: int = START_CLOCK, dropped: frozenset[str] = frozenset()) -> World:
    """An empty directory at `clock` (ms), with the assumptions in `dropped` switched off."""
    return World(clock=clock, people=PEOPLE, dropped=dropped)
