"""The command line of `holdtrue`: what it accepts, and what it says of itself.

Imports nothing but argparse, so that `holdtrue --help` costs what argparse costs.
"""

import argparse
import math
import os
import sys
from typing import NoReturn

from holdtrue import __version__

PROFILES = ("quick", "ci", "deep")
PHASE_NAMES = ("corpus", "conformance", "kills", "invariants")

FORMATS = ("text", "html", "junit", "sarif", "markdown", "json", "attestation", "itf", "repro")

ABOUT = """\
Do the holds hold true, after kill -9?
Checks a file-backed reservation store against a pure model of its rules."""
EXITS = """\
exit codes:
  0    passed: checked enough, and nothing found
  1    violated: a counterexample (replay: still failing; audit: a fault)
  2    usage: what was asked can't be done as asked
  3    inconclusive: not checked enough (replay: the trace no longer fits)
  4    the harness itself failed; this says nothing about the store
  130  interrupted by Ctrl-C (143: by SIGTERM, 129: by the end of the terminal);
       every child process was ended
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        from reports.plain import safe

        # What the user typed may hold escape sequences; it is shown, not obeyed.
        self.print_usage(sys.stderr)
        self.exit(2, f"{self.prog}: error: {safe(message, 1000)}; see {self.prog} --help\n")


def parser() -> argparse.ArgumentParser:
    top = _Parser(
        prog="holdtrue",
        description=ABOUT,
        epilog=EXITS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"holdtrue {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _check(commands)
    _replay(commands)
    _audit(commands)
    _report(commands)
    _verify(commands)
    return top


def _check(commands: "argparse._SubParsersAction[_Parser]") -> None:
    check = commands.add_parser(
        "check",
        help="check the store against the model; the verdict is the last line",
        description="Checks the store against the model. The last line is the verdict.",
        epilog=EXITS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    check.add_argument(
        "--profile",
        choices=PROFILES,
        default="quick",
        help="how much: quick (about a minute on 2 cores), ci (8 minutes), deep (an hour); default quick",
    )
    check.add_argument(
        "--seed",
        type=_seed,
        default=0,
        metavar="N",
        help="seed of everything random, 0 or more; the same seed checks the same things; default 0",
    )
    check.add_argument(
        "--time-budget",
        type=_seconds,
        metavar="SECONDS",
        help="stop after so long; jobs that were cut make the verdict inconclusive",
    )
    check.add_argument(
        "--only",
        action="append",
        choices=PHASE_NAMES,
        metavar="PHASE",
        help=f"only this phase, one of {', '.join(PHASE_NAMES)} (repeatable); the verdict then says "
        "'only', and speaks for no other phase",
    )
    check.add_argument(
        "--out",
        default="reports/out",
        metavar="DIR",
        help="where to put the run's folder, with results.json and traces/; default reports/out",
    )
    check.add_argument(
        "--jobs", type=_jobs, default=None, metavar="N", help="worker processes; default: one per core"
    )


def _replay(commands: "argparse._SubParsersAction[_Parser]") -> None:
    replay = commands.add_parser(
        "replay",
        help="replay a counterexample from its file",
        description="Replays a trace file against the model and the store. The last line says FIXED "
        "(exit 0), STILL FAILING (1) or DRIFTED (3): the trace no longer fits this version.",
        allow_abbrev=False,
    )
    replay.add_argument(
        "trace", metavar="TRACE", help="a trace file, such as one from a run's traces/ folder"
    )
    how = replay.add_mutually_exclusive_group()
    how.add_argument(
        "--step",
        action="store_true",
        help="walk through it: enter for the next step, q to quit (exit 3 then); a pipe may say so, too",
    )
    how.add_argument(
        "--shrink",
        action="store_true",
        help="look for a shorter trace that fails in the same way, and write it to a file",
    )
    replay.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="with --shrink: where to write it; default: TRACE's name with -shrunk, in the current directory",
    )
    replay.add_argument(
        "--tries",
        type=_tries,
        metavar="N",
        help="with --shrink: how often the trace is performed at most; default 2000, of a kill 200",
    )


def _audit(commands: "argparse._SubParsersAction[_Parser]") -> None:
    audit = commands.add_parser(
        "audit",
        help="verify a store on disk, read-only and without a host",
        description="Verifies the store in a directory. A coordinator's: S1-S10, the audit chain, file "
        "modes; a ledger's (it has ledger.jsonl): its chain, keys, mirror, file modes. Writes nothing, takes "
        "no lock. Exits 0 if all holds, 1 on any fault.",
        allow_abbrev=False,
    )
    audit.add_argument("directory", metavar="DIRECTORY", help="the store's directory")
    audit.add_argument(
        "--anchor",
        metavar="SEQ:HASH",
        help="of a ledger: an event that an earlier audit told as its anchor, and that must still be there",
    )


def _report(commands: "argparse._SubParsersAction[_Parser]") -> None:
    report = commands.add_parser(
        "report",
        help="render a run again, in any format",
        description="Renders a run that has ended again, from its results.json and traces.",
        allow_abbrev=False,
    )
    _run(report)
    report.add_argument(
        "--format",
        choices=FORMATS,
        default="text",
        help="what to make; default text: what the check printed at its end. itf and repro make a file for "
        "each trace, in the directory that -o names",
    )
    report.add_argument("-o", "--output", metavar="FILE", help="where to write it; default: standard output")


def _verify(commands: "argparse._SubParsersAction[_Parser]") -> None:
    verify = commands.add_parser(
        "verify",
        help="check a run's folder against its manifest",
        description="Hashes the files of a run's folder again. Exits 0 if they are those that the run wrote, "
        "1 if a file is missing, changed, or not listed.",
        allow_abbrev=False,
    )
    _run(verify)


def _run(command: _Parser) -> None:
    command.add_argument(
        "run",
        metavar="RUN",
        nargs="?",
        default="reports/out/latest",
        help="a run's folder; default reports/out/latest",
    )


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _seed(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 18:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to 10^18 - 1")
    return int(text)


def _jobs(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text[:9]) <= 256 or len(text) > 3:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of processes from 1 to 256")
    return int(text)


def _tries(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text[:9]) <= 1_000_000 or len(text) > 7:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of tries from 1 to 1000000")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < 1e7:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return seconds
