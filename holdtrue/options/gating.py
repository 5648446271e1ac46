"""What `holdtrue gate` accepts."""

import argparse

from holdtrue.options import values

EXITS = """\
exit codes:
  0  accepted: all that is asked for was checked, and holds but for what is suppressed
  1  refused: something is violated that no suppression covers
  2  usage: a run or a policy that can't be read decides nothing
  3  undecided: nothing is violated, and not enough was checked

docs/ci.md describes the policy file and has workflows for GitHub and GitLab.
"""


def gate(commands: values.Commands) -> None:
    command = commands.add_parser(
        "gate",
        help="turn a run's results into a decision, by a policy file",
        description="Decides whether a run's results are good enough, and says why. When GitHub Actions runs "
        "it, it adds a summary to the step, and annotations.",
        epilog=EXITS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.add_argument(
        "run",
        metavar="RUN",
        nargs="?",
        default="reports/out/latest",
        help="a run's folder; default reports/out/latest",
    )
    command.add_argument(
        "--policy",
        metavar="FILE",
        help="what must have been checked, and what is suppressed until when; default: the run's own verdict",
    )
    command.add_argument(
        "--against", metavar="OLDER", help="an older run's folder: says what changed, and what may not"
    )
