"""The fast engine: learned tables over declared structure, packed states, sorted levels.

Guarantees: the same states, transitions and verdicts as `model.explorer.reference`, as long as the space is
what it declares itself to be. `fire` is called once for each distinct (rule, part, slot, context).
"""

from model.explorer.packed.engine import explore

__all__ = ["explore"]
