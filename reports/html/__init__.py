"""`audit.html`: a run for whoever has to judge it, in one file.

`render(results, traces)` is all that others need; see `reports.html.page`.
"""

from collections.abc import Mapping
from typing import Any


def render(results: Mapping[str, Any], traces: Mapping[str, Any]) -> str:
    """The page of a run: `results` as in `results.json`, `traces` by their file's name within the run."""
    from reports.html.page import render as rendered

    return rendered(results, traces)
