"""The kinds of values that options take, each with an error that says what is wrong; the parser's class."""

import argparse
import math
import os
import sys
from typing import NoReturn, TypeAlias

PROFILES = ("quick", "ci", "deep")

EXITS = """\
exit codes:
  0    passed: checked enough, and nothing found
  1    violated: a counterexample (replay: still failing; audit: a fault;
       verify: a file is not as the run wrote it)
  2    usage: what was asked can't be done as asked
  3    inconclusive: not checked enough (replay: the trace no longer fits)
  4    the harness itself failed; this says nothing about the store
  130  interrupted by Ctrl-C (143: by SIGTERM, 129: by the end of the terminal);
       every child process was ended
"""


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        from holdtrue.out import unobeyed
        from reports.plain import safe

        # What the user typed may hold escape sequences; it is shown, not obeyed.
        self.print_usage(sys.stderr)
        self.exit(2, unobeyed(f"{self.prog}: error: {safe(message, 1000)}; see {self.prog} --help\n"))


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def seed(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 18:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to 10^18 - 1")
    return int(text)


def jobs(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text[:9]) <= 256 or len(text) > 3:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of processes from 1 to 256")
    return int(text)


def tries(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text[:9]) <= 1_000_000 or len(text) > 7:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of tries from 1 to 1000000")
    return int(text)


def sample(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text[:9]) <= 100_000 or len(text) > 6:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of mutants from 1 to 100000")
    return int(text)


def seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < 1e7:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return number
