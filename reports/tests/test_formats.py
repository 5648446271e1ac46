"""What each format looks like for a passed, a violated, an inconclusive run: compared with golden files."""

import pytest

from reports import itf, junit, markdown, sarif
from reports.canonical import clean
from reports.failures import render_failures
from reports.summary import render_summary, verdict_line
from reports.tests.examples import EXAMPLES, Example
from reports.tests.golden import same_as_golden

RUNS = ("passed", "violated", "inconclusive")


def example(name: str) -> Example:
    found = EXAMPLES[name]
    return Example(clean(found.results), found.traces)


@pytest.mark.parametrize("name", RUNS)
def test_the_terminals_text(name: str) -> None:
    run = example(name)
    failures = render_failures(run.results["failures"], run.traces, run.results)
    same_as_golden(f"run-{name}", [*render_summary(run.results), *failures, verdict_line(run.results)])


@pytest.mark.parametrize("name", RUNS)
def test_markdown(name: str) -> None:
    run = example(name)
    same_as_golden(f"{name}.md", markdown.render(run.results, run.traces).splitlines())


@pytest.mark.parametrize("name", RUNS)
def test_junit(name: str) -> None:
    run = example(name)
    same_as_golden(f"{name}.junit", junit.render(run.results, run.traces).splitlines())


@pytest.mark.parametrize("name", RUNS)
def test_sarif(name: str) -> None:
    run = example(name)
    same_as_golden(f"{name}.sarif", sarif.render(run.results, run.traces).splitlines())


def test_itf() -> None:
    for name, trace in example("violated").traces.items():
        same_as_golden(f"{name.rpartition('/')[2]}.itf", itf.render(trace).splitlines())


def test_a_run_of_a_thousand_failures_stays_readable() -> None:
    from reports.tests.examples import many

    run = many(1000)
    results = clean(run.results)
    assert len(markdown.render(results, run.traces).encode()) < markdown.MOST + 200
    assert len(render_failures(results["failures"], run.traces, results)) < 250
    text = junit.render(results, run.traces)
    assert len(text) < 200_000
    assert "(the worst of 333)" in text


def test_markdown_that_would_be_too_long_is_cut_and_says_so() -> None:
    run = example("inconclusive")
    long = {"runner": "r" * 300, "params": {}, "why": "died", "told": "x", "details": ""}
    phases = [
        {**phase, "name": f"{number}-{'n' * 200}", "lost": [long]}
        for number in range(900)
        for phase in run.results["phases"][:1]
    ]
    text = markdown.render({**run.results, "phases": phases}, {})
    assert len(text.encode()) < markdown.MOST + 200
    assert text.endswith("*Cut here: see audit.html in the run's folder.*\n")


def test_markdown_tells_of_the_target() -> None:
    run = example("passed")
    told = {"command": "run {directory}", "policy": {"code": [], "missing": [], "field": []}}
    counts = {"beyond/`kill`": 3}
    phases = [{**run.results["phases"][0], "counts": counts, "details": {"target": [told]}}]
    text = markdown.render({**run.results, "phases": phases}, {})
    assert "run {directory}" in text.partition("### The target")[2]
    assert r"- Out of the target's reach: \`kill\` \(left out 3 times\)." in text
