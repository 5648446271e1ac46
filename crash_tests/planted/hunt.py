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
from typing import TYPE_CHECKING

from attrs import evolve

from crash_tests.planted.catalogue import BY_ID
from crash_tests.planted.plant import Fault, plant

if TYPE_CHECKING:
    from crash_tests.planted.chase import Catch

SOUND = "none"


def hunt(
    fault: Fault | None, *, corpus: bool = True, thorough: bool = False, seed: int = 0
) -> "Catch | None":
    """What the checks catch with `fault` in the store, or without any. Raises `PlantError`.

    `corpus=False` leaves the pinned traces out: what then catches it is random search, or a kill. `thorough`
    walks as far as a quick check does; otherwise a part of that must do.
    """
    started = time.monotonic()
    if fault is not None:
        plant(fault)
    from crash_tests.planted.chase import chase

    caught = chase(corpus=corpus, thorough=thorough, seed=seed)
    return None if caught is None else evolve(caught, seconds=round(time.monotonic() - started, 2))


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m crash_tests.planted.hunt")
    parser.add_argument("fault", choices=[*BY_ID, SOUND], metavar="FAULT", help="its id in the catalogue")
    parser.add_argument("--without-corpus", action="store_true", help="leave the pinned traces out")
    parser.add_argument("--thorough", action="store_true", help="walk as far as a quick check does")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    fault = None if given.fault == SOUND else BY_ID[given.fault]
    caught = hunt(fault, corpus=not given.without_corpus, thorough=given.thorough, seed=given.seed)
    print(json.dumps(None if caught is None else caught.to_json()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
