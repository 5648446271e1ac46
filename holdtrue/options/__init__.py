"""The command line of `holdtrue`: what it accepts, and what it says of itself.

Imports nothing but argparse, so that `holdtrue --help` costs what argparse costs. Each module here adds the
commands that take the same kind of thing; `COMMANDS` says which function carries a command out.
"""

import argparse
from collections.abc import Mapping
from typing import Final

from holdtrue import __version__
from holdtrue.options import checking, exploring, gating, mutating, runs, stores, traces
from holdtrue.options.checking import PHASE_NAMES
from holdtrue.options.runs import FORMATS
from holdtrue.options.values import EXITS, PROFILES, Parser, cores

__all__ = ["COMMANDS", "EXITS", "FORMATS", "PHASE_NAMES", "PROFILES", "cores", "parser"]

ABOUT = """\
Do the holds hold true, after kill -9?
Checks a file-backed reservation store against a pure model of its rules."""

COMMANDS: Final[Mapping[str, str]] = {
    "check": "holdtrue.check:check_command",
    "replay": "holdtrue.replay:replay_command",
    "pin": "holdtrue.pin:pin_command",
    "serve": "holdtrue.serving:serve_command",
    "explore": "holdtrue.explore:explore_command",
    "mutants": "holdtrue.mutants:mutants_command",
    "audit": "holdtrue.audit:audit_command",
    "report": "holdtrue.report:report_command",
    "verify": "holdtrue.verify:verify_command",
    "gate": "holdtrue.gate:gate_command",
}
"""What carries a command out, as `module:function`; it takes the parsed options and gives the exit code."""


def parser() -> Parser:
    top = Parser(
        prog="holdtrue",
        description=ABOUT,
        epilog=EXITS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"holdtrue {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    checking.check(commands)
    exploring.explore(commands)
    mutating.mutants(commands)
    traces.replay(commands)
    traces.pin(commands)
    stores.audit(commands)
    stores.serve(commands)
    runs.report(commands)
    runs.verify(commands)
    gating.gate(commands)
    return top
