"""`holdtrue pin`: adds a trace to the corpus that every check replays first, with the reason why.

The trace is performed before it is kept. What no longer fits is refused (exit 3), and so is what still fails
(exit 1), unless `--failing` asks for it: a pinned trace that fails makes every check violated. What is there
already, has no reason or no name is a usage error (2).
"""

from pathlib import Path
from typing import Any

from holdtrue.exits import Exit, UsageError
from holdtrue.out import Printer
from holdtrue.performing import whole
from holdtrue.runfolder import shown
from holdtrue.tracefile import read_json
from reports.plain import paragraph, safe

REFUSED = {"failing": Exit.VIOLATED, "drifted": Exit.INCONCLUSIVE}


def pin_command(options: object) -> int:
    """`holdtrue pin` as the command line asks for it."""
    asked = vars(options)
    corpus = asked["corpus"]
    if not asked["trace"] or corpus == "":
        raise UsageError("an empty path names nothing")
    return pin_file(
        Path(asked["trace"]),
        Printer(),
        reason=asked["reason"],
        name=asked["name"],
        failing=asked["failing"],
        corpus=None if corpus is None else Path(corpus),
    )


def pin_file(
    path: Path, printer: Printer, *, reason: str, name: str | None, failing: bool, corpus: Path | None
) -> int:
    """Pins the trace in `path`; returns the exit code. `corpus` is this installation's, unless given."""
    from stateful_tests.pinning import PinError

    if corpus is not None and not corpus.is_dir():
        raise UsageError(f"--corpus {str(corpus)!r} is no directory; make it first, or leave it out")
    data = read_json(path)
    try:
        pinned, word = _pin(data, reason=reason, name=name, failing=failing, corpus=corpus)
    except PinError as error:
        if error.standing not in REFUSED:
            raise UsageError(f"{path}: {error}") from error
        printer.lines(paragraph(f"{safe(path, 4096)}: {safe(error, 2000)}", then="  "))
        printer.strong(f"NOT PINNED  {safe(path.name)}", "NOT PINNED", "31")
        return REFUSED[error.standing]
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error
    except OSError as error:
        raise UsageError(
            f"the corpus can't be written: {error.strerror}; name another with --corpus"
        ) from error
    printer.line(f"written: {safe(shown(pinned), 4096)}")
    printer.line(f"every check replays it from now on; commit the file{word}")
    printer.strong(f"PINNED  {safe(pinned.stem)}", "PINNED", "32")
    return Exit.PASSED


def _pin(data: Any, *, reason: str, name: str | None, failing: bool, corpus: Path | None) -> tuple[Path, str]:
    """The file that was written, and what else is to be said. ValueError if the trace can't be pinned."""
    if isinstance(data, dict) and data.get("kind") == "kill":
        from crash_tests import pinned as kills

        place = corpus or kills.DIRECTORY
        kept = kills.pin(data, reason=reason, directory=place, name=name, failing=failing)
        return kept.path, _still(kept.result.status)
    from stateful_tests import pinned, pinning
    from stateful_tests.trace import from_json

    trace = from_json(data)
    whole(data)
    place = corpus or pinned.DIRECTORY
    made = pinning.pin(trace, reason=reason, directory=place, name=name, failing=failing)
    return made.path, _still(made.result.status)


def _still(status: str) -> str:
    return "" if status == "fixed" else " (it still fails: checks are violated until it is mended)"
