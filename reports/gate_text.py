"""A gate's decision for people: plain text of 80 columns, Markdown, and annotations of GitHub Actions.

Whatever stands in a run is shown harmlessly in each: no control characters on a terminal, no markup in
Markdown, no commands to the runner. Annotations are escaped as the runner decodes them, worst first, and no
more than it shows.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from reports import commands
from reports.gate import Decision, Reason
from reports.markdown import escape
from reports.plain import paragraph, safe
from reports.targets import reservations, target_of

MOST_REASONS: Final = 12
MOST_ANNOTATIONS: Final = 10
"""The runner shows ten of each level and step."""
LONGEST: Final = 600
MARKS: Final = {"ACCEPTED": "✅", "REFUSED": "❌", "UNDECIDED": "⚠️"}
_DATA: Final = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY: Final = {**_DATA, ":": "%3A", ",": "%2C"}


def render_decision(
    decision: Decision, results: Mapping[str, Any], *, run: str, policy: str, older: str
) -> list[str]:
    """The decision on the run in the folder `run`, as lines; the last one is the decision in a word.

    `policy` and `older` are the files that it rests on, "" for none.
    """
    lines = [
        f"run      {safe(run, 4096)}",
        f"         {safe(_scope(results), 300)}",
        f"policy   {safe(policy, 4096) if policy else 'none: the verdict of the run itself decides'}",
    ]
    if (target := target_of(results)) is not None:
        lines += paragraph(safe(target, LONGEST), first="target   ", then=" " * 9)
        said = reservations(results)
        lines += paragraph(said, first=" " * 9, then=" " * 9) if said else []
    lines += [f"against  {safe(older, 4096)}"] if older else []
    for title, items in _parts(decision):
        lines += ["", title, ""]
        for item in items[:MOST_REASONS]:
            lines += paragraph(safe(item, LONGEST), first="- ")
        lines += _more(len(items))
    return [*lines, "", line(decision, run)]


def line(decision: Decision, run: str) -> str:
    """The decision as one line, which begins with its word."""
    count = len(decision.reasons)
    why = f": {count} reason{'' if count == 1 else 's'}" if count else ""
    suppressed = ", with what is suppressed" if decision.suppressed and not count else ""
    return f"{decision.word}  {safe(run, 4096)}{why}{suppressed}"


def markdown(decision: Decision, results: Mapping[str, Any]) -> str:
    """The decision as the head of a step summary."""
    told = [f"## {MARKS[decision.word]} Gate: {decision.word.lower()}", "", escape(_scope(results)), ""]
    for title, items in _parts(decision):
        told += [f"**{title}**", "", *(f"- {escape(item, LONGEST)}" for item in items[:MOST_REASONS])]
        told += [*_more(len(items)), ""]
    return "\n".join([*told, ""])


def annotations(decision: Decision, results: Mapping[str, Any]) -> list[str]:
    """Commands to the runner of GitHub Actions, one a line: what is violated, then what was not checked."""
    made: list[str] = []
    order = sorted(decision.reasons, key=lambda reason: reason.kind != "violated")
    for reason in order:
        level = "error" if reason.kind == "violated" else "warning"
        title = "holdtrue: violated" if reason.kind == "violated" else "holdtrue: not checked enough"
        made.append(_command(level, _message(reason, results), title=title, file=_file(reason, results)))
    made += [_command("notice", note, title="holdtrue: policy") for note in decision.notes]
    if len(made) <= MOST_ANNOTATIONS:
        return made
    hidden = len(made) - MOST_ANNOTATIONS + 1
    level = "error" if decision.word == "REFUSED" else "warning"
    more = _command(level, f"and {hidden} more: see the step's summary", title="holdtrue: more")
    return [*made[: MOST_ANNOTATIONS - 1], more]


def _parts(decision: Decision) -> Iterator[tuple[str, Sequence[str]]]:
    violated = [reason.sentence for reason in decision.reasons if reason.kind == "violated"]
    unchecked = [reason.sentence for reason in decision.reasons if reason.kind == "unchecked"]
    for title, items in (
        ("Violated", violated),
        ("Not checked enough", unchecked),
        ("Suppressed", decision.suppressed),
        ("To be seen to", decision.notes),
        ("Changed since the older run", decision.changed),
    ):
        if items:
            yield title, items


def _scope(results: Mapping[str, Any]) -> str:
    code = results["code"]
    commit = f"commit {code['commit'][:12]}" if code["commit"] else "no commit known"
    changed = ", with changes" if code["dirty"] else ""
    told = f"{results['verdict']['word']}; {results['profile']}, seed {results['seed']}; {commit}{changed}"
    return f"{told}; holdtrue {code['holdtrue']}"


def _message(reason: Reason, results: Mapping[str, Any]) -> str:
    told = [safe(reason.sentence, LONGEST)]
    if reason.failures:
        failure = reason.failures[0]
        told += [safe(failure["sentence"], LONGEST)] if failure["sentence"] else []
        told.append(f"reproduce: {safe(commands.reproduce(results, failure), LONGEST)}")
    return "\n".join(told)


def _file(reason: Reason, results: Mapping[str, Any]) -> str:
    """The trace that shows it, so that the annotation says where to look; "" if there is none."""
    names = [failure["trace"] for failure in reason.failures if failure["trace"]]
    return commands.path(results, names[0]) if names else ""


def _command(level: str, message: str, **properties: str) -> str:
    told = ",".join(
        f"{name}={_escaped(safe(value, LONGEST), _PROPERTY)}" for name, value in properties.items() if value
    )
    lines = "\n".join(safe(each, 2 * LONGEST) for each in message.split("\n"))
    return f"::{level} {told}::{_escaped(lines, _DATA)}"


def _escaped(text: str, escapes: Mapping[str, str]) -> str:
    return "".join(escapes.get(character, character) for character in text)


def _more(count: int) -> list[str]:
    hidden = count - MOST_REASONS
    return [f"- ... and {hidden} more"] if hidden > 0 else []
