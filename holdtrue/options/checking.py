"""What `check` and its like accept."""

import argparse

from holdtrue.options import values

PHASE_NAMES = ("corpus", "conformance", "kills", "exploration", "invariants")


def aim(command: argparse.ArgumentParser) -> None:
    """The options that say which store is meant, if it isn't this project's own."""
    command.add_argument(
        "--target",
        metavar="COMMAND",
        help="not this project's store, but one that COMMAND offers, in any language, by the wire protocol "
        "(docs/protocol.md); {directory} in it is replaced by the store's directory",
    )
    command.add_argument(
        "--policy",
        metavar="FILE",
        help="with --target: a TOML file of deviations that the store's owner has decided on",
    )
    command.add_argument(
        "--reply-limit",
        type=values.seconds,
        metavar="SECONDS",
        help="with --target: how long a reply may take before the target counts as hung; default 10",
    )


def check(commands: values.Commands) -> None:
    command = commands.add_parser(
        "check",
        help="check the store against the model; the verdict is the last line",
        description="Checks the store against the model. The last line is the verdict.",
        epilog=values.EXITS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.add_argument(
        "--profile",
        choices=values.PROFILES,
        default="quick",
        help="how much: quick (a minute or two on 2 cores), ci (8 minutes), deep (an hour); default quick",
    )
    command.add_argument(
        "--seed",
        type=values.seed,
        default=0,
        metavar="N",
        help="seed of everything random, 0 or more; the same seed checks the same things; default 0",
    )
    command.add_argument(
        "--time-budget",
        type=values.seconds,
        metavar="SECONDS",
        help="stop after so long; jobs that were cut make the verdict inconclusive",
    )
    command.add_argument(
        "--only",
        action="append",
        choices=PHASE_NAMES,
        metavar="PHASE",
        help=f"only this phase, one of {', '.join(PHASE_NAMES)} (repeatable); the verdict then says "
        "'only', and speaks for no other phase",
    )
    command.add_argument(
        "--out",
        default="reports/out",
        metavar="DIR",
        help="where to put the run's folder, with results.json and traces/; default reports/out",
    )
    command.add_argument(
        "--jobs", type=values.jobs, default=None, metavar="N", help="worker processes; default: one per core"
    )
    aim(command)
