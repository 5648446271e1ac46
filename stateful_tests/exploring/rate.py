"""How fast the explorer is, without symmetry, measured beside the loop by which machines are compared.

The loop is the one of the project's figures: ten million rounds of `for i in ...: x += i` as module code. A
rate of states means something only beside it, so the figure with a floor is their product: how many states
are explored in the time of one loop.
"""

import time

from model.explorer.facet import load
from model.explorer.packed import explore
from stateful_tests.exploring.places import facet_named

ROUNDS = 10_000_000
_PART = 5
"""Only a part of the rounds is run, and the time taken for all."""


def calibration() -> float:
    """CPU seconds of the loop, here and now."""
    code = compile(f"x = 0\nfor i in range({ROUNDS // _PART}):\n    x += i", "calibration", "exec")
    started = time.process_time()
    exec(code, {})  # module code has no fast locals, and that is how the loop was measured
    return (time.process_time() - started) * _PART


def measured(system: str, facet: str) -> dict[str, float]:
    """Explores a facet without symmetry; the figures of that."""
    space = load(facet_named(system, facet).space)()
    before = calibration()
    started = time.process_time()
    seen = explore(space)
    seconds = time.process_time() - started
    loop = (before + calibration()) / 2
    rate = seen.states / seconds
    return {
        "states per CPU second, without symmetry": round(rate),
        "calibration loop, CPU seconds": round(loop, 3),
        "states per calibration loop": round(rate * loop),
    }
