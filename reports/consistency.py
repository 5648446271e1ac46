"""Whether results fit together: their verdict with what they tell of, and their parts with each other.

Results that a check wrote always do, so whatever is found here was edited, or is of another making. It is no
proof of the opposite: who edits all parts alike is not seen.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from reports.targets import targets_told, typed_target

EXITS: Final[Mapping[str, int]] = {"PASSED": 0, "VIOLATED": 1, "INCONCLUSIVE": 3, "HARNESS FAILED": 4}
"""The exit code of each verdict, as `holdtrue.exits` has them, but for an interrupted run's."""
OF_TARGETS: Final = ("beyond/", "deviation/")
"""How the keys begin of what is counted in checks of targets alone."""
SIGNALLED: Final = 128
"""From here on an exit code says that a signal ended the run."""


def contradictions(results: Mapping[str, Any]) -> Iterator[str]:
    """What can't be so together, a sentence each."""
    word, code = results["verdict"]["word"], results["verdict"]["exit_code"]
    if (code < SIGNALLED) if word == "INTERRUPTED" else (code != EXITS.get(word)):
        yield f"the verdict is {word}, and its exit code {code} says another one"
    names = [phase["name"] for phase in results["phases"]]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        yield f"phases that stand there twice: {', '.join(twice)}"
    if both := sorted({*names} & {*results["left_out"], *results["not_begun"]}):
        yield f"phases that were run, and are said not to have been: {', '.join(both)}"
    for phase in results["phases"]:
        ended = phase["done"] + len(phase["lost"])
        if ended > phase["planned"]:
            yield f"{phase['name']}: {ended} jobs have ended, and {phase['planned']} were planned"
        if phase["failures"] and not any(one["phase"] == phase["name"] for one in results["failures"]):
            yield f"{phase['name']}: {phase['failures']} failures are counted, and none is listed"
        if phase["name"] == "exploration" and phase["done"] and not results["explorations"]:
            yield "exploration: jobs were done, and no exploration is listed"
    yield from _targets(results)


def unplanned(results: Mapping[str, Any]) -> list[str]:
    """The phases of which no job was planned: they were gone through, and checked nothing."""
    return [phase["name"] for phase in results["phases"] if not phase["planned"]]


def unaccounted(results: Mapping[str, Any], whole: Sequence[str]) -> list[str]:
    """Those of the phases `whole` that the results have not, and of which they don't say why."""
    told = {phase["name"] for phase in results["phases"]} | {*results["left_out"], *results["not_begun"]}
    return [name for name in whole if name not in told]


def explorations(results: Mapping[str, Any], word: str) -> Iterator[Mapping[str, Any]]:
    """The explorations of which they themselves, or one of their properties, say `word`.

    Whatever is no verdict that is known counts as inconclusive.
    """
    for one in results["explorations"]:
        said = [one.get("verdict"), *(each.get("verdict") for each in properties_of(one))]
        if word in {_read(verdict) for verdict in said}:
            yield one


def properties_of(exploration: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    listed = exploration.get("properties")
    return [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []


def comes_to(results: Mapping[str, Any]) -> str:
    """The verdict that the results' parts come to, by the rules of the run's own (`holdtrue.verdict`)."""
    phases = results["phases"]
    if results["interrupted"]:
        return "INTERRUPTED"
    if results["failures"] or any(explorations(results, "violated")):
        return "VIOLATED"
    if any(phase["lost"] or phase["given_up"] for phase in phases):
        return "HARNESS FAILED"
    short = any(phase["out_of_time"] or phase["below_floor"] or not phase["planned"] for phase in phases)
    if short or results["not_begun"] or any(explorations(results, "inconclusive")):
        return "INCONCLUSIVE"
    return "PASSED"


def _targets(results: Mapping[str, Any]) -> Iterator[str]:
    told = targets_told(results)
    commands = list(dict.fromkeys(str(one["command"]) for one in told))
    if len(commands) > 1:
        yield f"its jobs tell of different targets: {', '.join(map(repr, commands[:3]))}"
    elif any(one["policy"] != told[0]["policy"] for one in told):
        yield f"its jobs tell of different deviations of the target {commands[0]!r}"
    silent = [phase["name"] for phase in results["phases"] if phase["done"] and not _tells(phase)]
    if told and silent:
        yield f"jobs of other phases tell of a target, and those of {', '.join(silent)} of none"
    elif not told and any(key.startswith(OF_TARGETS) for one in results["phases"] for key in one["counts"]):
        yield "it counts what only a check of a target does, and no job tells of one"
    typed = typed_target(results)
    if commands and typed is not None and typed not in commands:
        yield f"the command line names the target {typed!r}, and the jobs tell of {commands[0]!r}"


def _tells(phase: Mapping[str, Any]) -> bool:
    return any(targets_told({"phases": [phase]}))


def _read(verdict: Any) -> str:
    if verdict is None:  # parts alone were told, by the jobs that toured a space
        return ""
    return verdict if verdict in ("holds", "violated") else "inconclusive"
