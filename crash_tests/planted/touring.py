"""`python -m crash_tests.planted.touring SYSTEM FAULT...`: builds a fault into a store; only tours hunt it.

No corpus, no random walk, no kill: the facets of the system one after another, each toured whole, until
something differs. Nothing is drawn. Prints one line of JSON for each fault: in which facet, after how many
transitions, what differed; `null` if nothing did. With `none` for FAULT the store stays sound.

As with `hunt`, a fault has to be in place before anything imports the store. So of several faults each gets a
forked process of its own; what can be had without the store, the explored facets, is had before.
"""

import argparse
import importlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from crash_tests.children import HarnessError, Say, in_child
from crash_tests.planted.plant import Fault, plant

CATALOGUES: Final = {
    "coordinator": "crash_tests.planted.catalogue",
    "ledger": "crash_tests.planted.gated.catalogue",
}
SOUND: Final = "none"
DEADLINE_S: Final = 900.0
"""For one hunt: a minute on an idle machine, if it finds nothing."""


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


def each(system: str, names: Sequence[str], facets: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Each fault with what a tour shows of it, in a process of its own. `HarnessError` if that fails."""
    if facets:
        _explore_beforehand(system, facets)
    for name in names:

        def work(say: Say, name: str = name) -> None:
            fault = None if name == SOUND else faults(system)[name]
            say(json.dumps(hunt(system, fault, facets=facets)).encode())

        ended = in_child(work, deadline_s=DEADLINE_S)
        if not ended.finished:
            raise HarnessError(f"the hunt for {name} {ended.describe()}")
        yield name, json.loads(ended.said)


def _explore_beforehand(system: str, facets: tuple[str, ...]) -> None:
    from stateful_tests.exploring import places
    from stateful_tests.exploring.charts import charted

    for name in facets:
        if places.facet_named(system, name).space.startswith("model."):  # others need the store's harness
            charted(system, name)
    assert not any(module.partition(".")[0] == "impl" for module in sys.modules)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Has tours alone hunt planted faults.")
    parser.add_argument("system", choices=list(CATALOGUES))
    parser.add_argument("fault", nargs="+", help=f"ids of the catalogue, or {SOUND}")
    parser.add_argument("--facet", action="append", default=[], help="tour this one only (more than once)")
    given = parser.parse_args(arguments)
    for name, found in each(given.system, given.fault, tuple(given.facet)):
        print(json.dumps({name: found} if len(given.fault) > 1 else found), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
