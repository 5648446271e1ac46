"""`python -m crash_tests.planted.gated.hunt FAULT`: `crash_tests.planted.hunt` for the ledger-gated store.

It imports nothing that imports the store: the fault has to be in place before.
"""

import sys
from typing import Final

from crash_tests.planted import hunt
from crash_tests.planted.gated.catalogue import BY_ID

WAYS: Final = (
    "corpus",
    "walk",
    "tampering",
    "kill",
    "failing step",
    "processes",
    "torture",
    "machine",
)
"""The parts of the checks that may catch a fault, in the order of the hunt."""


def main(arguments: list[str]) -> int:
    return hunt.main(arguments, faults=BY_ID, ways=WAYS, chase="crash_tests.planted.gated.chase")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
