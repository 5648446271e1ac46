"""All faults that are planted, by id.

Each is a way in which a store of this kind has gone wrong, or easily would: the catalogue says what the
checks are known to catch, and nothing about what is not in it.
"""

from collections.abc import Mapping
from typing import Final

from crash_tests.planted import authority, durability, files, fixes, halves, lifecycle
from crash_tests.planted.plant import Fault

FAULTS: Final[tuple[Fault, ...]] = (
    *lifecycle.FAULTS,
    *authority.FAULTS,
    *durability.FAULTS,
    *fixes.FAULTS,
    *files.FAULTS,
    *halves.FAULTS,
)

BY_ID: Final[Mapping[str, Fault]] = {fault.id: fault for fault in FAULTS}
