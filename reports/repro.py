"""A failure as a test of its own: the text of a pytest file that fails as the check did, until it is mended.

The file holds the whole trace, and needs nothing but holdtrue's packages: no run folder, no database, no
random generator. It is ASCII. Whatever stands in a trace is data there: the trace is JSON within string
literals that Python itself quoted, and what is told in comments can't end its line or declare anything.

A race is only probable to fail again; its file says so.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from reports.plain import safe, wrap
from reports.targets import aims

WIDTH = 96
LONGEST_TOLD = 600
DEEPEST = 8
"""Deeper than this nothing is set apart: a trace may be nested as deeply as an attacker likes."""
_HEAD = """\
# A failure that holdtrue found, as a test of its own. It passes once the store is mended:
#     python -m pytest FILE
# Needs nothing but the packages of holdtrue. Made by holdtrue; the trace below is the whole of it.
"""
_BODY = """\
import json

from holdtrue.replay import check_trace

TRACE = json.loads(
{trace}
)


def {name}() -> None:
    check_trace(TRACE)
"""


def render(trace: Any, results: Mapping[str, Any]) -> str:
    """The file's text for `trace` (parsed JSON), found by the run of `results`.

    "" if it is no trace, or one of another store than this project's: a test would try ours.
    """
    if "environment" in results and aims(results):
        return ""
    if not isinstance(trace, Mapping) or not (isinstance(trace.get("steps"), list) or "kind" in trace):
        return ""
    text = "\n".join(f"    {line!r}" for line in _lines(trace))
    told = "".join(f"#\n{''.join(_comment(line))}" for line in _told(trace, results))
    name = _name(trace)
    return _HEAD + told + "\n" + _BODY.format(trace=text, name=name)


def _told(trace: Mapping[str, Any], results: Mapping[str, Any]) -> Iterator[str]:
    """What a reader should know of the failure, a paragraph at a time."""
    violation, divergence = trace.get("violation"), trace.get("divergence")
    clause = trace.get("clause")
    if clause:
        yield f"violated: {clause}"
    if isinstance(violation, Mapping):
        yield f"seen: {violation.get('title')}"
    elif isinstance(divergence, Mapping):
        index = divergence.get("index")
        step = f"step {index + 1}" if isinstance(index, int) else "a step"
        yield f"seen: {step}, {divergence.get('name')}: {divergence.get('kind')} differs"
    if trace.get("trial") == "race":
        yield "This is a race of real processes: it may pass by luck, so run it several times."
    code = results.get("code")
    known = code if isinstance(code, Mapping) else {}
    commit = f", commit {known.get('commit')}" if known.get("commit") else ""
    changed = " with changes" if known.get("dirty") else ""
    yield (
        f"found by: {results.get('profile')}, seed {results.get('seed')}; "
        f"holdtrue {known.get('holdtrue')}{commit}{changed}"
    )


def _comment(text: str) -> Iterator[str]:
    """`text` as comment lines. None of them is among the file's first two, where a comment could declare an
    encoding."""
    shown = safe(text, LONGEST_TOLD).encode("ascii", "backslashreplace").decode("ascii")
    for line in wrap(shown, WIDTH):
        yield f"# {line}".rstrip() + "\n"


def _lines(value: Any, lead: str = "", tail: str = "", depth: int = 0) -> Iterator[str]:
    """JSON of `value` in pieces that fit on a line, for a reader's sake; put together they are its text."""
    text = lead + json.dumps(value, ensure_ascii=True) + tail
    if len(text) <= WIDTH or depth == DEEPEST or not value or not isinstance(value, dict | list):
        yield from (text[at : at + WIDTH] for at in range(0, len(text), WIDTH))
        return
    named = isinstance(value, dict)
    yield lead + ("{" if named else "[")
    keys = [f"{json.dumps(key)}: " for key in value] if isinstance(value, dict) else [""] * len(value)
    items = list(zip(keys, value.values() if isinstance(value, dict) else value, strict=True))
    for number, (name, item) in enumerate(items):
        yield from _lines(item, " " * (depth + 1) + name, "," if number + 1 < len(items) else "", depth + 1)
    yield " " * depth + ("}" if named else "]") + tail


def _name(trace: Mapping[str, Any]) -> str:
    """A function's name that says which trace it is."""
    words = re.sub(r"[^a-z0-9]+", "_", str(trace.get("name", "")).lower()).strip("_")[:60]
    return f"test_{words or 'trace'}"
