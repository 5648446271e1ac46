"""`python -m crash_tests.planted.touring SYSTEM FAULT`: builds a fault into a store, and only tours hunt it.

No corpus, no random walk, no kill: the facets of the system one after another, each toured whole, until
something differs. Nothing is drawn. Prints one JSON object: in which facet, after how many transitions, what
differed; `null` if nothing did. With `none` for FAULT the store stays sound.

As with `hunt`, the fault has to be in place before anything imports the store.
"""

import argparse
import importlib
import json
import sys
from collections.abc import Mapping
from typing import Any, Final

from crash_tests.planted.plant import Fault, plant

CATALOGUES: Final = {
    "coordinator": "crash_tests.planted.catalogue",
    "ledger": "crash_tests.planted.gated.catalogue",
}
SOUND: Final = "none"


def faults(system: str) -> Mapping[str, Fault]:
    """The planted faults of `system`, by id."""
    found: Mapping[str, Fault] = importlib.import_module(CATALOGUES[system]).BY_ID
    return found


def hunt(system: str, fault: Fault | None, *, facets: tuple[str, ...] = ()) -> dict[str, Any] | None:
    """What a tour of one of the facets (all that are toured, if none are named) shows first."""
    if fault is not None:
        plant(fault)
    from stateful_tests import replay
    from stateful_tests.exploring import places
    from stateful_tests.exploring.charts import charted
    from stateful_tests.exploring.drive import Drive
    from stateful_tests.exploring.route import Part, Tour
    from stateful_tests.system import system_named

    before = 0
    for facet in places.facets(system):
        if not facet.toured or (facets and facet.name not in facets):
            continue
        chart = charted(system, facet.name).chart
        with replay.workspace() as root:
            drive = Drive(chart, system_named(system), root / "tour", places.rewinder(system))
            tour = Tour(Part(chart, range(chart.nodes)), drive)
            try:
                tour.run()
            finally:
                drive.end()
        found = drive.divergence
        if found is not None:
            return {
                "facet": facet.name,
                "transitions": before + tour.part.done,
                "kind": found.kind,
                "clause": found.clause,
                "title": found.title,
                "actions": len(drive.records),
            }
        before += tour.part.done
    return None


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Has tours alone hunt one planted fault.")
    parser.add_argument("system", choices=list(CATALOGUES))
    parser.add_argument("fault", help=f"its id in the catalogue, or {SOUND}")
    parser.add_argument("--facet", action="append", default=[], help="tour this one only (more than once)")
    given = parser.parse_args(arguments)
    fault = None if given.fault == SOUND else faults(given.system)[given.fault]
    print(json.dumps(hunt(given.system, fault, facets=tuple(given.facet))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
