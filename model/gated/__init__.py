"""What must be true of the second system, ledger-gated transactions: pure values and functions.

`step(world, action) -> (world, outcome)` is the whole of it; `steps(world, action)` lists the small steps it
is made of, each with the world a process that dies there leaves. It does no I/O, reads no clock and draws
nothing at random. It knows the bytes of the ledger, because what is cut off a tail is bytes; of SQLite it
knows only that a transaction happened or did not.
"""

from model.gated.start import initial_world
from model.gated.stepping import step, steps

__all__ = ["initial_world", "step", "steps"]
