"""What the commands that take a run's folder accept."""

from holdtrue.options import values

FORMATS = ("text", "html", "junit", "sarif", "markdown", "json", "attestation", "itf", "repro")


def report(commands: values.Commands) -> None:
    command = commands.add_parser(
        "report",
        help="render a run again, in any format",
        description="Renders a run that has ended again, from its results.json and traces.",
        allow_abbrev=False,
    )
    _run(command)
    command.add_argument(
        "--format",
        choices=FORMATS,
        default="text",
        help="what to make; default text: what the check printed at its end. itf and repro make a file for "
        "each trace, in the directory that -o names",
    )
    command.add_argument("-o", "--output", metavar="FILE", help="where to write it; default: standard output")
    command.add_argument(
        "--policy", metavar="FILE", help="the gate's policy, so that what it suppresses is listed, too"
    )


def verify(commands: values.Commands) -> None:
    command = commands.add_parser(
        "verify",
        help="check a run's folder against its manifest",
        description="Hashes the files of a run's folder again. Exits 0 if they are those that the run wrote, "
        "1 if a file is missing, changed, or not listed.",
        allow_abbrev=False,
    )
    _run(command)


def _run(command: values.Parser) -> None:
    command.add_argument(
        "run",
        metavar="RUN",
        nargs="?",
        default="reports/out/latest",
        help="a run's folder; default reports/out/latest",
    )
