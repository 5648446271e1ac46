"""What the commands that take a trace accept."""

from holdtrue.options import checking, values


def replay(commands: values.Commands) -> None:
    command = commands.add_parser(
        "replay",
        help="replay a counterexample from its file",
        description="Replays a trace file against the model and the store. The last line says FIXED "
        "(exit 0), STILL FAILING (1), NOW FAILING (1): it held when it was pinned, or DRIFTED (3): the trace "
        "no longer fits this version.",
        allow_abbrev=False,
    )
    command.add_argument(
        "trace", metavar="TRACE", help="a trace file, such as one from a run's traces/ folder"
    )
    how = command.add_mutually_exclusive_group()
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
    command.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="with --shrink: where to write it; default: TRACE's name with -shrunk, in the current directory",
    )
    command.add_argument(
        "--tries",
        type=values.tries,
        metavar="N",
        help="with --shrink: how often the trace is performed at most; default 2000, of a kill 200",
    )
    checking.aim(command)


def pin(commands: values.Commands) -> None:
    command = commands.add_parser(
        "pin",
        help="add a trace to the corpus that every check replays",
        description="Performs a trace again and adds it to the pinned corpus, which every check replays. "
        "Exits 0 if it was pinned, 1 if it still fails, 3 if it no longer fits, 2 if it is there already.",
        allow_abbrev=False,
    )
    command.add_argument("trace", metavar="TRACE", help="a trace file")
    command.add_argument(
        "--reason",
        required=True,
        metavar="TEXT",
        help="a sentence: what the trace shows, for whoever sees it fail in a year",
    )
    command.add_argument(
        "--name", metavar="NAME", help="its name in the corpus; default: made of the trace's"
    )
    command.add_argument(
        "--failing",
        action="store_true",
        help="pin it although it still fails; every check is violated then until it is mended",
    )
    command.add_argument(
        "--corpus", metavar="DIR", help="the corpus to add it to; default: this holdtrue's own"
    )
