"""What a check found, on a terminal: each kind of failure with its story, and how to have it again.

80 columns of plain text, of bounded length: one of several that show the same, at most a few kinds, the worst
first, and how many are hidden. The last line of each is the command that reproduces it.
"""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from reports.commands import path, python, reproduce
from reports.plain import COLUMNS, paragraph, safe
from reports.story import render_story

SHOWN_FAILURES = 4
_INDENT = " " * 11


def render_failures(
    failures: Sequence[Mapping[str, Any]],
    traces: Mapping[str, Any],
    results: Mapping[str, Any],
) -> list[str]:
    """The failures (as in `results.json`, worst first), each with its story if `traces` has its file.

    Of several that break the same clause in the same way the first is shown, and at most a few in all: one of
    each clause before a second one of any.
    """
    if not failures:
        return []
    kinds: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for failure in _each_phase_first(failures):
        kinds.setdefault((failure["clause"], failure["title"]), []).append(failure)
    lines = [f"Found: {_many(len(failures), 'counterexample')}, {_many(len(kinds), 'kind')}", ""]
    of_clause = {clause: (clause, title) for clause, title in reversed(kinds)}
    order = sorted(kinds, key=lambda kind: of_clause[kind[0]] != kind)  # the worst of each clause first
    for kind in order[:SHOWN_FAILURES]:
        lines += _failure(kinds[kind], traces, results)
    hidden = len(kinds) - SHOWN_FAILURES
    if hidden > 0:
        where = safe(path(results, "audit.html"), 4000)
        lines += [f"... and {_many(hidden, 'more kind')}, not shown here: see", f"    {where}", ""]
    return lines


def _failure(
    same: Sequence[Mapping[str, Any]], traces: Mapping[str, Any], results: Mapping[str, Any]
) -> list[str]:
    """One kind of failure, by the first that shows it."""
    failure = same[0]
    named, clause = failure["property"], failure["clause"]
    lines = ["=" * COLUMNS]
    if failure["sentence"]:
        lines += _told("violated", f"{named}: {failure['sentence']}")
    if clause != named or not failure["sentence"]:
        lines += _told("clause" if failure["sentence"] else "violated", clause)
    lines += _told("seen", failure["title"], 240)
    if len(same) > 1:
        lines.append(f"{_INDENT}(the shortest of {len(same)} that show this)")
    trace = traces.get(failure["trace"])
    lines += ["", *render_story(trace), ""] if trace is not None else [""]
    lines += _told("run", _run(results))
    lines += _told("with", _versions(results))
    if failure["repro"]:
        command = f"{python(results)} -m pytest {shlex.quote(path(results, failure['repro']))}"
        lines.append(f"as a test  {safe(command, 4000)}")
    return [*lines, f"reproduce:  {safe(reproduce(results, failure), 4000)}", ""]


def _run(results: Mapping[str, Any]) -> str:
    code = results["code"]
    commit = f"commit {code['commit'][:12]}" if code["commit"] else "no commit known"
    changed = ", with changes" if code["dirty"] else ""
    return f"{results['profile']}, seed {results['seed']}; {commit}{changed}"


def _versions(results: Mapping[str, Any]) -> str:
    here = results["environment"]
    return f"holdtrue {results['code']['holdtrue']}, Python {here['python']}, {here['system']}"


def _told(label: str, text: str, limit: int = 400) -> list[str]:
    return paragraph(safe(text, limit), first=f"{label:<{len(_INDENT)}}", then=_INDENT)


def _each_phase_first(failures: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The worst of each phase, then the others, so that no phase hides all of another's."""
    worst = {failure["phase"]: failure for failure in reversed(failures)}
    first = [failure for failure in failures if failure is worst[failure["phase"]]]
    return [*first, *(failure for failure in failures if failure is not worst[failure["phase"]])]


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
