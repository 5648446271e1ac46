"""All faults of the ledger-gated store that can be planted, by their id. See `crash_tests.planted.plant`.

Nothing here says how a fault is to be found: the checks that hunt them know of none.
"""

from collections.abc import Mapping
from typing import Final

from crash_tests.planted.gated import appends, callers, effects, keys, mirrors, recoveries
from crash_tests.planted.plant import Fault

FAULTS: Final[tuple[Fault, ...]] = (
    *appends.FAULTS,
    *keys.FAULTS,
    *mirrors.FAULTS,
    *recoveries.FAULTS,
    *effects.FAULTS,
    *callers.FAULTS,
)
BY_ID: Final[Mapping[str, Fault]] = {fault.id: fault for fault in FAULTS}
