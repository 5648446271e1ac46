"""The folders of runs that have ended: found, and their results and traces read.

A run is named by its folder, or by its `results.json`. Whatever can't be read is a UsageError that says so.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from attrs import frozen

from holdtrue.exits import UsageError
from holdtrue.tracefile import read_json
from reports.results import ResultsError, parse

RESULTS = "results.json"
ABOUT = "about.json"
_WHERE = "A run's folder is one of those in reports/out (or --out DIR) of a check."


@frozen
class Run:
    """A run's folder, its results in today's form, and what can be read of its traces and their evidence.

    `traces` has each by its file's name: a trace as its failure names it, evidence as `.../about.json`.
    """

    folder: Path
    results: dict[str, Any]
    traces: Mapping[str, Any]


def folder_of(named: str) -> Path:
    """The folder of the run that the user names. UsageError if there is none."""
    if not named:
        raise UsageError("an empty path names no run")
    path = Path(named)
    if path.name == RESULTS and not path.is_dir():
        path = path.parent
    try:
        there = path.is_dir()
    except (OSError, ValueError) as error:
        raise UsageError(f"{named!r} can't be looked at: {error}") from error
    if not there:
        what = "it is a file" if path.exists() else "there is no such directory"
        raise UsageError(f"{named!r} is no run's folder: {what}. {_WHERE}")
    return path


def read_run(named: str, *, traces: bool = True) -> Run:
    """The run that the user names, without its traces unless they are wanted."""
    folder = folder_of(named)
    results = read_results(folder)
    found: dict[str, Any] = {}
    for name in dict.fromkeys(failure["trace"] for failure in results["failures"]) if traces else ():
        if name and inside(folder, name):
            with suppress(UsageError):  # a trace that is gone or damaged is shown as not there
                found[name] = read_json(folder / name)
    return Run(folder, results, {**found, **evidence_of(folder, results)} if traces else {})


def evidence_of(folder: Path, results: Mapping[str, Any]) -> dict[str, Any]:
    """What `about.json` tells of each failure's evidence, by its name within the run's folder."""
    found: dict[str, Any] = {}
    for failure in results["failures"]:
        if failure["evidence"] and inside(folder, failure["evidence"]):
            name = f"{failure['evidence']}/{ABOUT}"
            with suppress(UsageError):
                found[name] = read_json(folder / name)
    return found


def read_results(folder: Path) -> dict[str, Any]:
    """The results in a run's folder. UsageError if there are none that can be read."""
    path = folder / RESULTS
    data = read_json(path, what="results.json", where=_WHERE)
    try:
        return parse(data)
    except ResultsError as error:
        raise UsageError(f"{str(path)!r}: {error}") from error


def inside(folder: Path, name: str) -> bool:
    """Whether `name`, from a file that may have been edited, stays within the folder."""
    path = Path(name)
    return not path.is_absolute() and ".." not in path.parts and "\0" not in name and folder.is_dir()


def newest(out: Path, *, but: str) -> dict[str, Any] | None:
    """The results of the newest run in `out` that can be read, other than the run of the name `but`."""
    with suppress(OSError):
        names = sorted((path.name for path in out.iterdir() if path.name[:8].isdigit()), reverse=True)
        for name in names:
            if name != but and not (out / name).is_symlink():
                with suppress(UsageError):
                    return read_results(out / name)
    return None
