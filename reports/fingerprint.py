"""What kind of failure one is, as a short id that is the same in another run, on another machine.

Two failures of one kind break the same clause in the same way; their stories may differ in everything else.
A difference is told by what differed and in which operation, a kill by the situation and the points, a race
by its name. It is no identity of the cause: one bug may show in several kinds, two bugs in one.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

from reports.canonical import canonical, clean

DIGITS = 16


def fingerprint(clause: str, title: str, trace: Any) -> str:
    """16 hexadecimal digits for the failure with that clause, title and trace (a trace's JSON)."""
    parts = [clause, *_kind(trace, title)]
    return hashlib.sha256(canonical(clean(parts))).hexdigest()[:DIGITS]


def _kind(trace: Any, title: str) -> list[Any]:
    if not isinstance(trace, Mapping):
        return [title]
    system = trace.get("system", "coordinator")
    if trace.get("kind") == "kill":
        kills = trace.get("kills")
        points = [one.get("point") if isinstance(one, Mapping) else None for one in _list(kills)]
        fault = trace.get("fault")
        failing = fault.get("point") if isinstance(fault, Mapping) else None
        return [system, trace.get("trial"), trace.get("name"), points, failing]
    found = trace.get("divergence")
    if isinstance(found, Mapping):
        return [system, found.get("kind"), found.get("name")]
    return [system, title]


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []
