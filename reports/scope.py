"""What a passed check does not say.

Shown with every summary, so that green is not read as more than it is.
"""

from collections.abc import Mapping
from typing import Any

from reports.targets import left_out, raced

NOT_CHECKED: tuple[str, ...] = (
    "Power loss. Processes are killed, and the kernel's page cache outlives them: a missing fsync is not "
    "seen by a kill.",
    "Every schedule. Real processes race, but their interleavings are the kernel's choice, not enumerated.",
    "Linearizability of concurrent histories as a whole; races are judged by their end state.",
    "Every reachable state. Histories are drawn at random and scripted, of bounded length; the model's small "
    "worlds are not explored exhaustively.",
    "Network file systems (the store refuses them), and file systems other than the one it was run on.",
    "Deliberate forgery: whoever can write the files and compute hashes can forge a whole history.",
)
"""One limit each, as a sentence or two, for a run that explored nothing."""
OF_RACES = (
    "Locks of a target with a time-out. In its races one process stands still for 0.15 s at most: a lock "
    "that others break after longer, though its holder lives, is not seen."
)
"""The limit of a run in which processes of a target have raced."""
_UNEXPLORED = "Every reachable state."
_EXPLORED = (
    "Every reachable state. The small worlds that were explored are bounded; beyond them histories are drawn "
    "at random and scripted, of bounded length."
)


def not_checked(results: Mapping[str, Any]) -> tuple[str, ...]:
    """The limits of a run: first what was left out of a target, and what its races don't show; where small
    worlds were explored in full, that limit says so."""
    ours = (*left_out(results), *((OF_RACES,) if raced(results) else ()))
    spaces = [one for one in results.get("explorations") or () if isinstance(one, Mapping)]
    if not any(one.get("verdict") == "holds" for one in spaces):
        return (*ours, *NOT_CHECKED)
    return (*ours, *(_EXPLORED if each.startswith(_UNEXPLORED) else each for each in NOT_CHECKED))
