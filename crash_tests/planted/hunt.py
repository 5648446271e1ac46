"""`python -m crash_tests.planted.hunt FAULT`: builds one fault into the store, and has the checks hunt it.

Prints one JSON object: what caught it, with which trace, of how many actions, after how many seconds; `null`
if nothing did. With `none` for FAULT the store stays sound, and anything that is caught is a false alarm.

The fault has to be in place before anything imports the store, so this module imports nothing that does, and
a process hunts one fault and is thrown away.
"""

import argparse
import json
import sys
import time
from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from attrs import evolve

from crash_tests.planted.catalogue import BY_ID
from crash_tests.planted.plant import Fault, plant

if TYPE_CHECKING:
    from crash_tests.planted.chase import Catch

SOUND: Final = "none"
WAYS: Final = ("corpus", "walk", "processes", "kill", "disk fault", "torture", "machine")
"""The parts of the checks that may catch a fault, in the order of the hunt."""


def hunt(
    fault: Fault | None, *, ways: Collection[str] = WAYS, thorough: bool = False, seed: int = 0
) -> "Catch | None":
    """What the checks catch with `fault` in the store, or without any. Raises `PlantError`.

    `ways` are the parts of the checks that hunt it. `thorough` walks as far as a quick check does; otherwise
    a part of that must do.
    """
    started = time.monotonic()
    if fault is not None:
        plant(fault)
    from crash_tests.planted.chase import chase

    caught = chase(ways=ways, thorough=thorough, seed=seed)
    return None if caught is None else evolve(caught, seconds=round(time.monotonic() - started, 2))


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m crash_tests.planted.hunt")
    parser.add_argument("fault", choices=[*BY_ID, SOUND], metavar="FAULT", help="its id in the catalogue")
    parser.add_argument(
        "--only", choices=WAYS, action="append", help="hunt with this part of the checks alone"
    )
    parser.add_argument("--without-corpus", action="store_true", help="leave the pinned traces out")
    parser.add_argument("--thorough", action="store_true", help="walk as far as a quick check does")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    fault = None if given.fault == SOUND else BY_ID[given.fault]
    ways = [way for way in given.only or WAYS if way != "corpus" or not given.without_corpus]
    caught = hunt(fault, ways=ways, thorough=given.thorough, seed=given.seed)
    print(json.dumps(None if caught is None else caught.to_json()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
