"""What must be true of the store: pure values and functions.

`step(world, action) -> (world, outcome)` is the whole of the model. It does no I/O, reads no clock and
draws nothing at random; what it needs of those is in the `World`. It knows nothing of files beyond their
being there, damaged or put back: bytes and hashes are the store's own business.
"""

from model.start import initial_world
from model.stepping import step

__all__ = ["initial_world", "step"]
