"""The files that a run's results are rendered as, each by a pure function of results and traces.

The same functions make the files of a run's folder and those that `holdtrue report` makes of an older one.
Each is imported when it is asked for.
"""

import importlib
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import frozen

from reports.canonical import canonical
from reports.targets import aims


@frozen
class Form:
    """A format of one file: its name in a run's folder, and where its renderer is."""

    file: str
    renderer: str


FORMS: Mapping[str, Form] = {
    "html": Form("audit.html", "reports.html:render"),
    "junit": Form("junit.xml", "reports.junit:render"),
    "sarif": Form("results.sarif", "reports.sarif:render"),
    "markdown": Form("summary.md", "reports.markdown:render"),
    "attestation": Form("attestation.json", "reports.attestation:render"),
}
"""Formats that a run's folder has one file of, by the name that `holdtrue report --format` knows."""

PER_TRACE = ("itf", "repro")
"""Formats of one file for each trace."""

OTHERS = ("text", "json")
"""Formats that are only printed: the terminal's summary, and results.json in today's version."""


def rendered(form: str, results: Mapping[str, Any], traces: Mapping[str, Any]) -> bytes:
    """The run in one of `FORMS` or `OTHERS`."""
    if form == "json":
        return canonical(results)
    if form == "text":
        return "".join(f"{line}\n" for line in text(results, traces)).encode("utf-8")
    made: str = _function(FORMS[form].renderer)(results, traces)
    return made.encode("utf-8")


def of_traces(
    form: str, results: Mapping[str, Any], traces: Mapping[str, Any]
) -> Iterator[tuple[str, bytes]]:
    """One of `PER_TRACE`: a file's name and content, for each trace that has such a form."""
    for failure in results["failures"]:
        name = failure["trace"]
        if name in traces:
            made = of_trace(form, results, name, traces[name])
            if made is not None:
                yield made


def of_trace(form: str, results: Mapping[str, Any], name: str, trace: Any) -> tuple[str, bytes] | None:
    """What a trace is in one of `PER_TRACE`: its file's name in the run's folder, and content."""
    if form == "itf":
        made: str = _function("reports.itf:render")(trace)
        file = f"{name.removesuffix('.json')}.itf.json"
    elif aims(results):  # a test of our own store would say nothing of a target
        return None
    else:
        made = _function("reports.repro:render")(trace, results)
        stem = name.rpartition("/")[2].removesuffix(".json").replace("-", "_")
        file = f"repro/test_{stem}.py"
    return (file, made.encode("utf-8")) if made else None


def text(results: Mapping[str, Any], traces: Mapping[str, Any]) -> list[str]:
    """What `check` prints at the end: summary, failures, and the verdict as the last line."""
    from reports.failures import render_failures
    from reports.summary import render_summary, verdict_line

    failures = render_failures(results["failures"], traces, results)
    return [*render_summary(results), *failures, verdict_line(results)]


def _function(where: str) -> Any:
    module, _, name = where.partition(":")
    return getattr(importlib.import_module(module), name)
