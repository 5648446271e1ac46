"""What `explore` accepts."""

import argparse
from collections.abc import Callable
from typing import Final

from holdtrue.options import values

SYSTEMS = ("coordinator", "ledger")
MEMORY_MB = 2000


def _number(most: int, least: int = 1) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not (text.isascii() and text.isdigit()) or len(text) > 12 or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} to {most}")
        return int(text)

    return number


def _numbers(text: str) -> tuple[int, ...]:
    number = _number(9)
    return tuple(sorted({number(part) for part in text.split(",")}))


ABOUT = """\
Goes through every world that the model can reach within declared bounds, asks
its properties of all of them, and shows the shortest way to whatever breaks
one. The last line is the verdict. No store takes part: that is what
'check --only exploration' is for."""

BOUNDS: Final = ("ids", "runs", "hosts", "maxima", "commands", "ttls")
"""The options that change bounds of the coordinator's facets."""


def explore(commands: values.Commands) -> None:
    command = commands.add_parser(
        "explore",
        help="go through every reachable world of the model, within bounds",
        description=ABOUT,
        epilog=values.EXITS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.add_argument(
        "system",
        nargs="?",
        choices=SYSTEMS,
        default="coordinator",
        help="which system's model; default coordinator",
    )
    command.add_argument("--list", action="store_true", help="only list the facets, with their bounds")
    command.add_argument(
        "--facet",
        metavar="NAME",
        help="which small world; see --list; default core (coordinator), transact (ledger)",
    )
    _bounds(command)
    _limits(command)
    command.add_argument(
        "--graph",
        metavar="FILE",
        help="write the graph to FILE.graphml, and, if it is small enough to look at, to FILE.svg",
    )
    command.add_argument(
        "--itf",
        metavar="FILE",
        help="write a trace in Apalache's ITF format: the first counterexample, or the way to the deepest "
        "world if there is none",
    )
    command.add_argument(
        "--property",
        metavar="ID",
        help="show the trace of this property, whatever its verdict; --itf then writes that one",
    )


def _bounds(command: argparse.ArgumentParser) -> None:
    bounds = command.add_argument_group("bounds of the coordinator's world, instead of the facet's own")
    bounds.add_argument("--ids", type=_number(8), metavar="N", help="reservation ids")
    bounds.add_argument("--runs", type=_number(3), metavar="N", help="runs that they may be for")
    bounds.add_argument("--hosts", type=_number(3), metavar="N", help="hosts, each of an epoch of its own")
    bounds.add_argument("--commands", type=_number(2, 0), metavar="N", help="command ids of operators")
    bounds.add_argument(
        "--maxima", type=_numbers, metavar="N,N", help="what a command may set the capacity to"
    )
    bounds.add_argument("--ttls", type=_numbers, metavar="N,N", help="TTLs in ms that a reservation may have")
    bounds.add_argument(
        "--drop",
        action="append",
        metavar="ASSUMPTION",
        help="let the surroundings break this assumption (repeatable); see docs/properties.md",
    )


def _limits(command: argparse.ArgumentParser) -> None:
    limits = command.add_argument_group("limits; what ends at one is inconclusive")
    limits.add_argument("--depth", type=_number(10_000), metavar="N", help="steps from the start")
    limits.add_argument("--states", type=_number(10**9), metavar="N", help="worlds")
    limits.add_argument(
        "--time-budget", type=values.seconds, metavar="SECONDS", help="CPU time of the exploration"
    )
    limits.add_argument(
        "--memory",
        type=_number(10**6),
        default=MEMORY_MB,
        metavar="MB",
        help="for worlds and graph; default 2000",
    )
    limits.add_argument(
        "--without-symmetry",
        action="store_true",
        help="take every world for itself, not one for all that differ by names alone",
    )
