"""Reading `results.json`: what a renderer gets is whole, or the error says what is wrong with it.

The published schema is `results-2.schema.json`; whatever `parse` returns satisfies it. A file of version 1 is
lifted: what that version did not record is left empty and nothing is made up. Other versions are refused.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from reports.shape import faults

SCHEMA_VERSION = 2
SHOWN = 3
NOT_RECORDED = "not recorded"


class ResultsError(ValueError):
    """Results that can't be read. The message says where, why, and what to do."""


@cache
def schema() -> Mapping[str, Any]:
    """The published JSON Schema (draft 2020-12)."""
    path = Path(__file__).with_name("results-2.schema.json")
    found: Mapping[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def parse(data: Any) -> dict[str, Any]:
    """The results that `data` (parsed JSON) holds, in today's form. ResultsError if there are none."""
    if not isinstance(data, dict) or "phases" not in data or "verdict" not in data:
        raise ResultsError("this is no results.json of a run")
    version = data.get("schema_version")
    if version == 1 and not isinstance(version, bool):
        data = _lifted(data)
    elif version != SCHEMA_VERSION or isinstance(version, bool):
        raise ResultsError(
            f"schema_version is {version!r}, and this version reads {SCHEMA_VERSION} and 1; "
            "use the version of holdtrue that wrote it"
        )
    found = [fault for _, fault in zip(range(SHOWN + 1), faults(data, schema()), strict=False)]
    if found:
        more = ", and more" if len(found) > SHOWN else ""
        raise ResultsError(f"it was damaged or edited: {'; '.join(found[:SHOWN])}{more}")
    parsed: dict[str, Any] = data
    return parsed


def _lifted(old: dict[str, Any]) -> dict[str, Any]:
    """Version 1 as version 2. A part of the wrong kind stays as it is: the schema will name it."""
    environment = old.get("environment")
    told = dict(environment) if isinstance(environment, dict) else {}
    packages = {name: told[name] for name in ("attrs", "cattrs", "hypothesis", "networkx") if name in told}
    code: dict[str, Any] = {
        "holdtrue": str(told.get("holdtrue", NOT_RECORDED)),
        "commit": None,
        "dirty": None,
        "source_sha256": "0" * 64,
        "lock_sha256": None,
    }
    here: dict[str, Any] = {
        **dict.fromkeys(("run", "folder", "machine", "filesystem"), NOT_RECORDED),
        "invocation": "holdtrue",
        "command": [],
        "workers": told.get("workers", 0),
        "cores": 0,
        "python": str(told.get("python", NOT_RECORDED)),
        "system": str(told.get("system", NOT_RECORDED)),
        "packages": packages,
        "previous": None,
    }
    empty: dict[str, Any] = {
        name: [] for name in ("properties", "explorations", "suppressions", "flakes", "skips")
    }
    return {
        **old,
        **empty,
        "schema_version": SCHEMA_VERSION,
        "verdict": _verdict(old),
        "detection": None,
        "code": code,
        "environment": here,
        "phases": [_with(phase, {"details": {}}) for phase in _items(old["phases"])],
        "failures": [_failure(one) for one in _items(old.get("failures"))],
    }


def _verdict(old: Mapping[str, Any]) -> Any:
    """Version 1's line told the seconds, too."""
    verdict, times = old["verdict"], old.get("times")
    seconds = times.get("seconds") if isinstance(times, dict) else None
    if not isinstance(verdict, dict) or not isinstance(seconds, int | float):
        return verdict
    return {**verdict, "scope": "", "line": str(verdict.get("line")).replace(f", {seconds:.1f} s", "", 1)}


def _failure(old: Any) -> Any:
    if not isinstance(old, dict):
        return old
    kept = {key: value for key, value in old.items() if key != "reproduce"}
    new = {"id": "0" * 16, "system": NOT_RECORDED, "property": "", "sentence": "", "source": ""}
    return {**new, "kept": True, "itf": None, "evidence": None, "repro": None, **kept}


def _with(value: Any, more: Mapping[str, Any]) -> Any:
    return {**value, **more} if isinstance(value, dict) else value


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
