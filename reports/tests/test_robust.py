"""Whatever satisfies the schema is rendered: no results that can be read make a renderer fail."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from reports import attestation, html, junit, markdown, sarif
from reports.failures import render_failures
from reports.results import schema
from reports.shape import faults
from reports.summary import render_summary, verdict_line
from reports.tests.examples import EXAMPLES
from reports.tests.test_results import damaged, results

Renderer = Callable[[Mapping[str, Any], Mapping[str, Any]], object]


def text(run: Mapping[str, Any], traces: Mapping[str, Any]) -> object:
    return [*render_summary(run), *render_failures(run["failures"], traces, run), verdict_line(run)]


RENDERERS: Mapping[str, Renderer] = {
    "text": text,
    "markdown": markdown.render,
    "html": html.render,
    "junit": junit.render,
    "sarif": sarif.render,
    "attestation": attestation.render,
}
PARTS = (
    "verdict",
    "code",
    "phases",
    "failures",
    "properties",
    "explorations",
    "flakes",
    "times",
    "environment",
)


@pytest.mark.parametrize("form", RENDERERS)
@pytest.mark.parametrize("name", ["violated", "inconclusive"])
def test_every_change_that_the_schema_allows_is_rendered(name: str, form: str) -> None:
    base, traces = results(name), EXAMPLES[name].traces
    seen = 0
    for part in PARTS:
        for changed in damaged(base[part]):
            run = {**base, part: changed}
            if next(faults(changed, _of(part)), None) is None:
                RENDERERS[form](run, traces)
                seen += 1
    assert seen > 100


def _of(part: str) -> dict[str, Any]:
    """The schema of one part, with the definitions that it refers to."""
    return {**schema()["properties"][part], "$defs": schema()["$defs"]}


@pytest.mark.parametrize("form", RENDERERS)
def test_traces_of_any_shape_are_rendered(form: str) -> None:
    base = results("violated")
    names = [failure["trace"] for failure in base["failures"]]
    shapes: tuple[Any, ...] = (None, 1, "x", [], {}, {"kind": "kill"}, {"steps": [1, None, {"action": 3}]})
    for shape in shapes:
        assert RENDERERS[form](base, dict.fromkeys(names, shape))
