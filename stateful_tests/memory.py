"""What the surroundings of a store know, kept outside of them: for another process, or to go back to.

Nothing of the store itself is in it, and no event that is still to come.
"""

import pickle

from stateful_tests.surroundings import Surroundings

_REMEMBERED = ("clock", "lease", "people", "ledgers", "project_seq", "launched")


def remember(around: Surroundings) -> bytes:
    """What surroundings know, to be `recall`ed by these or others."""
    return pickle.dumps([getattr(around, name) for name in _REMEMBERED])


def recall(around: Surroundings, memory: bytes) -> None:
    """Has `around` know what was remembered, and nothing else."""
    for name, value in zip(_REMEMBERED, pickle.loads(memory), strict=True):
        setattr(around, name, value)
    around.revision += 1
