"""The store killed at every marked point, struck by failing disk steps, and raced by real processes.

Importing this package imports nothing else. Nothing here ever imports Hypothesis or networkx: the parent
of the children that are killed has to be lean, since each fork copies its page tables.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crash_tests.replays import Replay

__all__ = ["replay"]


def replay(trace: Mapping[str, Any]) -> "Replay":
    """Performs a failure's trace of the kind `kill` again, on this version of the store.

    Raises `crash_tests.stories.StoryError` (a `ValueError`) for a trace that can't be read.
    """
    from crash_tests.replays import replay_trace

    return replay_trace(trace)
