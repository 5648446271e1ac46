"""`holdtrue`: from the command line to an exit code.

Each command is imported when it is asked for. No user sees a traceback: what is unexpected ends with exit
code 4, a message, and the path of a file that holds the details.
"""

import importlib
import os
import signal
import sys
from collections.abc import Callable

from holdtrue.exits import Exit, Terminated, UsageError
from holdtrue.options import COMMANDS, parser

ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(arguments: list[str] | None = None) -> int:
    """Runs `holdtrue` with `arguments` (the process' own if none are given); returns its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        try:
            options = parser().parse_args(given)
        except SystemExit as ended:  # argparse has said it all
            return int(ended.code or 0)
        _heed_signals()
        return _run(options)
    except UsageError as fault:
        _say(f"holdtrue {given[0]}: {fault}")
        return Exit.USAGE
    except KeyboardInterrupt:
        _say("holdtrue: interrupted")
        return Exit.INTERRUPTED
    except Terminated as terminated:
        _say("holdtrue: terminated")
        return terminated.exit
    except BrokenPipeError:
        # Whoever read our output has gone. Printer deals with that; this is argparse's own writing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return Exit.PASSED
    except Exception as error:  # noqa: BLE001  # the last resort: see the module's docstring
        return _harness_failed(error, given)


def _run(options: object) -> int:
    module, _, name = COMMANDS[vars(options)["command"]].partition(":")
    carry_out: Callable[[object], int] = getattr(importlib.import_module(module), name)
    return carry_out(options)


def _heed_signals() -> None:
    """Ctrl-C, SIGTERM and the end of the terminal raise, but only the first of them: what follows is clean-up
    that takes a moment, and an impatient second Ctrl-C must not cut it off. What was to be ignored stays
    ignored."""
    heard: list[int] = []

    def stop(number: int, _frame: object) -> None:
        heard.append(number)
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)
        if len(heard) > 1:  # it had arrived before they were blocked
            return
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise Terminated(number)

    for number in ENDINGS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, stop)


def _harness_failed(error: Exception, given: list[str]) -> int:
    import tempfile
    import traceback

    told = f"{type(error).__name__}: {error}"
    details = f"holdtrue {given!r}\n{sys.version}\n\n" + "".join(traceback.format_exception(error))
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="holdtrue-failure-", suffix=".txt", delete=False, encoding="utf-8", errors="replace"
        ) as file:
            file.write(details)
        where = f"details: {file.name}"
    except OSError as unwritable:
        where = f"the details could not be written ({unwritable.strerror})"
    _say(f"holdtrue: the harness itself failed, which says nothing about the store: {told[:500]}")
    _say(f"          {where}")
    return Exit.HARNESS_FAILED


def _say(text: str) -> None:
    from holdtrue.out import unobeyed
    from reports.plain import safe

    try:
        print(unobeyed(safe(text, 2000)), file=sys.stderr, flush=True)
    except OSError:
        return
