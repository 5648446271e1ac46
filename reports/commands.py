"""The commands that a report tells its reader to type, from results alone.

They name the run's folder as it was named from where the check ran. Words come quoted for a POSIX shell;
text is not made harmless here: whoever shows a command does that.
"""

import shlex
from collections.abc import Mapping
from typing import Any

from reports.targets import aims

NO_FILE = "(no trace file was kept)"


def reproduce(results: Mapping[str, Any], failure: Mapping[str, Any]) -> str:
    """The command that replays a failure of this run."""
    if not failure["trace"] or not failure["kept"]:
        return NO_FILE
    return f"{invocation(results)} replay {shlex.quote(path(results, failure['trace']))}{aims(results)}"


def rerun(results: Mapping[str, Any]) -> str:
    """The command that does the same check again: the same seed checks the same things."""
    words = [invocation(results), "check", "--profile", shlex.quote(results["profile"])]
    words += ["--seed", str(results["seed"])]
    if results["left_out"]:
        words += [f"--only {shlex.quote(phase['name'])}" for phase in results["phases"]]
    return " ".join(words) + aims(results)


def report(results: Mapping[str, Any], form: str) -> str:
    """The command that renders this run again in another form."""
    return f"{invocation(results)} report {shlex.quote(folder(results))} --format {form}"


def path(results: Mapping[str, Any], file: str) -> str:
    """A file of the run's folder, as one would name it from where the check ran."""
    return f"{folder(results)}/{file}"


def python(results: Mapping[str, Any]) -> str:
    """How to call the Python that holdtrue runs in, from there; already quoted."""
    found = shlex.split(invocation(results))[:1] or ["holdtrue"]
    before, slash, _ = found[0].rpartition("/")
    return shlex.quote(f"{before}{slash}python")


def folder(results: Mapping[str, Any]) -> str:
    found: str = results["environment"]["folder"]
    return found


def invocation(results: Mapping[str, Any]) -> str:
    """How to call holdtrue from there; already quoted."""
    found: str = results["environment"]["invocation"]
    return found
