"""What a passed check does not say.

Shown with every summary, so that green is not read as more than it is.
"""

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
"""One limit each, as a sentence or two."""
