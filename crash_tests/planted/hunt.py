"""`python -m crash_tests.planted.hunt FAULT`: builds one fault into the store, and has the checks hunt it.

Prints one JSON object: what caught it, with which trace, of how many actions, after how many seconds; `null`
if nothing did. With `none` for FAULT the store stays sound, and anything that is caught is a false alarm.

The fault has to be in place before anything imports the store, so this module imports nothing that does, and
a process hunts one fault and is thrown away.
"""

import argparse
import importlib
import json
import sys
import time
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Final

from attrs import evolve

from crash_tests.planted.catalogue import BY_ID
from crash_tests.planted.plant import Fault, plant

if TYPE_CHECKING:
    from crash_tests.planted.chase import Catch

SOUND: Final = "none"
CHASE: Final = "crash_tests.planted.chase"
WAYS: Final = ("corpus", "walk", "processes", "kill", "disk fault", "torture", "machine")
"""The parts of the checks that may catch a fault, in the order of the hunt."""


def hunt(
    fault: Fault | None,
    *,
    ways: Collection[str] = WAYS,
    thorough: bool = False,
    seed: int = 0,
    chase: str = CHASE,
) -> "Catch | None":
    """What the checks catch with `fault` in the store, or without any. Raises `PlantError`.

    `ways` are the parts of the checks that hunt it. `thorough` walks as far as a quick check does; otherwise
    a part of that must do. `chase` is the module that knows the jobs of the fault's system.
    """
    started = time.monotonic()
    if fault is not None:
        plant(fault)
    caught: Catch | None = importlib.import_module(chase).chase(ways=ways, thorough=thorough, seed=seed)
    return None if caught is None else evolve(caught, seconds=round(time.monotonic() - started, 2))


def main(
    arguments: list[str],
    *,
    faults: Mapping[str, Fault] = BY_ID,
    ways: tuple[str, ...] = WAYS,
    chase: str = CHASE,
) -> int:
    parser = argparse.ArgumentParser(description="Has the checks hunt one planted fault.")
    parser.add_argument("fault", choices=[*faults, SOUND], metavar="FAULT", help="its id in the catalogue")
    parser.add_argument(
        "--only", choices=ways, action="append", help="hunt with this part of the checks alone"
    )
    parser.add_argument("--without-corpus", action="store_true", help="leave the pinned traces out")
    parser.add_argument("--thorough", action="store_true", help="walk as far as a quick check does")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    fault = None if given.fault == SOUND else faults[given.fault]
    only = [way for way in given.only or ways if way != "corpus" or not given.without_corpus]
    caught = hunt(fault, ways=only, thorough=given.thorough, seed=given.seed, chase=chase)
    print(json.dumps(None if caught is None else caught.to_json()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
