"""What a trace was recorded with, in one line: seed, profile, versions. "" if it says nothing of that.

All of it is for people; a replay depends on none of it.
"""

from collections.abc import Mapping
from typing import Any

from reports.plain import safe


def recorded_words(trace: Mapping[str, Any]) -> str:
    """E.g. `recorded by: quick, seed 0; holdtrue 0.1.0, python 3.13.5, hypothesis 6.170.17`."""
    profile, seed = trace.get("profile"), trace.get("seed")
    run = [safe(profile, 40)] if profile is not None else []
    run += [f"seed {safe(seed, 40)}"] if seed is not None else []
    versions = trace.get("versions")
    known = (
        sorted(versions.items(), key=lambda one: one[0] != "holdtrue")
        if isinstance(versions, Mapping)
        else []
    )
    told = [f"{safe(name, 40)} {safe(version, 40)}" for name, version in known[:8]]
    parts = [", ".join(part) for part in (run, told) if part]
    return f"recorded by: {'; '.join(parts)}" if parts else ""
