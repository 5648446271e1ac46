"""All files of a large run are rendered in time, and stay of a size that a browser takes."""

import time

from holdtrue.rendering import FORMS, PER_TRACE, of_traces, rendered
from reports.canonical import clean
from reports.tests.examples import many

SECONDS = 5.0
"""Processor time, since other tests keep the cores busy."""


def test_a_run_of_a_thousand_traces_is_rendered_in_5_seconds_and_its_page_has_less_than_5_mb() -> None:
    run = many(1000)
    results = clean(run.results)
    started = time.process_time()
    made = {form: rendered(form, results, run.traces) for form in (*FORMS, "text", "json")}
    per_trace = {form: dict(of_traces(form, results, run.traces)) for form in PER_TRACE}
    assert time.process_time() - started <= SECONDS
    assert all(made.values())
    assert len(made["html"]) < 5_000_000
    assert [len(files) for files in per_trace.values()] == [1000, 1000]
