"""`holdtrue report`: a run that has ended, rendered again in any of its formats, from its results and traces.

Reads the run's folder and writes nothing there. Where no file is named the rendering goes to standard output,
byte for byte; one that could not be written whole is an error, unless its reader has gone. It needs neither
the store nor the checks, and renders what was seen then, not what would be seen today.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import evolve

from holdtrue.exits import Exit, UsageError
from holdtrue.gate import read_policy
from holdtrue.out import Printer, swallow
from holdtrue.rendering import PER_TRACE, of_traces, rendered, text
from holdtrue.runs import read_run
from reports.policy import with_suppressions


def report_command(options: object) -> int:
    """`holdtrue report` as the command line asks for it."""
    asked = vars(options)
    return report(asked["run"], asked["format"], asked["output"], policy=asked["policy"])


def report(
    named: str, form: str, output: str | None, *, policy: str | None = None, printer: Printer | None = None
) -> int:
    """Renders the run `named` as `form`, into the file or folder `output`; returns the exit code. What the
    gate's `policy` suppresses is listed, too."""
    run = read_run(named)
    if policy is not None:
        run = evolve(run, results=with_suppressions(run.results, read_policy(policy)))
    if form in PER_TRACE:
        return _per_trace(form, run.results, run.traces, output)
    if output is None and form == "text":
        printer = printer or Printer()
        printer.lines(text(run.results, run.traces))
        return Exit.USAGE if printer.failed else Exit.PASSED
    content = rendered(form, run.results, run.traces)
    if output is not None:
        _write(Path(output), content)
    else:
        _print(content)
    return Exit.PASSED


def _per_trace(form: str, results: Mapping[str, Any], traces: Mapping[str, Any], output: str | None) -> int:
    if output is None:
        raise UsageError(
            f"--format {form} makes a file for each trace; name a directory for them with -o DIR"
        )
    folder = Path(output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{output!r} can't be made: {error.strerror}; name another directory") from error
    for name, content in of_traces(form, results, traces):
        _write(folder / name.rpartition("/")[2], content)
    return Exit.PASSED


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except (OSError, ValueError) as error:
        told = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"{str(path)!r} can't be written: {told}; name another file with -o") from error


def _print(content: bytes) -> None:
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        swallow()
        raise UsageError(
            f"standard output can't be written: {error.strerror}; name a file with -o"
        ) from error
