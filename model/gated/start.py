"""The world before anything has happened: an empty directory that nobody has opened.

`initial_world` is where every trace of the harness starts. Nothing here says what may follow.
"""

from model.gated.values import World


def initial_world() -> World:
    """No ledger, no mirror, no client."""
    return World()
